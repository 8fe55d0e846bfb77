# The commands of the project. `make help` lists them.

CARGO ?= cargo
export CARGO

# Every development build selects the features of the whole workspace, so that no crate is compiled twice (crates/grove-dev); hence
# programs are built like this and then started, and not by `cargo run --package`.
BUILD = $(CARGO) build --locked --workspace
BIN = $(or $(CARGO_TARGET_DIR),target)/debug
GROVE = $(BIN)/grove
XTASK = $(BIN)/xtask
E2E = $(BIN)/grove-e2e

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: build-grove build-xtask build-e2e
build-grove:
	@$(BUILD) --bin grove
build-xtask:
	@$(BUILD) --bin xtask
# The harness starts the programs that lie beside it.
build-e2e:
	@$(BUILD) --bin grove --bin grove-initc --bin grove-e2e --bin grove-release

# Its own folder in target, so that two checkouts do not get into each other's way.
.PHONY: up
up: build-grove ## Start a simulated cluster with the operator and a sample; Ctrl-C stops it. UP="--topology racks=4,hosts=2,gpus=8"
	@$(GROVE) up --folder target/up $(UP)

.PHONY: down
down: build-grove ## Stop what `make up UP=--detach` started
	@$(GROVE) down --folder target/up

.PHONY: kubectl
kubectl: ## Use a cluster of `grove up` with kubectl, which comes from the Python package index
	@kubectl=$$(e2e/kubectl) && KUBECTL=$$kubectl $(CARGO) test --workspace --locked --test up kubectl -- --ignored

.PHONY: validate
validate: build-grove ## Check the samples with the rules of admission
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
	@$(CARGO) run --locked --profile sim $(SIM_BUILD) --package grove-simulation -- $(or $(SIM),--seeds 0..$(SEEDS))

.PHONY: sim-quick
sim-quick: ## Likewise 500 times with the build of the tests: slower for a seed, and nothing else is compiled
	@$(BUILD) --bin grove-simulation
	@$(BIN)/grove-simulation --seeds 0..$(or $(QUICK_SEEDS),500)

# In a copy of the sources under target/guards; nothing is changed here.
.PHONY: guards
guards: build-xtask ## Take away each guard against a known bug and see its test fail: ONLY=updates (docs/guards.md)
	@$(XTASK) guards $(ONLY)

.PHONY: guards-changed
guards-changed: build-xtask ## Likewise those in files that the last ten commits changed, for four minutes at most
	@$(XTASK) guards --changed 10 --minutes 4

.PHONY: guards-page
guards-page: build-xtask ## Write the table of docs/guards.md from xtask/guards
	@$(XTASK) guard-page

.PHONY: lint
lint: ## Format, clippy, production build, documentation, dependency directions, licences, features, generated files, table of guards, named tests, unsafe code
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
# As images are built: without what only the sandbox needs.
	$(CARGO) check --locked --package grove --no-default-features
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@$(BUILD) --bin xtask --bin grove
	$(XTASK) tidy
	$(GROVE) crds --check crds
	$(GROVE) chart --check charts/grove

.PHONY: crds
crds: build-grove ## Write the CustomResourceDefinitions to crds/
	$(GROVE) crds --out crds

.PHONY: manifests
manifests: build-grove ## Write what `make test` expects of `grove manifests`: its default output, and the table in docs/rights.md
	$(GROVE) manifests --no-crds > crates/grove/tests/manifests/default.yaml
	@table=$$($(GROVE) manifests --explain-rights) && text=$$(sed '/^| part /,$$d' docs/rights.md) && \
		printf '%s\n\n%s\n' "$$text" "$$table" > docs/rights.md

.PHONY: chart
chart: build-grove ## Write what is generated of the Helm chart in charts/grove: templates, schema of values
	$(GROVE) chart --out charts/grove

.PHONY: capabilities
capabilities: build-grove ## Write what each scheduler can do to docs/backends/capabilities.md
	@table=$$($(GROVE) backends --offline) && text=$$(sed '/^<!-- All below/q' docs/backends/capabilities.md) && \
		printf '%s\n\n%s\n' "$$text" "$$table" > docs/backends/capabilities.md

.PHONY: compat
compat: ## Hold us against other projects' manifests and CRDs: make compat CORPUS=DIR
	@test -d "$(CORPUS)/grove/crds" || { echo "give the folder with the other projects' files: make compat CORPUS=DIR"; exit 2; }
	CORPUS="$(abspath $(CORPUS))" $(CARGO) test --workspace --locked --test compat -- --ignored
	@if command -v go >/dev/null; then $(MAKE) --no-print-directory build-e2e && \
		CORPUS="$(abspath $(CORPUS))" $(E2E) run --compat --schedulers kube; \
	else echo "Go is missing: the samples were not sent to a real API server"; fi

# ---- what is shipped, see docs/release.md ----

RELEASE = $(BIN)/grove-release
ARCH ?= $(shell uname -m)
IMAGE ?=
PUSH ?=
RELEASE_FILES = target/release-files

.PHONY: build-release
build-release:
	@$(BUILD) --bin grove-release

.PHONY: image
image: build-release ## Build the images as OCI layouts in target/image: ARCH=arm64, IMAGE=grove-initc, PUSH=registry/name:tag
	@$(RELEASE) image --out target/image --arch "$(ARCH)" $(if $(IMAGE),--image "$(IMAGE)") $(if $(PUSH),--push "$(PUSH)")

.PHONY: initc
initc: ## Build the image of grove-initc alone
	@$(MAKE) --no-print-directory image IMAGE=grove-initc

# Each part puts files into $(RELEASE_FILES); the checksums come after all of them, of whatever is there.
RELEASE_PARTS = release-program release-images release-sbom release-chart release-crds release-changelog

.PHONY: release
release: build-release ## Build all that is shipped in target/release-files: programs, images, bills of materials, chart, CRDs, changelog, checksums
	@rm -rf $(RELEASE_FILES)
	@mkdir -p $(RELEASE_FILES)
	@for part in $(RELEASE_PARTS); do $(MAKE) --no-print-directory $$part || exit 1; done
	@$(RELEASE) sums $(RELEASE_FILES)

.PHONY: $(RELEASE_PARTS)
release-program:
	@$(RELEASE) program --arch "$(ARCH)" --folder $(RELEASE_FILES)
release-images:
	@$(RELEASE) image --out target/image --arch "$(ARCH)" --archive $(RELEASE_FILES)
release-sbom:
	@$(RELEASE) sbom --arch "$(ARCH)" --folder $(RELEASE_FILES)
release-chart:
	@$(RELEASE) chart --folder $(RELEASE_FILES)
release-crds:
	@cat crds/*.yaml > $(RELEASE_FILES)/grove-crds.yaml
release-changelog:
	@$(RELEASE) changelog --folder $(RELEASE_FILES)

.PHONY: release-check
release-check: ## Build all that is shipped from two clones, and compare every byte: GOALS="image IMAGE=grove-initc" for less
	@release/check

.PHONY: bench-admission
bench-admission: ## Measure how long an admission takes: 5,000 reviews of a set with 60 roles over TLS
	@$(CARGO) bench --quiet --locked --package grove-operator --bench admission

# ---- on a real control plane; needs Go or Python to install it, see e2e/cluster/README.md ----

SCHEDULERS ?= kube,kai,volcano
BACKENDS ?= plain
ONLY ?=
RETRY ?= 0
PROMTOOL ?= promtool
RULES = crates/grove/src/commands/manifests/monitoring/prometheus-rules

.PHONY: up-real
up-real: ## Likewise on a real control plane, which is compiled first: UP="--racks 16"
	@SCHEDULERS=kube e2e/cluster/build >/dev/null
	@$(MAKE) --no-print-directory build-e2e
	@$(E2E) up $(UP)

.PHONY: cluster-bin
cluster-bin: ## Build the control plane and schedulers that are missing: SCHEDULERS=kube skips KAI and Volcano
	@SCHEDULERS="$(SCHEDULERS)" e2e/cluster/build

.PHONY: chart-check
chart-check: ## Hold what helm renders of the chart against `grove manifests`; helm is built first, unless HELM names one
	@helm="$(HELM)" && \
		{ [ -n "$$helm" ] || helm=$$(SCHEDULERS=kube TOOLS=helm e2e/cluster/build | sed -n 's/^kubernetes=//p')/helm; } && \
		HELM="$$helm" $(CARGO) test --workspace --locked --test manifests helm -- --ignored

.PHONY: alerts-check
alerts-check: ## Have promtool check the alert rules, and test them: PROMTOOL=FILE where it is not in the PATH
	@command -v "$(PROMTOOL)" >/dev/null || \
		{ echo "promtool is missing: install the package prometheus (apt-get install prometheus), or set PROMTOOL=FILE"; exit 2; }
	@"$(PROMTOOL)" check rules $(RULES).yaml
	@"$(PROMTOOL)" test rules $(RULES).test.yaml

.PHONY: cluster-up
cluster-up: build-e2e ## Start a real Kubernetes with simulated GPU racks: UP="--scheduler kai --racks 4"
	@$(E2E) cluster --detach $(UP)

.PHONY: cluster-down
cluster-down: build-e2e ## End it
	@$(E2E) down

.PHONY: bench-cluster
bench-cluster: ## Measure the operator and a bare loop with 1,000 pods on a real control plane: BACKENDS=plain,kube,kai,volcano
	@$(CARGO) build --locked --release --package grove
	@$(CARGO) run --locked --release --package grove-e2e -- bench --backends "$(BACKENDS)"

.PHONY: upgrade
upgrade: build-e2e ## Exchange the operator of another commit for this one and back under 1,000 pods: FROM=COMMIT
	@test -n "$(FROM)" || { echo "say which commit was there before: make upgrade FROM=COMMIT"; exit 2; }
	@$(E2E) upgrade --from "$(FROM)" $(UPGRADE)

.PHONY: e2e
e2e: build-e2e ## Run the quick scenarios, some of every area, on a real control plane: ONLY=text, SCHEDULERS=kai, RETRY=1
	@$(E2E) run --only "$(ONLY)" --schedulers "$(SCHEDULERS)" --retry "$(RETRY)"

.PHONY: e2e-sandbox
e2e-sandbox: build-e2e ## Run the operator's scenarios on simulated clusters, as `make test` does: ONLY=updates_
	@$(E2E) run --sandbox --clusters 5 --only "$(ONLY)"

.PHONY: e2e-full
e2e-full: build-e2e ## Run all scenarios: the whole matrix of features
	@$(E2E) run --full --record docs/status.md --only "$(ONLY)" --schedulers "$(SCHEDULERS)" --retry "$(RETRY)"
