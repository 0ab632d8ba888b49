# lakesql. `make demo` shows it, `make test` tests it; both need only Go, make and git.
SHELL := /bin/bash

# Pure-Go regular expressions in go-mysql-server: one static binary, no C library. Nobody should have to type this.
TAGS    := gms_pure_go
GO      := CGO_ENABLED=0 go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X lakesql/version.linked=$(VERSION)
BIN     := bin/lakesql

# staticcheck is run from its module at this version: nothing to install, and no dependency of lakesql.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build demo run test check fmt vet lint race interop clients bench soak crowd differential enginetest fuzz clean

build:
	@mkdir -p bin
	$(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/lakesql

demo: build
	./$(BIN) demo

run: build
	./$(BIN) serve --warehouse ./lake

# Packages take minutes on a busy machine; go ends a test binary after ten.
test:
	$(GO) test -tags $(TAGS) -timeout 40m ./...

check: fmt vet lint race

fmt:
	@un=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$un" ]; then echo "gofmt would change:"; echo "$$un"; exit 1; fi

vet:
	$(GO) vet -tags $(TAGS) ./...
	cd bench && CGO_ENABLED=1 go vet -tags $(TAGS) ./...

lint:
	$(GO) run $(STATICCHECK) -tags $(TAGS) ./...

# The race detector needs cgo and a C compiler; the import rules are a test and run here too.
race:
	CGO_ENABLED=1 go test -race -short -tags $(TAGS) -timeout 40m ./...

# Real MySQL clients of other languages. scripts/clients-env and scripts/mysql-env make their environment outside the checkout, once.
clients:
	scripts/clients-env
	LAKESQL_MYSQL=$$(scripts/mysql-env) LAKESQL_CLIENTS=$$(scripts/clients-env --print) $(GO) test -tags $(TAGS) -count=1 -timeout 20m -v ./integration/clients/...

# Real clients, Spark, delta-rs and DuckDB. scripts/interop-env makes the environment of the latter three.
interop: clients
	scripts/interop-env
	$(MAKE) enginetest
	LAKESQL_INTEROP=$$(scripts/interop-env --print) $(GO) test -tags $(TAGS) -count=1 -timeout 40m -v ./integration/interop/...

# DuckDB is linked in, which needs cgo and a C++ compiler. BENCH='-help' says what else there is; with BENCH, nothing is written to the page.
BENCH := -out ../docs/benchmarks.md
bench: build
	cd bench && CGO_ENABLED=1 go build -tags $(TAGS) -o ../bin/bench . && ../bin/bench -bin ../$(BIN) $(BENCH)

# Kills the server at random times, many more of them than `make test` does.
soak:
	LAKESQL_KILLS=1000 $(GO) test -tags $(TAGS) -count=1 -timeout 3h -run TestKillAtRandomTimes -v ./integration

# Opens and drops ten thousand connections, many more than `make test` does.
crowd:
	LAKESQL_CROWD=10000 $(GO) test -tags $(TAGS) -count=1 -timeout 30m -run TestConnectionsLeaveNothing -v ./server

# Random queries on batches and on rows, many more of them than `make test` asks. SEED=n asks others, and with QUERY=n only
# the one of that number.
QUERIES := 100000
SEED    := 1
differential:
	LAKESQL_QUERIES=$(QUERIES) LAKESQL_SEED=$(SEED) LAKESQL_QUERY=$(QUERY) $(GO) test -tags $(TAGS) -count=1 -timeout 6h -run TestTwoExecutorsOneAnswer -v ./integration/differential

# go-mysql-server's own suites over our catalog. It writes docs/enginetest.md, or fails where fewer tests pass than it says.
enginetest:
	cd integration/enginetest && CGO_ENABLED=0 go run .

# Each fuzz target for FUZZTIME, one after the other.
FUZZTIME := 10m
fuzz:
	scripts/fuzz $(FUZZTIME)

clean:
	rm -rf bin
