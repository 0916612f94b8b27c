# Everything that people and CI do with this repository. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export PATH := $(PATH):/usr/local/go/bin
up := bin/portico-up
run-tests := bin/run-tests

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "Variables of make run, each by the name of what it sets:"
	@echo "  PORTAL_PORT=8080  DEX_PORT=5556  APISERVER_PORT=6443  AWS_PORT=4566   (0 means any free port)"
	@echo "  AWS_ENDPOINT=URL            an AWS-compatible endpoint in place of the simulator, with"
	@echo "                              AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	@echo "  KUBECONFIG_EXTERNAL=PATH    an existing cluster in place of ours"

## ---- run

# Memory for less work of the garbage collectors, of the control planes too.
test-integration test-browser: export GOGC := 300

# As our binaries are built, so that what was compiled for them serves here too.
test-browser screenshots generate lint verify-generated: export CGO_ENABLED := 0
test-browser screenshots generate lint verify-generated: export GOFLAGS = $(shell go env GOFLAGS) -trimpath

.PHONY: run
run: $(up) ## Start the whole platform on loopback, until Ctrl-C
	@exec $(up)

.PHONY: deps
deps: $(up) ## Build and download what run and test need, without running anything
	@$(up) -build run,chart,browser
	@test/stack/chromium.sh

# What go build -v says: a line for each package that is compiled, which are many the first time, and what is wrong.
define progress
/^[a-z0-9][^ :]*$$/ { if (++n % 100 == 0) { printf "%-24s compiled %d packages; the first time there are about 900\n", name, n; fflush() } next }
{ print; fflush() }
endef
export progress

# The go command knows whether they are up to date.
.PHONY: $(up) $(run-tests)
$(up) $(run-tests): go-is-there
	@CGO_ENABLED=0 go build -v -trimpath -o $@ ./test/stack/cmd/$(notdir $@) 2>&1 | awk -v name=$(notdir $@) "$$progress"

.PHONY: go-is-there
go-is-there:
	@command -v go >/dev/null || { echo "go is missing: install Go 1.26 or newer from https://go.dev/dl and put it on the PATH" >&2; exit 1; }

## ---- test

.PHONY: test
test: deps ## Run all tests: unit, integration, browser, monitoring
	@$(MAKE) --keep-going test-unit test-integration test-browser test-monitoring

# The linters vet, and find more.
.PHONY: test-unit
test-unit: $(run-tests) ## Run the unit tests, with the race detector and in random order
	@$(run-tests) -name unit -- -race -vet=off -shuffle=on -timeout=25m
	@cd test/chart && go test ./...

# Most of the time they wait, so three processes run at a time, each with a control plane of its own.
.PHONY: test-integration
test-integration: $(up) $(run-tests) ## Run the tests against a real kube-apiserver and the AWS simulator
	@$(up) -build run,chart
	@$(run-tests) -name integration -tag integration -processes 3 -split test/integration -- -race -count=1 -timeout=60m

.PHONY: test-browser
test-browser: $(up) $(run-tests) ## Run the tests in Chromium
	@$(up) -build run,browser
	@test/stack/chromium.sh
	@$(run-tests) -name browser -tag browser -- -count=1 -timeout=40m

# A module of its own, for it needs Prometheus.
.PHONY: test-monitoring
test-monitoring: $(up) $(run-tests) ## Test alerts, dashboards and health checks with the code that runs them
	@$(up) -build monitoring
	@cd test/monitoring && CGO_ENABLED=0 $(CURDIR)/$(run-tests) -name monitoring -- -vet=off -shuffle=on

.PHONY: test-image
test-image: $(up) image ## Run operator and portal out of the layers of their images, confined as in a Pod; as root
	@$(up) -build run
	@go test -tags image -count=1 -v -run TestImagesRunConfined -timeout=10m ./test/stack

.PHONY: screenshots
screenshots: $(up) ## Take the pictures of docs/screens.md anew; about 5 min
	@$(up) -build run,browser
	@test/stack/chromium.sh
	@rm -f docs/images/pages/*.webp
	@PICTURES=$(CURDIR)/docs/images/pages go test -tags browser -count=1 -timeout=40m ./test/browser

.PHONY: fuzz
fuzz: $(up) ## Throw what nobody would send at the REST API and at every fuzz target; about 5 min and the build, SEED=n repeats
	@$(up) -build run,fuzz
	@CGO_ENABLED=0 go build -trimpath -o bin/fuzz ./test/fuzz/cmd/fuzz
	@exec bin/fuzz $(if $(SEED),-seed $(SEED))

## ---- bench

.PHONY: bench-operator
bench-operator: $(up) ## Measure the operator: time, AWS calls, Kubernetes writes, memory; about 15 min
	@$(up) -build run
	@CGO_ENABLED=0 go build -trimpath -o bin/bench-operator ./test/bench/cmd/bench-operator
	@exec bin/bench-operator $(if $(SCENARIOS),-scenarios $(SCENARIOS))

.PHONY: failover
failover: $(up) ## Measure how soon another operator leads when one ends or is killed; about 10 min, TRIES=n
	@$(up) -build run
	@CGO_ENABLED=0 go build -trimpath -o bin/failover ./test/ha/cmd/failover
	@exec bin/failover $(if $(TRIES),-tries $(TRIES))

.PHONY: rolling-restart
rolling-restart: $(up) ## Restart two portals under the load of 50 users, and count what is lost; about 2 min, ROUNDS=n
	@$(up) -build run
	@CGO_ENABLED=0 go build -trimpath -o bin/rolling-restart ./test/ha/cmd/rolling-restart
	@exec bin/rolling-restart $(if $(ROUNDS),-rounds $(ROUNDS))

.PHONY: bench-portal
bench-portal: $(up) ## Measure the portal: pages, streams, memory, bytes; about 4 min, SMALL=1 for 1 min
	@$(up) -build run
	@CGO_ENABLED=0 go build -trimpath -o bin/bench-portal ./test/bench/cmd/bench-portal
	@exec bin/bench-portal $(if $(SMALL),-small) $(if $(PROFILES),-profiles $(PROFILES))

## ---- release

.PHONY: image
image: go-is-there ## Build the images into dist/images, without a daemon; about 4 min the first time
	@CGO_ENABLED=0 go build -trimpath -o bin/release ./cmd/release
	@exec bin/release $(if $(VERSION),-version $(VERSION)) images

.PHONY: push
push: go-is-there ## Send the images of a release in dist to a registry, with VERSION=v0.1.0 REGISTRY=ghcr.io/portico-platform
	@CGO_ENABLED=0 go build -trimpath -o bin/release ./cmd/release
	@exec bin/release -version "$(VERSION)" push "$(REGISTRY)"

.PHONY: release
release: go-is-there ## Build everything of a release into dist, with VERSION=v0.1.0; KEY=path of an SSH key signs it
	@CGO_ENABLED=0 go build -trimpath -o bin/release ./cmd/release
	@exec bin/release -version "$(VERSION)" $(if $(KEY),-key $(KEY)) all

## ---- source

.PHONY: generate
generate: go-is-there ## Regenerate: deep copies, CRDs, templates, the REST client, the page of metrics, the portal's libraries, what the chart renders
	@go tool controller-gen object paths=./api/... paths=./controllers/hostname/albconfig
	@go tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	@go tool controller-gen crd paths=./controllers/hostname/albconfig output:crd:dir=test/stack/crds
	@go tool templ generate
	@go run ./portal/client/generate
	@go run ./docs/generate
	@$(MAKE) $(up) # not before: it does not build while a new kind has no deep copies
	@$(up) -build web
	@npm run --silent vendor --prefix web
	@$(MAKE) generate-chart

.PHONY: generate-chart
generate-chart: go-is-there # what the chart renders, and the table of its values
	@cd test/chart && go test -count=1 -run TestRenders . -update >/dev/null
	@cd test/chart && go tool helm-docs --chart-search-root ../../charts --sort-values-order file --log-level warning

.PHONY: lint
lint: $(up) ## Run the linters
	@$(up) -build lint
	@bin/golangci-lint run --build-tags integration,browser ./...

.PHONY: verify
verify: lint verify-generated ## Lint, regenerate, fail on a dirty tree, look for vulnerabilities

# What make verify does beside linting.
.PHONY: verify-generated
verify-generated: generate
	@[ -z "$$(git status --porcelain)" ] || { git status --short; git --no-pager diff; \
		echo "the tree is dirty after make generate: commit what it made, and everything else" >&2; exit 1; }
	@test/lint/traces.sh
	@$(up) -build lint
	@test/lint/vulnerabilities.sh

.PHONY: clean
clean: ## Remove everything that was built or downloaded into this folder
	@rm -rf bin dist .cache .run .venv web/node_modules
