# The commands of the project. `make help` lists them.

CARGO ?= cargo
GROVE = $(CARGO) run --quiet --package grove --

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: validate
validate: ## Check the samples with the rules of admission
	$(GROVE) validate -f samples

.PHONY: test
test: ## Run every test that needs no other software than Rust
	$(CARGO) test --workspace --locked

SEEDS ?= 10000

# Most of the operator's code is generated in this package, which takes minutes at the best level: worth it for many seeds, not
# for one that is looked at.
SIM_BUILD = $(if $(SIM),,--config profile.sim.package.grove-simulation.opt-level=3)

# One thread for each core; a seed that fails is cut down, printed and ends it with code 1.
.PHONY: sim
sim: ## Simulate the operator with faults, SEEDS=100000 times; again one of them: SIM="--seed 7 -v"
	@$(CARGO) run --quiet --locked --profile sim $(SIM_BUILD) --package grove-simulation -- $(or $(SIM),--seeds 0..$(SEEDS))

# In a copy of the sources under target/guards; nothing is changed here.
.PHONY: guards
guards: ## Take away each guard against a known bug and see its test fail: ONLY=updates (docs/guards.md)
	@$(CARGO) run --quiet --package xtask --locked -- guards $(ONLY)

.PHONY: guards-page
guards-page: ## Write the table of docs/guards.md from xtask/guards
	@$(CARGO) run --quiet --package xtask --locked -- guard-page

.PHONY: lint
lint: ## Format, clippy, documentation, dependency directions, licences, generated files, table of guards
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) run --quiet --package xtask --locked -- tidy
	$(GROVE) crds --check crds

.PHONY: crds
crds: ## Write the CustomResourceDefinitions to crds/
	$(GROVE) crds --out crds

.PHONY: manifests
manifests: ## Write what `make test` expects of `grove manifests`: its default output, and the table in docs/rights.md
	$(GROVE) manifests --no-crds > crates/grove/tests/manifests/default.yaml
	@table=$$($(GROVE) manifests --explain-rights) && text=$$(sed '/^| part /,$$d' docs/rights.md) && \
		printf '%s\n\n%s\n' "$$text" "$$table" > docs/rights.md

.PHONY: capabilities
capabilities: ## Write what each scheduler can do to docs/backends/capabilities.md
	@table=$$($(GROVE) backends --offline) && text=$$(sed '/^<!-- All below/q' docs/backends/capabilities.md) && \
		printf '%s\n\n%s\n' "$$text" "$$table" > docs/backends/capabilities.md

.PHONY: compat
compat: ## Hold us against other projects' manifests and CRDs: make compat CORPUS=DIR
	@test -d "$(CORPUS)/grove/crds" || { echo "give the folder with the other projects' files: make compat CORPUS=DIR"; exit 2; }
	CORPUS="$(abspath $(CORPUS))" $(CARGO) test --package grove-api --features compat --test compat --locked
	CORPUS="$(abspath $(CORPUS))" $(CARGO) test --package grove-plan --features compat --test compat --locked
	CORPUS="$(abspath $(CORPUS))" $(CARGO) test --package grove-scheduler --features compat --test compat --locked
	@if command -v go >/dev/null; then $(MAKE) --no-print-directory operator && \
		CORPUS="$(abspath $(CORPUS))" $(E2E) run --compat --schedulers kube; \
	else echo "Go is missing: the samples were not sent to a real API server"; fi

# Static, so that its image needs nothing else.
.PHONY: initc
initc: ## Build grove-initc as it is shipped: target/initc/grove-initc
	$(CARGO) rustc --locked --package grove-initc --profile initc --bin grove-initc -- -C target-feature=+crt-static
	@ls -l target/initc/grove-initc

.PHONY: bench-admission
bench-admission: ## Measure how long an admission takes: 5,000 reviews of a set with 60 roles over TLS
	@$(CARGO) bench --quiet --locked --package grove-operator --bench admission

# ---- on a real control plane; needs Go, see e2e/cluster/README.md ----

E2E = $(CARGO) run --quiet --locked --package grove-e2e --
SCHEDULERS ?= kube,kai,volcano
BACKENDS ?= plain
ONLY ?=

# Go is asked for first: it is what may be missing.
.PHONY: up
up: ## Show it all: a control plane, the operator, a sample on simulated GPU racks. Ctrl-C ends it
	@SCHEDULERS=kube e2e/cluster/build >/dev/null
	@$(CARGO) build --locked --package grove --package grove-initc --package grove-e2e
	@$(E2E) up $(UP)

# The harness starts the program that lies beside it.
.PHONY: operator
operator:
	@$(CARGO) build --quiet --locked --package grove --package grove-initc

.PHONY: cluster-bin
cluster-bin: ## Build the control plane and schedulers that are missing: SCHEDULERS=kube skips KAI and Volcano
	@SCHEDULERS="$(SCHEDULERS)" e2e/cluster/build

.PHONY: cluster-up
cluster-up: ## Start a real Kubernetes with simulated GPU racks: UP="--scheduler kai --racks 4"
	@$(E2E) cluster --detach $(UP)

.PHONY: cluster-down
cluster-down: ## End it
	@$(E2E) down

.PHONY: bench-cluster
bench-cluster: ## Measure the operator and a bare loop with 1,000 pods on a real control plane: BACKENDS=plain,kube,kai,volcano
	@$(CARGO) build --quiet --locked --release --package grove
	@$(CARGO) run --quiet --locked --release --package grove-e2e -- bench --backends "$(BACKENDS)"

.PHONY: upgrade
upgrade: operator ## Exchange the operator of another commit for this one and back under 1,000 pods: FROM=COMMIT
	@test -n "$(FROM)" || { echo "say which commit was there before: make upgrade FROM=COMMIT"; exit 2; }
	@$(E2E) upgrade --from "$(FROM)" $(UPGRADE)

.PHONY: e2e
e2e: operator ## Run the scenarios on a real control plane: ONLY=text, SCHEDULERS=kai
	@$(E2E) run --only "$(ONLY)" --schedulers "$(SCHEDULERS)"

.PHONY: e2e-full
e2e-full: operator ## Likewise, the whole matrix of features
	@$(E2E) run --full --only "$(ONLY)" --schedulers "$(SCHEDULERS)"
