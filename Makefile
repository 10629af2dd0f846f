# What developers and CI run. Only Go is needed; `make race` also wants a C compiler,
# `make lint` and `make vuln` build their tools from tools/go.mod.

GO       ?= go
FUZZTIME ?= 20s
BIN      ?= bin
PREFIX   ?= /usr/local
# For bench-inspect: -segments, -ui-segments, -rounds, -only; see `go -C tools/bench run ./inspect -h`.
# For bench-follow: -rates, -for, -only, -programs, -profiles.
# For bench-diagnose: -rounds. For bench-profile: -rounds, -samples, -only.
BENCHFLAGS ?=

SHARE     = $(PREFIX)/share
TOOL      = $(GO) tool -modfile=$(CURDIR)/tools/go.mod
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: all
all: build test

# Twice as many packages at a time as there are processors: many wait more than they work.
PACKAGES ?= $(shell expr 2 '*' "$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)")

# Tests of one package that wait do so side by side, however few processors there are.
PARALLEL ?= 8

# With the settings of `go run` and lint: what is compiled for one serves the others. Tests and compilers are short, and
# collecting garbage took a fifth of their time. Vet is part of lint.
GOTEST = GOGC=400 GOMEMLIMIT=3GiB $(GO) test -vet=off -timeout 30m -p $(PACKAGES) -parallel $(PARALLEL)

.PHONY: test
test: ## the tests of the module, except slow ones (testing.Short)
	$(GOTEST) -short ./...

.PHONY: test-all
test-all: test-slow test-tools backends peers race fuzz ## every test: slow ones, other processors, the real libraries, races, fuzzing (an hour)

.PHONY: test-slow
test-slow: ## all tests of the module, including slow ones
	$(GOTEST) ./...

.PHONY: test-slow-changed
test-slow-changed: ## the slow tests of packages that changed since CI_BASE (see .ci/changed)
	@packages=$$(.ci/changed slow) || exit 1; \
	if [ -n "$$packages" ]; then $(GOTEST) $$packages; else echo 'slow tests: no package that has some changed'; fi

.PHONY: test-tools
test-tools: ## tests of the benchmark programs and the fault generator, which are separate modules
	$(GO) -C tools/bench test ./...
	$(GO) -C tools/e2e test -count=1 ./... # the document that it reads is outside of its module
	$(GO) -C tools/secrets test -count=1 ./... # what kitescope writes, by the rules of gitleaks
	$(GO) -C tools test ./count ./animatedsvg ./platforms

.PHONY: race
race: ## the packages that start goroutines under the race detector, except single-goroutine tests (go:build !race)
	CGO_ENABLED=1 $(GO) test -race -short -p $(PACKAGES) -timeout 40m $$(.ci/raced)

.PHONY: race-changed
race-changed: ## the same, only packages that changed since CI_BASE (see .ci/changed)
	@packages=$$(.ci/changed raced) || exit 1; \
	if [ -n "$$packages" ]; then CGO_ENABLED=1 $(GO) test -race -short -p $(PACKAGES) -timeout 40m $$packages; else echo 'race: no package that starts goroutines changed'; fi

.PHONY: race-all
race-all: ## all packages under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 40m ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	GO='$(GO)' FUZZTIME=$(FUZZTIME) .ci/fuzz

.PHONY: fuzz-changed
fuzz-changed: ## the fuzz targets of packages that changed since CI_BASE (see .ci/changed) for FUZZTIME
	@packages=$$(.ci/changed fuzzed) || exit 1; \
	if [ -n "$$packages" ]; then GO='$(GO)' FUZZTIME=$(FUZZTIME) .ci/fuzz $$packages; else echo 'fuzz: no package with a target changed'; fi

# One run sees all: no file is left out where a tag is set.
.PHONY: lint
lint: export GOGC = 400
lint: export GOMEMLIMIT = 3GiB
lint: ## golangci-lint with formatters, in all modules
	$(TOOL) golangci-lint run --allow-parallel-runners --build-tags e2e,e2efaults,peers,chromium ./...
	cd tools/bench && $(TOOL) golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...
	cd tools/e2e && $(TOOL) golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./...
	cd tools && $(TOOL) golangci-lint run --allow-parallel-runners --config $(CURDIR)/.golangci.yml ./count ./licenses ./animatedsvg ./platforms

.PHONY: fmt
fmt: ## format as lint requires
	$(TOOL) golangci-lint fmt ./...
	cd tools/bench && $(TOOL) golangci-lint fmt --config $(CURDIR)/.golangci.yml ./...
	cd tools/e2e && $(TOOL) golangci-lint fmt --config $(CURDIR)/.golangci.yml ./...
	cd tools && $(TOOL) golangci-lint fmt --config $(CURDIR)/.golangci.yml ./count ./licenses ./animatedsvg ./platforms

.PHONY: count
count: ## count lines of code by directory
	@$(GO) -C tools run ./count $(CURDIR)

.PHONY: vuln
vuln: ## known vulnerabilities; needs vuln.go.dev
	$(TOOL) govulncheck ./...

.PHONY: build
build: ## the static binary of this platform, as released
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o $(BIN)/ ./cmd/kitescope

.PHONY: install
install: build ## the binary, its manual pages and completions, below PREFIX (and DESTDIR, for packages)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(SHARE)/man/man1 $(DESTDIR)$(SHARE)/bash-completion/completions \
		$(DESTDIR)$(SHARE)/zsh/site-functions $(DESTDIR)$(SHARE)/fish/vendor_completions.d
	install -m 755 $(BIN)/kitescope $(DESTDIR)$(PREFIX)/bin/kitescope
	$(BIN)/kitescope man $(DESTDIR)$(SHARE)/man/man1
	$(BIN)/kitescope completion bash > $(DESTDIR)$(SHARE)/bash-completion/completions/kitescope
	$(BIN)/kitescope completion zsh > $(DESTDIR)$(SHARE)/zsh/site-functions/_kitescope
	$(BIN)/kitescope completion fish > $(DESTDIR)$(SHARE)/fish/vendor_completions.d/kitescope.fish

.PHONY: uninstall
uninstall: ## remove what install wrote
	rm -f $(DESTDIR)$(PREFIX)/bin/kitescope $(DESTDIR)$(SHARE)/man/man1/kitescope.1 $(DESTDIR)$(SHARE)/man/man1/kitescope-*.1 \
		$(DESTDIR)$(SHARE)/bash-completion/completions/kitescope $(DESTDIR)$(SHARE)/zsh/site-functions/_kitescope \
		$(DESTDIR)$(SHARE)/fish/vendor_completions.d/kitescope.fish

# Each system and each architecture once; cross-all builds all of PLATFORMS.
.PHONY: cross
cross: ## check the types of everything, tests included, on every system and architecture
	$(GO) -C tools run ./platforms -dir .. linux/arm64 darwin/arm64 windows/amd64

.PHONY: cross-all
cross-all: cross ## vet and build for every platform that is released
	@for p in $(PLATFORMS); do \
		echo "cross $$p"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) vet ./... || exit 1; \
		GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/kitescope || exit 1; \
	done

.PHONY: ci-full
ci-full: ## .ci/run in full: slow tests, race and fuzzing of all packages, all platforms (an hour)
	.ci/run full

.PHONY: generate
generate: ## generate everything that is generated from source
	$(GO) generate ./...

.PHONY: generated
generated: ## regenerate the assembly of engine/dist and the licenses, and compare
	$(GO) generate ./engine/... ./cmd/kitescope
	git diff --exit-code --stat -- 'engine/dist/*.s' 'engine/dist/*_stubs_*.go' cmd/kitescope/licenses.txt

# Tests that compare with the real libraries have a flag for a Python that has them.
.PHONY: peers
peers: ## the engine against hnswlib and faiss: same files, ids and distances (needs python3, g++, PyPI)
	peers=$$(tools/peers.sh) && grep -rl --include='*_test.go' 'flag\.String("peers"' engine | xargs -n1 dirname | sort -u | \
		xargs -I{} $(GO) test -tags peers ./{} -run Peer -count=1 -peers "$$peers"

# The same answers must come from every implementation of the kernels.
SEARCHES = ./engine/dist/... ./engine/flat ./engine/hnsw ./engine/ivf ./engine/sparse ./engine/prefilter ./engine/index

.PHONY: backends
backends: ## tests of searches without AVX-512 and without AVX2, of kernels without assembly and on arm64 (needs qemu-user)
	GODEBUG=cpu.avx512f=off $(GO) test -short -count=1 $(SEARCHES)
	GODEBUG=cpu.avx512f=off,cpu.avx2=off $(GO) test -short -count=1 $(SEARCHES)
	$(GO) test -short -tags purego ./engine/dist/...
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -exec "$${QEMU:-qemu-aarch64}" ./engine/dist/...

.PHONY: update-goldens
update-goldens: ## rewrite golden files from the current output; read the diff
	@grep -rlE --include='*_test.go' 'flag\.Bool\("update"|x/exp/golden|/(render|tui)test"' . | grep -v '^./tools/' | xargs -n1 dirname | sort -u | \
		xargs -I{} $(GO) test {} -update

.PHONY: pictures
pictures: ## the pictures of docs/PROFILES.md, from the profiles in testdata (the screenshot of the page needs chromium)
	tools/docs/pictures.sh

.PHONY: bench-inspect
bench-inspect: ## the speed table on a real etcd, into docs/evidence/performance.md
	$(GO) -C tools/bench run ./inspect -repo $(CURDIR) -o $(CURDIR)/docs/evidence/performance.md $(BENCHFLAGS)

.PHONY: bench-diagnose
bench-diagnose: ## the speed of the checks, into docs/evidence/performance.md; on a quiet machine
	$(GO) -C tools/bench run ./diagnose -repo $(CURDIR) -o $(CURDIR)/docs/evidence/performance.md $(BENCHFLAGS)

.PHONY: bench-follow
bench-follow: ## CPU time of following 200,000 segments that change, on a real etcd, into docs/evidence/performance.md
	$(GO) -C tools/bench run ./follow -repo $(CURDIR) -o $(CURDIR)/docs/evidence/performance.md $(BENCHFLAGS)

.PHONY: bench-step
bench-step: ## the time of a step in the UI on 200,000 segments, from the key to the rows, into docs/evidence/history.md; on a quiet machine
	$(GO) -C tools/bench run ./step -o $(CURDIR)/docs/evidence/history.md $(BENCHFLAGS)

.PHONY: bench-metrics
bench-metrics: ## reading the metrics of 200 processes: CPU time compared with Prometheus's parser, and memory retained
	$(GO) test -run '^$$' -bench Metrics200 -benchtime 10x ./inspect/live

.PHONY: bench-why
bench-why: ## kitescope why on stored responses of 200 processes and 200,000 segments, and its budgets only: CPU time and allocations
	$(GO) test -run '^$$' -bench 'Why' -benchtime 10x ./inspect/why

.PHONY: bench-history
bench-history: ## reading a history of a million revisions: events and single moments, as multiples of reading the file once, into docs/evidence/history.md; on a quiet machine
	$(GO) -C tools/bench run ./history -repo $(CURDIR) -o $(CURDIR)/docs/evidence/history.md $(BENCHFLAGS)

.PHONY: bench-profile
bench-profile: ## the speed of profiles compared with go tool pprof, into docs/evidence/performance.md; on a quiet machine
	$(GO) -C tools/bench run ./profiles -repo $(CURDIR) -o $(CURDIR)/docs/evidence/performance.md $(BENCHFLAGS)

.PHONY: bench-engine
bench-engine: ## the engine compared with hnswlib and faiss, into docs/evidence/performance.md; on a quiet machine (needs python3, g++, PyPI)
	$(GO) -C tools/bench run ./engines -repo $(CURDIR) -o $(CURDIR)/docs/evidence/performance.md $(BENCHFLAGS)

.PHONY: bench-replay
bench-replay: ## the cost of replay on top of the engine, reading a gigabyte of logs; on a quiet machine
	$(GO) test -run '^$$' -bench 'Overhead|Fixtures' ./replay
	$(GO) test ./engine/segment -run '^$$' -bench ReadGigabyte -vector-bytes 1000000000 -cpu 1

.PHONY: repro
repro: ## build the release twice, in two folders with separate caches, and compare the bytes
	tools/repro.sh

.PHONY: e2e-pgo
e2e-pgo: ## pgo trial on four third-party modules, compared with pairs made by hand (needs python3, the module proxy, half an hour)
	tools/e2e/pgo.sh

.PHONY: e2e
e2e: ## tests on a real Milvus, standalone and as a cluster (needs ../shared, etcd, java, maven, python3)
	tools/e2e/milvus.sh standalone
	tools/e2e/milvus.sh cluster

.PHONY: e2e-profile
e2e-profile: ## pull profiles from a real cluster under searches and compare them with the kernel's counts (same requirements as e2e, five minutes)
	tools/e2e/profile.sh

.PHONY: e2e-replay
e2e-replay: ## replay's live targets, agreement with real servers, and predictions compared with a real cluster (root, for limits of nodes)
	tools/e2e/replay_targets.sh
	TABLE=docs/evidence/replay.md tools/e2e/replay.sh

.PHONY: e2e-s3
e2e-s3: ## the engine's S3 store on a real MinIO (needs ../shared and the module proxy; builds MinIO once)
	tools/e2e/s3.sh

.PHONY: e2e-faults
e2e-faults: ## break a real cluster in every way and score the diagnosis, into docs/evidence/diagnosis.md (same requirements as e2e, an hour)
	tools/e2e/faults.sh

# For e2e-chaos: the seed that rounds are drawn from, how many, and the number of the first; CHAOSFLAGS='-plan' only prints them.
SEED       ?= 1
ROUNDS     ?= 10
FROM       ?= 1
CHAOSFLAGS ?=

.PHONY: e2e-chaos
e2e-chaos: ## inject ROUNDS of random faults (SEED) into a real cluster and score the diagnosis, into docs/evidence/diagnosis.md (same requirements as e2e, root, three minutes a round)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/kitescope-chaos ./cmd/kitescope
	cd tools/e2e/chaos && $(GO) run . -kitescope $(abspath $(BIN)/kitescope-chaos) -docs $(CURDIR)/docs/evidence/diagnosis.md -seed $(SEED) -rounds $(ROUNDS) -from $(FROM) $(CHAOSFLAGS)

# For e2e-paths: as for e2e-chaos; PATHSFLAGS='-churn 60m' plays no faults and counts false findings.
PATHSFLAGS ?=

.PHONY: e2e-paths
e2e-paths: ## disturb resources and paths of a real cluster in ROUNDS of random actions (SEED), score the diagnosis by the effect on a client, into docs/evidence/diagnosis.md (same requirements as e2e, root, nft, strace, a minute a round)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/kitescope-paths ./cmd/kitescope
	cd tools/e2e/paths && $(GO) run . -kitescope $(abspath $(BIN)/kitescope-paths) -docs $(CURDIR)/docs/evidence/diagnosis.md -seed $(SEED) -rounds $(ROUNDS) -from $(FROM) $(PATHSFLAGS)

# For e2e-fixes: FIXESFLAGS='-only NAME,NAME' plays some, '-list' prints all.
FIXESFLAGS ?=

.PHONY: e2e-fixes
e2e-fixes: ## inject faults into a real cluster and follow the printed fixes exactly, into docs/evidence/fixes.md (same requirements as e2e, root, forty minutes)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/kitescope-fixes ./cmd/kitescope
	cd tools/e2e/fixes && $(GO) run . -kitescope $(abspath $(BIN)/kitescope-fixes) -docs $(CURDIR)/docs/evidence/fixes.md $(FIXESFLAGS)
	$(GO) test ./inspect/check/rules -run 'TestFixes$$' -update

# For e2e-latency: LATENCYFLAGS='-only strong,nq' plays some and writes no document, '-list' prints all, '-healthy 30m' counts false findings, '-keep DIR' keeps all, '-again' with it judges that anew.
LATENCYFLAGS ?=

.PHONY: e2e-latency
e2e-latency: ## slow a real cluster down in fourteen ways, compare latency and why with a client's times, into docs/evidence/latency.md (same requirements as e2e, root, half an hour)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/kitescope-latency ./cmd/kitescope
	cd tools/e2e/latency && $(GO) run . -kitescope $(abspath $(BIN)/kitescope-latency) -docs $(CURDIR)/docs/evidence/latency.md $(LATENCYFLAGS)

# For e2e-history: HISTORYFLAGS='-only node-killed,dropped' brings some about and writes no document, '-list' prints all, '-keep DIR' keeps all, '-again' with it asks another binary about that.
HISTORYFLAGS ?=

.PHONY: e2e-history
e2e-history: ## record a real cluster during fourteen events, and compare history, onsets and --at with their times, into docs/evidence/history.md (same requirements as e2e, root, half an hour)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/kitescope-history ./cmd/kitescope
	cd tools/e2e/history && $(GO) run . -kitescope $(abspath $(BIN)/kitescope-history) -docs $(CURDIR)/docs/evidence/history.md $(HISTORYFLAGS)

.PHONY: e2e-flame
e2e-flame: ## flame graph pages in a headless Chromium: zoom, search, reset (needs chromium; FLAMEFLAGS='-screenshots DIR' keeps pictures)
	$(GO) test -count=1 -tags chromium ./render/flame -run "^Test(Large)?Page" $(FLAMEFLAGS)

.PHONY: e2e-pages
e2e-pages: ## every kind of HTML page in a headless Chromium, with axe-core, from phone width up (needs chromium, npm)
	tools/e2e/pages.sh

.PHONY: e2e-perf
e2e-perf: ## record a C++ program, PostgreSQL and Java here, and open the profiles (needs perf, g++, postgresql, a JDK, root)
	tools/e2e/perf.sh
	$(GO) test -count=1 -tags e2e -run TestJFR$$ ./profile/read

.PHONY: clean
clean: ## remove files left by builds and failing tests
	rm -rf bin dist
	find . -name '*.got' -o -name '*.test' -o -name '*.prof' | xargs rm -f

.PHONY: help
help:
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18
