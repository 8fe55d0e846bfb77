# The commands of the project. `make help` lists them.

CARGO ?= cargo
GROVE = $(CARGO) run --quiet --package grove --

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@grep -E '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: validate
validate: ## Check the samples with the rules of admission
	$(GROVE) validate -f samples

.PHONY: test
test: ## Run every test that needs no other software than Rust
	$(CARGO) test --workspace --locked

.PHONY: lint
lint: ## Format, clippy, documentation, dependency directions, licences, generated files
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) run --quiet --package xtask --locked -- tidy
	$(GROVE) crds --check crds

.PHONY: crds
crds: ## Write the CustomResourceDefinitions to crds/
	$(GROVE) crds --out crds

.PHONY: compat
compat: ## Hold us against other projects' manifests and CRDs: make compat CORPUS=DIR
	@test -d "$(CORPUS)/grove/crds" || { echo "give the folder with the other projects' files: make compat CORPUS=DIR"; exit 2; }
	CORPUS="$(abspath $(CORPUS))" $(CARGO) test --package grove-api --features compat --test compat --locked
