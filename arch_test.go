// Package kitescope_test holds the module to its design: who may import whom, what
// only the commands may touch, and that nothing here can write to an etcd. The
// rules are those of docs/ARCHITECTURE.md. They look at syntax alone: files of every
// platform, in no more time than it takes to read them.
package kitescope_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "kitescope"
	etcd     = "go.etcd.io"
	maxLines = 400
)

// std stands for the whole standard library in a list of allowed imports.
const std = "std"

type layer struct {
	path  string
	allow []string // nil: anything
}

// layers says what the packages below a path may import directly, themselves
// included. A path that ends in "$", as in depguard, is that package and none below
// it. A path that is missing here may not exist.
var layers = []layer{
	{"inspect/model", []string{std}},
	{"inspect/source", []string{
		std, "words", "inspect/source", "inspect/secret", "go.etcd.io/etcd/api/v3", "go.etcd.io/etcd/client", "go.uber.org/zap", "github.com/klauspost/compress",
		"golang.org/x/sync", "google.golang.org/grpc", "google.golang.org/protobuf",
	}},
	{"words", []string{std}},
	{"inspect/meta", []string{
		std, "words", "inspect/meta", "inspect/secret", "inspect/source", "inspect/model", "google.golang.org/protobuf", "github.com/klauspost/compress/zstd",
		"github.com/milvus-io/milvus/pkg/v2/proto", "github.com/milvus-io/milvus-proto/go-api/v2",
	}},
	{"inspect/secret", []string{std}},
	{"inspect/live", []string{
		std, "inspect/live", "inspect/secret", "inspect/model", "google.golang.org/grpc", "google.golang.org/protobuf", "golang.org/x/net/proxy",
		"github.com/milvus-io/milvus/pkg/v2/proto", "github.com/milvus-io/milvus-proto/go-api/v2", "github.com/prometheus/common/expfmt",
		"github.com/prometheus/common/model", "github.com/prometheus/client_model", "github.com/twmb/franz-go", "github.com/klauspost/compress/zstd",
	}},
	{"paste", []string{std}},
	{"inspect/balance", []string{std, "inspect/model", "paste"}},
	{"inspect/check", []string{std, "inspect/model", "inspect/balance", "paste"}},
	{"inspect/diff", []string{std, "inspect/model"}},
	{"inspect/view", []string{std, "inspect/model"}},
	{"profile/significance", []string{std, "golang.org/x/perf/benchmath"}},
	{"profile/report", []string{std, "words", "profile$", "profile/significance"}},
	{"profile/flame", []string{std, "words", "profile$", "profile/report", "profile/significance"}},
	{"profile/pgo", []string{std, "words", "profile$", "profile/significance"}},
	{"profile/gobuild", []string{std, "words", "profile/pgo", "paste"}},
	{"profile/bench/read", []string{std, "words", "profile/bench$", "golang.org/x/perf/benchfmt", "golang.org/x/perf/benchunit"}},
	{"profile/bench$", []string{std, "words", "profile/significance"}},
	{"profile/trial", []string{
		std, "words", "profile$", "profile/read", "profile/pull", "profile/pgo", "profile/gobuild", "profile/bench$", "profile/bench/read", "profile/significance", "paste",
	}},
	{"profile/symbol", []string{std, "words", "profile$", "github.com/ianlancetaylor/demangle"}},
	{"profile/read", []string{std, "words", "profile$", "profile/symbol", "github.com/klauspost/compress"}},
	{"profile/pull", []string{std, "words", "profile$", "inspect/secret"}},
	{"profile/usage", []string{std}},
	{"profile$", []string{std, "words", "github.com/klauspost/compress"}},
	{"engine/dist", []string{std, "golang.org/x/sys/cpu"}},
	{"engine/flat", []string{std, "engine$", "engine/dist"}},
	{"engine/hnsw", []string{std, "engine$", "engine/dist"}},
	{"engine/ivf", []string{std, "engine$", "engine/dist", "engine/flat"}},
	{"engine/object", []string{std, "inspect/secret", "github.com/minio/minio-go/v7", "github.com/klauspost/compress"}},
	{"engine/binlog", []string{std, "engine$", "engine/dist", "engine/object", "github.com/parquet-go/parquet-go", "github.com/klauspost/compress"}},
	{"engine/index", []string{
		std, "engine$", "engine/dist", "engine/flat", "engine/hnsw", "engine/ivf", "engine/object", "engine/binlog", "golang.org/x/sys",
	}},
	{"engine/dataset", []string{std, "engine$", "engine/dist", "engine/object", "github.com/parquet-go/parquet-go"}},
	{"engine/segment", []string{
		std, "engine$", "engine/dist", "engine/flat", "engine/hnsw", "engine/ivf", "engine/object", "engine/binlog", "engine/index",
	}},
	{"engine/target", []string{
		std, "engine$", "engine/dist", "engine/flat", "engine/hnsw", "engine/ivf", "engine/object", "engine/binlog", "engine/index", "engine/dataset",
	}},
	{"engine$", []string{std, "engine/dist", "golang.org/x/sys/unix"}},
	{"replay/log", []string{std, "words", "engine$", "engine/dataset", "engine/dist", "github.com/klauspost/compress", "github.com/parquet-go/parquet-go"}},
	{"replay/load", []string{std, "engine$", "profile/significance"}},
	{"replay/schedule", []string{std}},
	{"replay/simulate", []string{std, "profile/significance", "replay/schedule"}},
	{"replay/cache", []string{std, "words", "engine/object"}},
	{"replay/live", []string{
		std, "words", "engine$", "engine/dist", "github.com/jackc/pgx/v5", "github.com/milvus-io/milvus-proto/go-api/v2", "google.golang.org/grpc", "google.golang.org/protobuf", "replay/load", "inspect/secret",
	}},
	{"replay/layout", []string{
		std, "engine$", "engine/binlog", "engine/dist", "engine/segment", "inspect/balance", "inspect/model", "replay$", "replay/schedule",
	}},
	{"replay/whatif", []string{
		std, "engine$", "engine/binlog", "engine/dataset", "engine/dist", "engine/flat", "engine/hnsw", "engine/index", "engine/ivf", "engine/object", "engine/segment", "profile/significance", "replay$", "replay/load", "replay/log", "replay/schedule", "replay/simulate",
	}},
	{"replay$", []string{
		std, "engine$", "engine/binlog", "engine/dataset", "engine/dist", "engine/flat", "engine/hnsw", "engine/index", "engine/ivf", "engine/object", "engine/segment", "profile/significance", "replay/load", "replay/log", "replay/schedule",
	}},
	{"render", []string{
		std, "words", "paste", "inspect/model", "inspect/view", "inspect/diff", "inspect/check", "inspect/balance",
		"profile$", "profile/report", "profile/flame", "profile/usage", "profile/pgo", "profile/bench$", "profile/trial",
		"engine$", "engine/dist", "engine/hnsw", "engine/index", "engine/target",
		"replay$", "replay/load", "replay/log", "replay/schedule", "replay/simulate", "replay/whatif", "charm.land/lipgloss/v2",
		"github.com/charmbracelet/x/ansi", "go.yaml.in/yaml/v3", "gonum.org/v1/plot",
	}},
	{"tui", []string{
		std, "words", "tui", "render", "paste", "inspect/model", "inspect/view", "inspect/diff", "inspect/check", "inspect/balance",
		"profile$", "profile/report", "profile/flame", "profile/pgo", "profile/bench$",
		"replay$", "replay/load", "replay/whatif", "charm.land", "github.com/charmbracelet",
	}},
	{"cmd", nil},
}

// process is what only the commands may touch: everyone else takes a parameter.
var process = map[string][]string{
	"os":                     {"Exit", "Stdin", "Stdout", "Stderr", "Args", "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv"},
	"flag":                   nil, // all of it
	"log":                    nil,
	"github.com/spf13/cobra": nil,
	"github.com/spf13/pflag": nil,
}

// writes are the names, in the packages of etcd and bbolt, that change a store.
var writes = []string{
	"Put", "OpPut", "PutRequest", "Delete", "OpDelete", "DeleteRange", "DeleteRangeRequest", "Txn", "OpTxn", "TxnRequest",
	"Grant", "LeaseGrant", "LeaseGrantRequest", "Revoke", "LeaseRevoke", "KeepAlive", "KeepAliveOnce", "LeaseKeepAlive", "NewLease",
	"NewLeaseClient", "Compact", "CompactionRequest", "OpCompact", "Restore", "Defragment", "MoveLeader", "AlarmDisarm", "Downgrade",
	"MemberAdd", "MemberAddAsLearner", "MemberRemove", "MemberUpdate", "MemberPromote", "AuthEnable", "AuthDisable", "UserAdd", "UserDelete",
	"UserChangePassword", "UserGrantRole", "UserRevokeRole", "RoleAdd", "RoleDelete", "RoleGrantPermission", "RoleRevokePermission",
	"Update", "Batch", "CreateBucket", "CreateBucketIfNotExists", "DeleteBucket",
}

func TestArchitecture(t *testing.T) {
	tree, err := parseTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.packages) < 5 {
		t.Fatalf("only %d packages were found: is this the module's root?", len(tree.packages))
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, broken := range r.check(tree) {
				t.Error(broken)
			}
		})
	}
}

// rules say what is wrong in a tree, one line each.
var rules = []struct {
	name  string
	check func(*tree) []string
}{
	{"packages import only what their layer allows", wrongImports},
	{"only commands touch the process", touchesProcess},
	{"nothing writes to a store", writesToStores},
	{"no etcd leaves the package that reads it", leaksStores},
	{"packages say what they do", undocumented},
	{"files are short and have no init", wrongFiles},
}

// below reports whether path is dir or lies in it; of a dir that ends in "$", whether it is just that.
func below(path, dir string) bool {
	if only, exact := strings.CutSuffix(dir, "$"); exact {
		return path == only
	}
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// testSupport reports whether a package exists for tests of others only.
func testSupport(path string) bool { return strings.HasSuffix(path, "test") }

func wrongImports(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if testSupport(p.path) {
			continue
		}
		at := slices.IndexFunc(layers, func(l layer) bool { return below(p.path, l.path) })
		if at < 0 {
			broken = append(broken, p.path+" belongs to no layer: add it to docs/ARCHITECTURE.md and to layers")
			continue
		}
		for _, f := range p.files {
			for _, imported := range f.imports {
				own, ours := strings.CutPrefix(imported.path, module+"/")
				if ours && testSupport(own) {
					broken = append(broken, fmt.Sprintf("%s imports %s, which is for tests", f.path, imported.path))
				}
				if l := layers[at]; l.allow != nil && !allowed(l.allow, imported.path) {
					broken = append(broken, fmt.Sprintf("%s imports %s: its layer (%s) may not", f.path, imported.path, l.path))
				}
			}
		}
	}
	return broken
}

func allowed(allow []string, imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return slices.ContainsFunc(allow, func(a string) bool {
		if a == std {
			return first != module && !strings.Contains(first, ".")
		}
		return below(imported, a) || below(imported, module+"/"+a)
	})
}

func touchesProcess(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if below(p.path, "cmd") || testSupport(p.path) {
			continue
		}
		for _, f := range p.files {
			for _, i := range f.imports {
				if names, forbidden := process[i.path]; forbidden && names == nil || i.name == "." {
					broken = append(broken, fmt.Sprintf("%s imports %s: only cmd may; take a parameter instead", f.path, i.path))
				}
			}
			f.selectors(func(of imported, s *ast.SelectorExpr) {
				if slices.Contains(process[of.path], s.Sel.Name) {
					broken = append(broken, fmt.Sprintf("%s: %s.%s: only cmd may; take a parameter instead", f.at(s), of.name, s.Sel.Name))
				}
			})
		}
	}
	return broken
}

// isDemo reports whether a file belongs to the demo, which fills an etcd of its own.
func isDemo(file string) bool {
	return strings.HasPrefix(path.Base(file), "demo") || path.Base(path.Dir(file)) == "demo"
}

// writesToStores finds what could change an etcd: any mention of a name that writes, in a package that knows etcd,
// but of other packages' functions. In package main only the demo may know it.
func writesToStores(tree *tree) (broken []string) {
	reads := 0
	for _, p := range tree.packages {
		knows := slices.ContainsFunc(p.files, func(f *file) bool { return !isDemo(f.path) && f.knows(etcd) })
		if !knows || testSupport(p.path) {
			continue
		}
		if below(p.path, "cmd") {
			broken = append(broken, p.path+" imports "+etcd+" outside of the demo")
		}
		for _, f := range p.files {
			f.selectors(func(of imported, s *ast.SelectorExpr) {
				if below(of.path, etcd) {
					reads++
				}
				if slices.Contains(writes, s.Sel.Name) && (of.path == "" || below(of.path, etcd)) {
					broken = append(broken, fmt.Sprintf("%s: %s writes; kitescope only reads", f.at(s), s.Sel.Name))
				}
			})
		}
	}
	if reads == 0 {
		broken = append(broken, "no mention of etcd found anywhere: the check sees nothing")
	}
	return broken
}

// leaksStores finds exported declarations with types of etcd in them, by which others could write without importing it.
func leaksStores(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if testSupport(p.path) || below(p.path, "cmd") {
			continue
		}
		for _, f := range p.files {
			if !f.knows(etcd) {
				continue
			}
			for _, shown := range exported(f.syntax) {
				ast.Inspect(shown, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && below(f.importOf(s).path, etcd) {
						broken = append(broken, fmt.Sprintf("%s: %s of %s leaves the package: hand on a value of your own", f.at(s), s.Sel.Name, f.importOf(s).path))
					}
					return true
				})
			}
		}
	}
	return broken
}

func undocumented(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if !slices.ContainsFunc(p.files, func(f *file) bool { return f.syntax.Doc.Text() != "" }) {
			broken = append(broken, p.path+" has no package comment")
		}
	}
	return broken
}

func wrongFiles(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		for _, f := range p.files {
			if ast.IsGenerated(f.syntax) {
				continue
			}
			if f.lines > maxLines {
				broken = append(broken, fmt.Sprintf("%s has %d lines, more than %d: is it one subject?", f.path, f.lines, maxLines))
			}
			for _, decl := range f.syntax.Decls {
				if d, ok := decl.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
					broken = append(broken, f.at(d)+": an init function hides when it runs; call it")
				}
			}
		}
	}
	return broken
}

func lines(source []byte) int {
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(source)); s.Scan(); {
		n++
	}
	return n
}
