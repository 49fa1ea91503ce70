# What a person types. Everything runs through npm, which puts node_modules/.bin, and with it the Node.js that
# package-lock.json pins, first on the PATH: the machine's own Node only has to be able to run npm.
# `make dev` needs no npm once the packages are there: it works in a checkout that belongs to another user.
.DEFAULT_GOAL := help
.PHONY: help docs dev test test-long long check format generate openapi static verify screenshots bench bench-against bench-memory bench-placements bench-operator mutants attacks fuzz replicas faults orders hour questions e2e e2e-faults peers postgres-15 two-databases schema size envtest needs image sbom boxctl release publish install

DOCKER ?= docker
TAG ?= dev
IMAGE ?= boxgate:$(TAG)
VERSION_OF_PACKAGE = $(shell sed -n 's/^  "version": "\(.*\)",$$/\1/p' package.json)

INSTALLED := node_modules/.package-lock.json

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: install ## starts what examples/standalone declares, with a Postgres of its own, and prints a curl for a token (PORT=9000: another port; STATE=<dir>: keeps its data there)
	@./boxgate dev examples/standalone $(if $(PORT),--port $(PORT)) $(if $(STATE),--state $(STATE))

test: install needs ## the tests, on a real Postgres and a real Kubernetes API
	@echo "Running the tests: about a quarter of an hour on two cores"
	@npm test --silent

# The workflow `weekly` runs each of them on a machine of its own.
test-long: long postgres-15 two-databases mutants attacks fuzz questions replicas faults orders hour peers ## what is slow and rarely breaks, in many hours

long: install needs ## the slow tests (*.long.test.ts), each once
	@npm run --silent test:long

check: install ## lint, types, unit tests, dead code, format, import rules: no services, under a minute from the second time on
	@npm run --silent check

format: install ## writes the formatting that check asks for
	@npm run --silent format

release: install ## sets the version, dates the changes in CHANGELOG.md, commits and tags (VERSION=1.4.0)
	@npm run --silent release -- '$(VERSION)'

publish: install ## pushes the image with its SBOM, and the chart, to an OCI registry, with docker, helm and oras (REGISTRY=images.example.com/team; VERSION=1.4.0-rc.1 in place of the release that is checked out; SIGN=cosign.key or SIGN=keyless: cosign signs both)
	@npm run --silent publish:oci -- '$(REGISTRY)' '$(VERSION)' '$(SIGN)'

image: ## the image, by Docker (IMAGE=boxgate:dev; TAG=x is short for IMAGE=boxgate:x; BASE=node:24-bookworm-slim), and its size above the base
	@$(DOCKER) build --network host --tag $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) --build-arg VERSION=$(VERSION_OF_PACKAGE) \
	  --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) .
	@DOCKER='$(DOCKER)' ./tools/image/size $(IMAGE) $(or $(BASE),node:24-bookworm-slim)

sbom: install ## the list of the packages in the image, as CycloneDX, in dist/
	@mkdir -p dist
	@npm run --silent sbom > dist/boxgate-$(VERSION_OF_PACKAGE).cdx.json
	@echo "dist/boxgate-$(VERSION_OF_PACKAGE).cdx.json"

boxctl: install ## boxctl as one executable that needs no Node.js, in dist/; under the name kubectl-boxgate it is the plugin of kubectl
	@npm run --silent boxctl:single-file

generate: install ## writes the files that are made from the schemas
	@npm run --silent generate

openapi: install ## writes the OpenAPI document that GET /openapi.json sends, with an example as its issuer, in dist/
	@mkdir -p dist
	@npm run --silent openapi -- dist/openapi.json
	@echo "dist/openapi.json"

static: install ## writes the chart as one manifest, with helm, in dist/ (SET=image.tag=dev: a value of the chart)
	@npm run --silent static -- $(SET)

verify: install ## generate, then nothing may differ from what is committed
	@npm run --silent verify

docs: install ## the documentation as a site with search, in dist/docs (DOCS_BASE=/boxgate/: where it is served)
	@npm ci --silent --prefix tools/site && npm run --silent --prefix tools/site build

screenshots: install ## takes the pictures of the pages in docs/screenshots
	@BOXGATE_WRITE_SCREENSHOTS=yes npx mocha test/browser/screenshots.test.ts

bench: install ## measures, and writes docs/maintainers/performance.md
	@npm run --silent bench

bench-against: install ## the token and check paths against another commit, in alternating rounds (BASE=HEAD~1)
	@npm run --silent bench:against -- $(or $(BASE),HEAD~1)

bench-memory: install ## the memory of one API replica under full load for half an hour (MINUTES=3)
	@npm run --silent bench -- memory --minutes $(or $(MINUTES),30) --write

bench-placements: install ## 100,000 boxes on several databases, and what tokens cost there; writes the first table
	@npm run --silent bench -- placements --write

bench-operator: install envtest ## measures the operator on a real Kubernetes API, and writes its table in docs/maintainers/performance.md
	@npm run --silent bench:operator

mutants: install needs ## breaks the code in known places and fails where no test notices, a worker for each core (SAMPLE=5 SEED=x: some of them; NAMES=operator-: those; WORKERS=1; GREEN=1: their tests have just passed)
	@npm run --silent mutants -- $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(WORKERS),--workers $(WORKERS)) $(if $(GREEN),--green) $(NAMES)

attacks: install ## what one box can do to another, measured; a million redirect URIs that are not the configured one, a thousand texts that want to be markup (SEED=x)
	@BOXGATE_ATTACK_SECONDS=20 npx mocha --timeout 0 test/attacks/attacks.long.test.ts
	@BOXGATE_VARIANTS=1000000 $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha test/oauth/authorization/request/redirect-uri.test.ts
	@BOXGATE_PAYLOADS=1000 $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha test/browser/payloads.test.ts

fuzz: install ## a million requests made of the routes by chance, many on one connection (REQUESTS=10000 SEED=x)
	@BOXGATE_FUZZ_REQUESTS=$(or $(REQUESTS),1000000) $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha --timeout 0 test/http/fuzz/fuzz.long.test.ts

questions: install ## a hundred thousand random questions to $explain, each compared with the real request (REQUESTS=10000 SEED=x)
	@BOXGATE_QUESTIONS=$(or $(REQUESTS),100000) $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha --timeout 0 test/http/explain/random-questions.test.ts

replicas: install ## two API processes on one Postgres, a thousand rounds (ROUNDS=5000 SEED=x)
	@BOXGATE_ROUNDS=$(or $(ROUNDS),1000) $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha test/replicas/replicas.test.ts

faults: install envtest ## ends processes at each of their writes, and at any moment (KILLS=50 SEED=x)
	@BOXGATE_KILLS=$(or $(KILLS),20) BOXGATE_CRASH_POINTS=all BOXGATE_CHANGES=1000 BOXGATE_SCARCE_REQUESTS=100 BOXGATE_OUTAGE_SECONDS=30 $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha --reporter test/house/reporter.ts "test/faults/**/*.test.ts" "test/placement/{kill-points,outage}.test.ts" test/operator/leader/leadership.test.ts

orders: install ## the same objects in a hundred orders, the operator running (ORDERS=500 SEED=x)
	@BOXGATE_ORDERS=$(or $(ORDERS),100) $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha test/operator/reconcile/orders.long.test.ts

hour: install envtest ## a random hour of edits, kills, taken rights, skewed definitions and ServiceAccounts created again, each Ready compared with both replicas (MINUTES=10 CLIENTS=580 SEED=x)
	@BOXGATE_HOUR_MINUTES=$(or $(MINUTES),10) $(if $(CLIENTS),BOXGATE_HOUR_CLIENTS=$(CLIENTS)) $(if $(SEED),BOXGATE_SEED=$(SEED)) npx mocha --timeout 0 test/operator/random-hour/random-hour.long.test.ts

e2e: install ## the whole story on a real cluster: creates one with kind (KIND_NODE_IMAGE), or uses the current context (E2E_CONTEXT=current), and leaves nothing behind
	@npm run --silent e2e -- test/e2e/stories/*.test.ts

e2e-faults: install ## the long stories on a real cluster: rolling updates, faults, backup and restore, definitions of another release
	@npm run --silent e2e -- test/e2e/faults/*.test.ts

peers: install ## Traefik and Envoy in front of an app, apps in Rack, PHP, WSGI and Express behind gateways, apps in Python that people sign in to, Dex with Boxgate as its upstream, and the alerts of the chart in promtool; obtains Envoy and builds the others, some minutes
	@npx mocha --timeout 0 "test/peers/built/*.test.ts"

envtest: install ## obtains the Kubernetes API that the tests run against: downloads, else builds of some minutes
	@npm run --silent envtest

two-databases: install needs ## the tests of the interface, REST, OAuth and isolation, with boxes on two databases
	@npm run --silent test:two-databases

postgres-15: install needs ## the tests of the database, tokens and people on Postgres 15, the oldest one
	@npm run --silent test:postgres-15

needs: install ## obtains what the tests need and this machine lacks: Chromium (as root), and what make envtest obtains
	@npm run --silent needs

schema: install ## writes test/db/schema.txt from api/db/schema.sql
	@BOXGATE_WRITE_SCHEMA=yes npx mocha test/db/schema.test.ts

size: install ## the size of the code: lines, files, stored functions, pages; what runs for a request of each flow
	@npm run --silent size

install: $(INSTALLED) ## the packages of package-lock.json, where they are missing or older than it
	@node_modules/.bin/node --version >/dev/null 2>&1 || { \
	  echo "The Node.js that Boxgate runs on (the npm package node) did not get installed: its install script was"; \
	  echo "blocked or found no build for this machine. Run: npm rebuild node --foreground-scripts"; \
	  echo "and see what it says; with ignore-scripts in an .npmrc, take that away first."; \
	  exit 1; }
	@# The sources of the served document may be newer, as after a pull.
	@node_modules/.bin/node tools/openapi/generate.ts

$(INSTALLED): package-lock.json
	@test -w . || { \
	  echo "You cannot install the packages here, because $(CURDIR) belongs to $$(ls -ld . | awk '{print $$3}'):" \
	    "run make as that user, or in a copy of your own (cp -r $(CURDIR) <folder>)."; \
	  exit 1; }
	@echo "Obtaining the packages of package-lock.json (400 MB on disk, one to three minutes)"
	@# An old Node's npm would warn of hundreds of packages that want a newer one, which is among them.
	npm ci --loglevel=error
	@# An old Node's npm leaves out optional packages that want a newer one: under the pinned Node they come in.
	@PATH="$(CURDIR)/node_modules/.bin:$$PATH" NODE_NO_WARNINGS=1 npm install --no-save --ignore-scripts --silent
	@touch $@
