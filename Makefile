# Everything that is done to this project from a shell. Set up once by stamps inside .venv; needs Python 3.11 or newer.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
BIN := .venv/bin
PRETTIER := PATH="$$PATH:$(BIN)" node instance/node/node_modules/prettier/bin/prettier.cjs
RUN_STAMP := .venv/.run
DEV_STAMP := .venv/.dev
FASTMCP := instance/fastmcp/bin/python
PRISM := instance/prism/node_modules/@stoplight/prism-cli/package.json
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	--no-annotate --python-version 3.11 --custom-compile-command "make lock"

EXTRACT := $(BIN)/pybabel --quiet extract --mapping-file pyproject.toml --project Patchbay --no-location --no-wrap \
	--sort-by-file

IN_MEMORY = TMPDIR=$$(df -Pk /dev/shm 2>/dev/null | awk -v other="$${TMPDIR:-/tmp}" \
	'NR == 2 && $$4 > 3000000 { other = $$6 } END { print other }')
# Kept as bytecode, what tests assert takes six seconds less to read. Plugins that come along with schemathesis stay away.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -p no:schemathesis -p no:hypothesispytest -p no:anyio

# What pytest is asked for a suite: the tests with its marker, in the files that name it. Reading all the others takes 20 s.
SUITE = -m "$(1)" $$(grep -rlw --include='*.py' 'mark\.$(or $(2),$(1))' tests)

.PHONY: run test postgres wheel release installed format check bench bench-processes bench-servers bench-workers bench-growth bench-logs bench-operations steady sizes far shape mutants browser faults faults-side-by-side faults-alone peer schemathesis pictures messages marks facts lock setup setup-dev frontend frontend-tests clean

run: setup
	$(BIN)/patchbay serve

# Thousands of small databases: in memory where the machine has such a folder, since each of their writes is synced, and a
# database of PostgreSQL is a thousand files. Three processes on two cores, because some tests wait for others' processes;
# and none of them reads the suites that have a command of their own.
test: setup-dev
	$(IN_MEMORY) $(PYTEST) -n 3 --dist worksteal $(foreach suite,browser faults peers,--ignore=tests/$(suite))

# The same tests over PostgreSQL, a server of which each of the processes starts: all that do not look at the embedded database
# alone. Three processes on two cores, as above. ONLY="tests/security tests/people" runs some of them.
postgres: setup-dev
	$(IN_MEMORY) PATCHBAY_TEST_DATABASE=postgres $(PYTEST) -n 3 --dist worksteal $(ONLY)

format: setup-dev frontend-tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint --reformat --warn --quiet templates
	$(PRETTIER) --write --log-level warn static/css static/js webapp/service/components/pieces/program

check: setup-dev frontend-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --check templates
	$(PRETTIER) --check static/css static/js webapp/service/components/pieces/program
	$(BIN)/mypy
	$(BIN)/python tests/typing_components.py
	$(BIN)/python -m pytest -q tests/test_imports.py tests/test_tables.py tests/test_names.py tests/manual/test_documents.py tests/manual/test_references.py

# What is installed on a server, with templates, styles and all else in it; requirements.lock goes beside it.
wheel: setup
	$(BIN)/python -m hatchling build -t wheel

# What is published: built twice, compared, installed as people install it, used, upgraded and removed; with hashes in dist.
release: setup-dev
	$(PYTEST) $(call SUITE,release)
	$(BIN)/python -m tests.release

# The wheel in an empty environment and folder: the first steps of a newcomer.
installed: setup-dev
	$(PYTEST) -m installed tests/test_wheel.py

# POSTGRES=1: each request over the embedded database and over PostgreSQL, side by side (needs PostgreSQL's server).
bench: setup
	$(BIN)/python -m tests.bench$(if $(POSTGRES),.postgres.requests)

# Requests a second with one web process and with two.
bench-processes: setup
	$(BIN)/python -m tests.bench.processes

# What our HTTP server and our shared commits buy over others; SYNC_MS=2 is a slower disk (with granian where it is installed).
bench-servers: setup
	$(BIN)/python -m tests.bench.servers $(if $(SYNC_MS),--sync-ms $(SYNC_MS))

# Deliveries a second of one worker and of four on PostgreSQL, which claim side by side.
bench-workers: setup-dev
	$(BIN)/python -m tests.bench.workers

# How lists and counts grow on PostgreSQL, from 1,000 rows of others to 100,000; MANY=1000000 takes minutes and EXPLAIN=1
# shows the plans.
bench-growth: setup-dev
	$(BIN)/python -m tests.bench.postgres.growth $(if $(MANY),--many $(MANY)) $(if $(EXPLAIN),--explain)

# What a page of the logs costs by each filter, among 1,000 entries and among 1,000,000, on SQLite and on PostgreSQL.
bench-logs: setup-dev
	$(BIN)/python -m tests.bench.logs

# Whether a mock that validates requests by the provider's own document accepts those of whole APIs; SEED=2 chooses others.
# By hand: it brings documents of several hundred megabytes and the mock from npm and PyPI.
bench-operations: setup-dev $(PRISM)
	$(BIN)/python -m tests.bench.operations $(if $(SEED),--seed $(SEED))

$(PRISM):
	@npm install --silent --no-audit --no-fund --prefix instance/prism @stoplight/prism-cli@5.14.2

# An hour of mixed requests: do memory and the log of the database stay flat?
steady: setup
	$(BIN)/python -m tests.bench.steady

# What this machine does and how much room things take; then what 10,000,000 accounts would (needs PostgreSQL's server).
sizes: setup
	$(BIN)/python -m tests.bench.sizes

far: setup
	$(BIN)/python -m tests.bench.far

# Makes sentences of the specification false, one at a time: do the tests that tests/SPEC.md cites notice? By hand; ONLY=4.8.
mutants: setup-dev
	$(BIN)/python -m tests.mutants $(if $(ONLY),--section $(ONLY))

# Modules, lines and functions by room, and the files that five requests go through; VERBOSE=1 names them.
shape: setup-dev
	$(BIN)/python -m tests.shape $(if $(VERBOSE),-v)

# Three files at a time, on two cores as in `test`: each has a product of its own, and waits for it and for a browser. Those
# that take longest come first, so that in the end no process has one left while the others have nothing to do.
LONGEST = languages dashboard_pages dashboard triggers manual files demo_link build_keys

browser: setup-dev frontend-tests
	$(IN_MEMORY) $(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder $(LONGEST:%=tests/browser/test_%.py) \
		$(call SUITE,browser)

# Two files at a time, of those that mostly wait: for other processes, and for time to pass. Then, by themselves, those whose
# times other work would change. FULL=1: as long as it takes, 100 kills and 10,000 events among them, one after the other.
# POSTGRES=1: over PostgreSQL, those that are not about the embedded database and do not start a server of it by themselves.
FAULTS = $(if $(POSTGRES),PATCHBAY_TEST_DATABASE=postgres) PATCHBAY_FAULT_KILLS=$(if $(FULL),100,6) $(PYTEST)

faults:
	@failed=0; \
	$(MAKE) --no-print-directory faults-side-by-side || failed=1; \
	$(MAKE) --no-print-directory faults-alone || failed=1; \
	exit $$failed

faults-side-by-side: setup-dev
	$(FAULTS) $(if $(FULL),,-n 2 --dist loadfile) $(call SUITE,faults and not alone,faults)

faults-alone: setup-dev
	$(FAULTS) $(call SUITE,faults and alone,alone)

# Two files at a time: each has servers of its own.
peer: setup-dev frontend-tests $(FASTMCP)
	FASTMCP_PYTHON=$(FASTMCP) $(PYTEST) -n 2 --dist loadfile $(call SUITE,peer)

# Its sixty packages stay out of the environment of everything else.
$(FASTMCP): $(DEV_STAMP)
	-@$(BIN)/uv venv --quiet --clear instance/fastmcp && $(BIN)/uv pip install --quiet --python $@ fastmcp==4.2.3

schemathesis: setup-dev
	$(BIN)/python -m pytest $(call SUITE,schemathesis)

# The pictures of the manual, light and dark, from a demo: those that are older than their templates; ALL=1 draws all.
pictures: setup-dev frontend-tests
	$(BIN)/python -m tests.pictures $(if $(ALL),--all)

# What pages and apps say, for translators: brings the message files of every language up to date, and lists what waits.
messages: setup-dev
	$(EXTRACT) --keywords "lazy count_of:2,3 lazy_pgettext:1c,2" --output-file webapp/translations/pages.pot templates webapp
	$(EXTRACT) --output-file webapp/translations/apps.pot webapp/service/catalog
	$(EXTRACT) --output-file webapp/translations/api.pot webapp/service
	for file in $$(ls webapp/translations/*/*.po); do \
		$(BIN)/pybabel --quiet update --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --no-wrap \
			--locale $$(basename $$(dirname $$file)) --output-file $$file \
			--input-file webapp/translations/$$(basename $$file)t; \
	done
	$(BIN)/python -m tests.messages

# The marks of brands, from the packages that webapp/service/catalog/marks/sources.toml names.
marks: setup-dev
	$(BIN)/python -m tests.marks

# The requests of built-in components against the descriptions of their providers, which it brings from npm and PyPI. By
# hand; ONLY="github slack" checks some apps.
facts: setup-dev
	$(BIN)/python -m tests.facts $(ONLY)

lock: setup-dev
	$(LOCK) pyproject.toml --group build --output-file requirements.lock
	$(LOCK) pyproject.toml --group build --group dev --group browser --constraint requirements.lock \
		--output-file requirements-dev.lock
	$(LOCK) --group node --output-file requirements-node.lock

setup: $(RUN_STAMP) frontend

setup-dev: $(DEV_STAMP) frontend

frontend: $(RUN_STAMP)
	@$(BIN)/python -m webapp.frontend >/dev/null
	-@$(BIN)/python -m compileall -q webapp # halves the first start, and every one where Python may write no bytecode

frontend-tests: $(DEV_STAMP)
	@$(BIN)/python -m webapp.frontend --tests >/dev/null

$(RUN_STAMP): requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing what Patchbay needs into .venv ..."
	@$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(RUN_STAMP)
	@echo "Installing the tools of the tests into .venv ..."
	@$(PIP) --require-hashes --requirement requirements-dev.lock
	@touch $@

.venv/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Patchbay needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; \
		exit 1; \
	fi
	@$(PYTHON) -m venv .venv || { \
		echo "The virtual environment could not be made; on Debian and Ubuntu, install python3-venv and run make again." >&2; \
		rm -rf .venv; exit 1; \
	}

clean:
	rm -rf .venv static/vendor .mypy_cache .ruff_cache .pytest_cache dist
