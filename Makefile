# What developers and CI run. Only Go is needed; `make race` also wants a C compiler,
# `make lint` and `make vuln` build their tools from tools/go.mod.

GO       ?= go
FUZZTIME ?= 10s
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null)
BIN      ?= bin
# For bench-inspect: -segments, -ui-segments, -rounds, -only; see `go -C tools/bench run ./inspect -h`.
# For bench-diagnose: -rounds.
BENCHFLAGS ?=

LDFLAGS   = -s -w -X main.buildVersion=$(VERSION)
TOOL      = $(GO) tool -modfile=$(CURDIR)/tools/go.mod
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: all
all: build test

.PHONY: test
test: ## all tests of the module
	$(GO) test ./...

.PHONY: test-bench
test-bench: ## tests of the benchmark programs, a module of their own
	$(GO) -C tools/bench test ./...

.PHONY: race
race: ## all tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	GO='$(GO)' FUZZTIME=$(FUZZTIME) .ci/fuzz

.PHONY: lint
lint: ## golangci-lint with formatters, in both modules
	$(TOOL) golangci-lint run --allow-parallel-runners ./...
	cd tools/bench && $(TOOL) golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...

.PHONY: fmt
fmt: ## format as lint wants it
	$(TOOL) golangci-lint fmt ./...
	cd tools/bench && $(TOOL) golangci-lint fmt --config $(CURDIR)/.golangci.yml ./...

.PHONY: vuln
vuln: ## known vulnerabilities; needs vuln.go.dev
	$(TOOL) govulncheck ./...

.PHONY: build
build: ## the static binary of this platform, as released
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/kitescope

.PHONY: cross
cross: ## compile everything for every released platform, tests included
	@for p in $(PLATFORMS); do \
		echo "cross $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/kitescope && \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) vet ./... || exit 1; \
	done

.PHONY: generate
generate: ## everything that is generated from source
	$(GO) generate ./...

.PHONY: update-goldens
update-goldens: ## rewrite golden files from what the code does now; read the diff
	@grep -rlE --include='*_test.go' 'flag\.Bool\("update"|x/exp/golden' . | grep -v '^./tools/' | xargs -n1 dirname | sort -u | \
		xargs -I{} $(GO) test {} -update

.PHONY: bench-inspect
bench-inspect: ## the speed table on a real etcd, into docs/PERFORMANCE.md
	$(GO) -C tools/bench run ./inspect -repo $(CURDIR) -o $(CURDIR)/docs/PERFORMANCE.md $(BENCHFLAGS)

.PHONY: bench-diagnose
bench-diagnose: ## the speed of asking and judging, into docs/PERFORMANCE.md; on a quiet machine
	$(GO) -C tools/bench run ./diagnose -repo $(CURDIR) -o $(CURDIR)/docs/PERFORMANCE.md $(BENCHFLAGS)

.PHONY: e2e
e2e: ## against a real Milvus, alone and as a cluster (needs ../shared, etcd, java, maven, python3)
	tools/e2e/milvus.sh standalone
	tools/e2e/milvus.sh cluster

.PHONY: e2e-faults
e2e-faults: ## break a real cluster in every way and judge the diagnosis, into docs/DIAGNOSIS.md (needs what e2e needs, an hour)
	tools/e2e/faults.sh

.PHONY: clean
clean:
	rm -rf bin dist
	find . -name '*.got' -o -name '*.test' -o -name '*.prof' | xargs rm -f

.PHONY: help
help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18
