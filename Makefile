# Everything that people and CI do with this repository. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export PATH := $(PATH):/usr/local/go/bin
build := bin/portico-build
run-tests := bin/run-tests
campaign := bin/campaign
# Everything is built by the user whose folder this is; only what runs a real Node is root.
as-user := $(if $(SUDO_UID),sudo --set-home --user=\#$(SUDO_UID) env PATH="$$PATH")

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "Variables of make run, each by the name of what it sets:"
	@echo "  NODE=real                   a Node that runs containers, as root on Linux: sudo make run NODE=real"
	@echo "  PORTAL_PORT=8080  DEX_PORT=5556  APISERVER_PORT=6443  AWS_PORT=4566  HOSTNAMES_PORT=8443"
	@echo "  REGISTRY_PORT=5000          other ports; 0 means any free one"
	@echo "  AWS_ENDPOINT=URL            an AWS-compatible endpoint in place of the simulator, with"
	@echo "                              AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	@echo "  KUBECONFIG_EXTERNAL=PATH    an existing cluster in place of ours"

## ---- run

# Memory for less work of the garbage collectors; kube-apiserver has a setting of its own.
test-unit test-integration test-browser: export GOGC := 300

# As our binaries are built, so that what was compiled for them serves here too.
compiled := test-unit test-integration test-browser screenshots walk generate docs lint verify-generated
$(compiled): export CGO_ENABLED := $(if $(RACE),1,0)
$(compiled) test-race: export GOFLAGS = $(shell go env GOFLAGS) -trimpath

.PHONY: run
ifneq ($(filter-out real,$(NODE)),)
run:
	@echo "NODE=$(NODE) is not known: NODE=real runs containers, and without it Nodes are simulated" >&2; exit 1
else ifeq ($(NODE),real)
run:
	@[ "$$(uname)" = Linux ] || { echo "NODE=real needs Linux: namespaces, cgroups and a kubelet; make run without it works here" >&2; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "NODE=real runs as root, in namespaces of its own: sudo make run NODE=real, or a privileged container" >&2; exit 1; }
	@test/node/install.sh
	@test/databases/install.sh
	@$(as-user) $(MAKE) NODE=real build-run
	@NODE=real exec bin/portico-up

.PHONY: build-run
build-run: $(build)
	@$(build) run,node
else
run: $(build) ## Start the whole platform on loopback, until Ctrl-C; NODE=real runs containers, too
	@$(build) run
	@exec bin/portico-up
endif

.PHONY: deps
deps: $(build) $(run-tests) ## Build and download what run and test need, without running anything
	@$(build) run,chart,browser,others
	@test/stack/chromium.sh
	@test/databases/install.sh
	@test/nginx/install.sh

# It imports little, for nothing can be shown while it is compiled. The go command knows whether they are up to date.
.PHONY: $(build) $(run-tests)
$(build) $(run-tests): go-is-there
	@[ -x $@ ] || echo "Compiling $(notdir $@), which takes some 20 s the first time ..."
	@CGO_ENABLED=0 go build -trimpath -o $@ ./test/stack/cmd/$(notdir $@)

# bin/campaign -list lists what it runs.
.PHONY: $(campaign)
$(campaign): go-is-there
	@CGO_ENABLED=0 go build -trimpath -o $@ ./test/campaign/cmd/campaign

.PHONY: go-is-there
go-is-there:
	@command -v go >/dev/null || { echo "go is missing: install Go 1.26 or newer from https://go.dev/dl and put it on the PATH" >&2; exit 1; }

## ---- test

.PHONY: test
test: deps ## Run all tests but the longest: unit, integration, browser and monitoring; about 15 min
	@$(MAKE) --keep-going --jobs=3 --output-sync=line SHORT=-short test-unit test-integration test-browser test-monitoring

# The linters vet, and find more.
.PHONY: test-unit
test-unit: $(run-tests) ## Run the unit tests, in random order
	@$(run-tests) -name unit $(if $(IN),-in "$(IN)") -- $(RACE) -vet=off -shuffle=on -timeout=25m
	@cd test/chart && go test ./...
	@go test -tags chaos ./cmd/operator

# Packages that start goroutines. A test of test/architecture keeps the list.
goroutines := api/identity cmd/portal cmd/portico/prompt cmd/portico/session config/check controllers/cloud controllers/deleted controllers/deploy controllers/fair controllers/hostname/claim \
	controllers/hostname/dns controllers/operatorapi controllers/people controllers/sweep portal portal/auth portal/cluster portal/cluster/feed portal/cluster/pods \
	portal/cluster/rights portal/cluster/sessions portal/operator portal/pages/page portal/pages/resource portal/podlogs portal/sse

# CI runs this one and test-race: with the race detector the same tests find more.
.PHONY: test-unraced
test-unraced: ## Run the unit tests of all packages that test-race leaves out
	@$(MAKE) test-unit IN="$(filter-out $(addprefix github.com/portico-platform/portico/,$(goroutines)),$(shell go list ./...))"

.PHONY: test-race
test-race: $(run-tests) ## Run the unit tests of packages that start goroutines with the race detector; needs a C compiler
	@CGO_ENABLED=1 $(run-tests) -name race -in "$(addprefix ./,$(goroutines))" -- -race -vet=off -shuffle=on -timeout=25m

.PHONY: test-all
test-all: deps ## Run everything that finds faults: every test with every case, races, other servers, the oldest Kubernetes, identity providers, real Nodes, fuzzing, chaos; some 3 hours
	@EVERY_CASE=1 $(MAKE) --keep-going test-unit test-integration test-browser test-monitoring test-race-all test-compat test-oldest test-idp test-node test-browser-node fuzz chaos

.PHONY: test-race-all
test-race-all: ## Run all unit and integration tests with the race detector; about an hour
	@CGO_ENABLED=1 $(MAKE) --keep-going test-unit test-integration RACE=-race

# Most of the time they wait, so PROCESSES of them run at a time, each with a control plane of its own.
.PHONY: test-integration
test-integration: $(build) $(run-tests) ## Run the tests against a real kube-apiserver and the AWS simulator
	@$(build) run,chart,others
	@test/databases/install.sh
	@test/nginx/install.sh
	@$(run-tests) -name integration -tag integration -processes $(or $(PROCESSES),3) -split test/integration -- $(RACE) $(SHORT) -count=1 -timeout=60m

# The stack takes the programs that it is shown in place of newer ones of its own.
.PHONY: test-oldest
test-oldest: export KUBEBUILDER_ASSETS = $(CURDIR)/.cache/oldest
test-oldest: $(build) ## Run the integration tests against the oldest Kubernetes that Portico runs on; about 20 min and the build
	@$(build) oldest
	@$(MAKE) test-integration

.PHONY: test-browser
test-browser: $(build) $(run-tests) ## Run the tests in Chromium
	@$(build) run,browser,others
	@test/stack/chromium.sh
	@test/databases/install.sh
	@$(run-tests) -name browser -tag browser -- $(SHORT) -count=1 -timeout=40m

# A module of its own, for it needs Prometheus.
.PHONY: test-monitoring
test-monitoring: $(build) $(run-tests) ## Test alerts, dashboards and health checks with the code that runs them
	@$(build) monitoring
	@cd test/monitoring && CGO_ENABLED=0 $(CURDIR)/$(run-tests) -name monitoring -- -vet=off -shuffle=on

.PHONY: test-idp
test-idp: $(build) ## Sign in with real identity providers: Dex, Keycloak and a strict node-oidc-provider; about 5 min, needs Java, Maven, npm, Chromium
	@$(build) run,idp
	@test/stack/chromium.sh
	@KEYCLOAK_HOME=$(CURDIR)/.cache/keycloak/keycloak-26.2.5 OIDC_PROVIDER=$(CURDIR)/.cache/oidc-provider \
		go test -tags integration,idp -count=1 -v -run '^Test(Strict)?IdentityProviders$$' -timeout=30m ./test/integration

.PHONY: test-compat
test-compat: $(build) ## Keep buckets and queues on versitygw, MinIO and ElasticMQ; about 5 min and the build, needs Java and Maven
	@$(build) run,chart,compat
	@VERSITYGW=$(CURDIR)/bin/versitygw MINIO=$(CURDIR)/bin/minio ELASTICMQ=$(CURDIR)/.cache/elasticmq \
		go test -tags integration -count=1 -v -run '^TestServersThatAreNotAWS$$' -timeout=30m ./test/integration

.PHONY: test-image
test-image: $(build) image ## Run operator and portal out of the layers of their images, confined as in a Pod; as root
	@$(build) run
	@go test -tags image -count=1 -v -run TestImagesRunConfined -timeout=10m ./test/stack

.PHONY: test-node
test-node: ## Run Portico on real kubelets, with containers, policies and Helm; about 3 min and the build (15 min), as root on Linux
	@[ "$$(uname)" = Linux ] || { echo "make test-node needs Linux: namespaces, cgroups and a kubelet" >&2; exit 1; }
	@test/node/install.sh
	@$(as-user) $(MAKE) build-node
	@[ "$$(id -u)" = 0 ] || { echo "make test-node runs as root, in namespaces of its own: use sudo, or a privileged container" >&2; exit 1; }
	@bin/sandbox.test -test.v
	@cd test/node && exec ../../bin/node.test -test.v -test.parallel=32 -test.timeout=15m $(if $(RUN),-test.run '$(RUN)')

.PHONY: test-browser-node
test-browser-node: ## Run the browser tests that need Pods on a real Node, and use examples/notes; about 3 min, as root on Linux
	@[ "$$(uname)" = Linux ] || { echo "make test-browser-node needs Linux: namespaces, cgroups and a kubelet" >&2; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "make test-browser-node runs as root, in namespaces of its own: use sudo, or a privileged container" >&2; exit 1; }
	@test/node/install.sh
	@test/stack/chromium.sh
	@test/databases/install.sh
	@$(as-user) $(MAKE) NODE=real build-browser-node
	@cd test/browser && NODE=real exec ../../bin/browser.test -test.v -test.timeout=15m $(if $(RUN),-test.run '$(RUN)')

.PHONY: build-browser-node
build-browser-node: $(build)
	@$(build) run,node,browser
	@CGO_ENABLED=0 go test -c -trimpath -tags browser -o bin/browser.test ./test/browser

.PHONY: build-node
build-node: $(build)
	@$(build) node
	@CGO_ENABLED=0 go build -trimpath -o bin/release ./cmd/release
	@bin/release -output .cache/images -platforms linux/$$(go env GOARCH) images >.cache/images.log 2>&1 || { cat .cache/images.log >&2; exit 1; }
	@CGO_ENABLED=0 go test -c -trimpath -tags node -o bin/sandbox.test ./test/stack/sandbox
	@CGO_ENABLED=0 go test -c -trimpath -tags node -o bin/node.test ./test/node

.PHONY: screenshots
screenshots: $(build) ## Take the pictures of docs/screens.md again; about 5 min
	@$(build) run,browser
	@test/stack/chromium.sh
	@test/databases/install.sh
	@rm -f docs/images/pages/*.webp
	@PICTURES=$(CURDIR)/docs/images/pages go test -tags browser -count=1 -timeout=40m ./test/browser

.PHONY: walk
walk: $(build) ## Do in Chromium what a team does at first, and count clicks, fields and seconds; pictures in .run/walk
	@$(build) run,browser
	@test/stack/chromium.sh
	@SCREENSHOTS=$(CURDIR)/.run/walk go test -tags browser -count=1 -v -run '^TestWalk$$' -timeout=10m ./test/browser

.PHONY: fuzz
fuzz: $(build) $(campaign) ## Throw what nobody would send at the REST API and at every fuzz target; about 5 min and the build, SEED=n repeats
	@$(build) run,fuzz
	@exec $(campaign) -run '^fuzz/' $(if $(SEED),-fuzz.seed $(SEED))

.PHONY: chaos
chaos: $(build) $(campaign) ## Let users, crashes and faults loose, then compare AWS with the cluster; 20 min and 5, DURATION=2m, SEED=n repeats
	@$(build) run
	@CGO_ENABLED=0 go build -trimpath -tags chaos -o bin/operator-chaos ./cmd/operator
	@exec $(campaign) -run '^chaos$$' $(if $(DURATION),-chaos.duration $(DURATION)) $(if $(SEED),-chaos.seed $(SEED)) $(if $(SABOTAGE),-chaos.sabotage)

# With a seed that has found something, another one each day.
.PHONY: test-chaos
test-chaos: ## The same for 2 min, with a seed that found something once
	@$(MAKE) chaos DURATION=$(or $(DURATION),2m) SEED=$(or $(SEED),found)

## ---- bench

comma := ,

.PHONY: bench-operator
bench-operator: $(build) $(campaign) ## Measure the operator: time, AWS calls, Kubernetes writes, memory; about 30 min
	@$(build) run
	@exec $(campaign) $(foreach s,$(or $(subst $(comma), ,$(SCENARIOS)),.*),-run '^bench-operator/$(s)$$')

.PHONY: failover
failover: $(build) $(campaign) ## Measure how soon another operator leads when one ends or is killed; about 10 min, TRIES=n
	@$(build) run
	@exec $(campaign) -run '^failover/' $(if $(TRIES),-failover.tries $(TRIES))

.PHONY: rolling-restart
rolling-restart: $(build) $(campaign) ## Restart two portals under the load of 50 users, and count what is lost; about 2 min, ROUNDS=n
	@$(build) run
	@exec $(campaign) -run '^rolling-restart$$' $(if $(ROUNDS),-rolling-restart.rounds $(ROUNDS))

.PHONY: upgrade
upgrade: $(build) $(campaign) ## Upgrade an installation of the baseline to this tree, and take it back; about 6 min, FROM=commit, WITH=kubectl
	@$(build) run,chart
	@exec $(campaign) -run '^upgrade$$' $(if $(FROM),-upgrade.from $(FROM)) $(if $(WITH),-upgrade.with $(WITH))

.PHONY: bench-portal
bench-portal: $(build) $(campaign) ## Measure the portal: pages, streams, memory, bytes; about 4 min, SMALL=1 for 1 min
	@$(build) run
	@exec $(campaign) -run '^bench-portal$$' $(if $(SMALL),-bench-portal.small) $(if $(PROFILES),-bench-portal.profiles $(PROFILES))

.PHONY: lighthouse
lighthouse: $(build) $(campaign) ## Have Lighthouse look at the portal's pages; about 10 min, needs Node.js and Chromium, PAGE=part of a name
	@$(build) run,browser
	@test/stack/chromium.sh
	@npm ci --prefix test/lighthouse --no-audit --no-fund --silent
	@exec $(campaign) -run '^lighthouse/.*$(PAGE)'

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
generate: go-is-there ## Regenerate: deep copies, CRDs, templates, the REST client, references in docs, lists of kinds, the portal's libraries, what the chart renders
	@go tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	@go run ./config/generate
	@go tool controller-gen object paths=./api/... paths=./controllers/hostname/albconfig
	@go tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases # again, with the kinds that a WebApp can bind
	@go tool controller-gen crd paths=./controllers/hostname/albconfig output:crd:dir=test/stack/crds
	@go tool templ generate
	@go run ./portal/client/generate
	@go run ./docs/generate
	@$(MAKE) $(build) # not before: it does not build while a new kind has no deep copies
	@$(build) web
	@npm run --silent vendor --prefix web
	@$(MAKE) generate-chart

.PHONY: docs
docs: go-is-there ## Write the documentation as pages of HTML into bin/docs, and check its links
	@go run ./docs/site/write bin/docs

.PHONY: generate-chart
generate-chart: go-is-there # what the chart renders, and the table of its values
	@cd test/chart && go test -count=1 -run TestRenders . -update >/dev/null
	@cd test/chart && go tool helm-docs --chart-search-root ../../charts --sort-values-order file --log-level warning

.PHONY: lint
lint: $(build) ## Run the linters
	@$(build) lint
	@bin/golangci-lint run --build-tags integration,browser,image,idp,node ./...
	@wrong=$$(gofmt -l test/chart test/monitoring test/node test/others); [ -z "$$wrong" ] || { echo "not formatted by gofmt: $$wrong" >&2; exit 1; }

.PHONY: verify
verify: lint verify-generated ## Lint, regenerate, fail on a dirty tree, look for vulnerabilities

# What make verify does beside linting.
.PHONY: verify-generated
verify-generated: generate
	@[ -z "$$(git status --porcelain)" ] || { git status --short; git --no-pager diff; \
		echo "the tree is dirty after make generate: commit what it made, and everything else" >&2; exit 1; }
	@test/lint/traces.sh
	@$(build) lint
	@test/lint/vulnerabilities.sh

.PHONY: clean
clean: ## Remove everything that was built or downloaded into this folder
	@rm -rf bin dist .cache .run .venv web/node_modules
