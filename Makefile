# `make` explains its targets. Everything runs in an environment that is made at first use, outside the checkout
# (tests/tools/environment.py says where); PYTHON=/path/to/python chooses the interpreter.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
RUN := tests/tools/run
PYTEST := $(RUN) python -m pytest
DISTRIBUTION ?=

.PHONY: help
help: ## explain the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do printf '%-22s %s\n' "$$target" "$$text"; done

.PHONY: setup
setup: ## make the development environment (about a minute, once)
	@$(RUN)

.PHONY: demo
demo: ## install a small distribution on a test bed; DISTRIBUTION=<folder or archive> takes a real one
	@$(RUN) python tests/tools/demo.py $(DISTRIBUTION)

.PHONY: test
test: ## everything that must hold before a change lands: unit, lint, integration, molecule
	@$(PYTEST) -m "not soak" $(ARGS)

.PHONY: lint
lint: ## every checker: ruff, mypy, ansible-lint, ansible-test sanity, documentation, changelog, galaxy importer
	@$(PYTEST) tests/quality $(ARGS)

.PHONY: unit
unit: ## unit tests: seconds, no cluster
	@$(PYTEST) tests/unit $(ARGS)

.PHONY: integration
integration: ## tests on a test bed
	@$(PYTEST) -m "not soak" tests/integration $(ARGS)

.PHONY: docs
docs: ## write what is generated of the documentation: the roles' READMEs, the page of all variables
	@$(RUN) python -m tests.tools.reference

.PHONY: molecule
molecule: ## every Molecule scenario on a test bed (molecule/README.md); ARGS="-k component" runs one
	@$(PYTEST) tests/integration/test_molecule.py $(ARGS)

.PHONY: bench
bench: ## the engine and site.yml against upstream's loop (about 20 minutes)
	@$(RUN) python tests/bench/run.py $(ARGS)

.PHONY: bench-planning
bench-planning: ## how long planning takes for each release; 1 when one takes more than 0.3 s
	@$(RUN) python -m tests.bench.planning

.PHONY: release
release: ## draft the record of a new release: RELEASE=<version> TREE=<folder of its tree>
	@$(RUN) python -m tests.tools.release $(RELEASE) $(TREE)

.PHONY: soak
soak: ## long matrices: every Python and ansible-core, every release, kills and variants (hours)
	@tests/tools/soak $(ARGS)

.PHONY: testbed
testbed: ## start a test bed; the last line is its kubeconfig
	@$(RUN) tests/testbed/testbed up

.PHONY: testbed-down
testbed-down: ## stop the test bed
	@$(RUN) tests/testbed/testbed down

.PHONY: lock
lock: ## choose new versions of everything that development installs
	@$(RUN) tests/tools/lock

.PHONY: clean
clean: ## remove what was made for this checkout; the shared cache of environments and binaries stays
	@tests/tools/clean
