// Package kitescope_test holds the module to its design: who may import whom, what
// only the commands may touch, and that nothing here can write to an etcd. The
// rules are those of docs/ARCHITECTURE.md.
package kitescope_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "kitescope"
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
		std, "inspect/source", "inspect/secret", "go.etcd.io/etcd/api/v3", "go.etcd.io/etcd/client", "go.uber.org/zap", "github.com/klauspost/compress",
		"golang.org/x/sync", "google.golang.org/grpc", "google.golang.org/protobuf",
	}},
	{"inspect/meta", []string{
		std, "inspect/meta", "inspect/secret", "inspect/source", "inspect/model", "google.golang.org/protobuf", "github.com/klauspost/compress/zstd",
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
	{"profile/report", []string{std, "profile$", "profile/significance"}},
	{"profile/flame", []string{std, "profile$", "profile/report", "profile/significance"}},
	{"profile/pgo", []string{std, "profile$", "profile/significance"}},
	{"profile/gobuild", []string{std, "profile/pgo", "paste"}},
	{"profile/bench/read", []string{std, "profile/bench$", "golang.org/x/perf/benchfmt", "golang.org/x/perf/benchunit"}},
	{"profile/bench$", []string{std, "profile/significance"}},
	{"profile/trial", []string{
		std, "profile$", "profile/read", "profile/pull", "profile/pgo", "profile/gobuild", "profile/bench$", "profile/bench/read", "profile/significance", "paste",
	}},
	{"profile/symbol", []string{std, "profile$", "github.com/ianlancetaylor/demangle"}},
	{"profile/read", []string{std, "profile$", "profile/symbol", "github.com/klauspost/compress"}},
	{"profile/pull", []string{std, "profile$", "inspect/secret"}},
	{"profile/usage", []string{std}},
	{"profile$", []string{std, "github.com/klauspost/compress"}},
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
	{"replay/log", []string{std, "engine$", "engine/dataset", "engine/dist", "github.com/klauspost/compress", "github.com/parquet-go/parquet-go"}},
	{"replay/load", []string{std, "engine$", "profile/significance"}},
	{"replay/schedule", []string{std}},
	{"replay/simulate", []string{std, "profile/significance", "replay/schedule"}},
	{"replay/cache", []string{std, "engine/object"}},
	{"replay/live", []string{
		std, "engine$", "engine/dist", "github.com/jackc/pgx/v5", "github.com/milvus-io/milvus-proto/go-api/v2", "google.golang.org/grpc", "google.golang.org/protobuf", "replay/load", "inspect/secret",
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
		std, "paste", "inspect/model", "inspect/view", "inspect/diff", "inspect/check", "inspect/balance",
		"profile$", "profile/report", "profile/flame", "profile/usage", "profile/pgo", "profile/bench$", "profile/trial",
		"engine$", "engine/dist", "engine/hnsw", "engine/index", "engine/target",
		"replay$", "replay/load", "replay/log", "replay/schedule", "replay/simulate", "replay/whatif", "charm.land/lipgloss/v2",
		"github.com/charmbracelet/x/ansi", "go.yaml.in/yaml/v3", "gonum.org/v1/plot",
	}},
	{"tui", []string{
		std, "tui", "render", "paste", "inspect/model", "inspect/view", "inspect/diff", "inspect/check", "inspect/balance",
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

// pkg is what `go list` says of one package.
type pkg struct {
	Dir, ImportPath, Name, Doc, Export string
	Imports, GoFiles                   []string
	Standard                           bool
	Module                             *struct{ Path string }
}

// path is the package's path inside the module, "" for the root.
func (p *pkg) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// ours reports whether the package is a part of this module's own code.
func (p *pkg) ours() bool {
	return p.Module != nil && p.Module.Path == module && len(p.GoFiles) > 0
}

// testSupport reports whether the package exists for tests of others only.
func (p *pkg) testSupport() bool { return isTestSupport(p.ImportPath) }

func isTestSupport(importPath string) bool {
	return strings.HasPrefix(importPath, module+"/") && strings.HasSuffix(importPath, "test")
}

// list finds every package that the module is built from, by import path.
func list(t *testing.T) map[string]*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-deps", "-export", "-json=Dir,ImportPath,Name,Doc,Export,Imports,GoFiles,Standard,Module", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	found := map[string]*pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatalf("read the answer of go list: %v", err)
		}
		found[p.ImportPath] = p
	}
}

// codebase is what the rules are checked on.
type codebase struct {
	all map[string]*pkg // by import path, dependencies included
	own []*pkg          // this module's, in order
}

func TestArchitecture(t *testing.T) {
	c := codebase{all: list(t)}
	for _, p := range c.all {
		if p.ours() {
			c.own = append(c.own, p)
		}
	}
	slices.SortFunc(c.own, func(a, b *pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	if len(c.own) < 5 {
		t.Fatalf("go list found only %d packages of this module: is this its root?", len(c.own))
	}
	t.Run("packages import only what their layer allows", c.checkImports)
	t.Run("only commands touch the process", c.checkProcess)
	t.Run("nothing writes to a store", c.checkWrites)
	t.Run("packages say what they do", c.checkDocs)
	t.Run("files are short and have no init", c.checkFiles)
}

// below reports whether path is dir or lies in it; of a dir that ends in "$", whether it is just that.
func below(path, dir string) bool {
	if only, exact := strings.CutSuffix(dir, "$"); exact {
		return path == only
	}
	return path == dir || strings.HasPrefix(path, dir+"/")
}

func (c *codebase) checkImports(t *testing.T) {
	for _, p := range c.own {
		if p.testSupport() {
			continue
		}
		at := slices.IndexFunc(layers, func(l layer) bool { return below(p.path(), l.path) })
		if at < 0 {
			t.Errorf("%s belongs to no layer: add it to docs/ARCHITECTURE.md and to layers", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if isTestSupport(imported) {
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, imported)
			}
			if l := layers[at]; l.allow != nil && !c.allowed(l.allow, imported) {
				t.Errorf("%s imports %s: its layer (%s) may not", p.ImportPath, imported, l.path)
			}
		}
	}
}

func (c *codebase) allowed(allow []string, imported string) bool {
	return slices.ContainsFunc(allow, func(a string) bool {
		if a == std {
			return c.all[imported] != nil && c.all[imported].Standard
		}
		return below(imported, a) || below(imported, module+"/"+a)
	})
}

func (c *codebase) checkProcess(t *testing.T) {
	for _, p := range c.own {
		if below(p.path(), "cmd") || p.testSupport() {
			continue
		}
		c.eachUse(t, p, func(where token.Position, object types.Object) {
			names, forbidden := process[object.Pkg().Path()]
			if forbidden && (names == nil || slices.Contains(names, object.Name())) {
				t.Errorf("%s: %s.%s: only cmd may; take a parameter instead", where, object.Pkg().Name(), object.Name())
			}
		})
	}
}

func (c *codebase) checkWrites(t *testing.T) {
	reads := 0
	for _, p := range c.own {
		if p.testSupport() {
			continue
		}
		c.eachUse(t, p, func(where token.Position, object types.Object) {
			if isDemo(where.Filename) || !strings.HasPrefix(object.Pkg().Path(), "go.etcd.io/") {
				return
			}
			reads++
			if slices.Contains(writes, object.Name()) {
				t.Errorf("%s: %s of %s writes; kitescope only reads", where, object.Name(), object.Pkg().Path())
			}
		})
	}
	if reads == 0 {
		t.Error("no mention of etcd found anywhere: the check sees nothing")
	}
}

// isDemo reports whether a file belongs to the demo, which fills an etcd of its own.
func isDemo(file string) bool {
	return strings.HasPrefix(filepath.Base(file), "demo") || filepath.Base(filepath.Dir(file)) == "demo"
}

// eachUse type-checks a package and calls f for each mention of a name that
// another package declares.
func (c *codebase) eachUse(t *testing.T, p *pkg, f func(token.Position, types.Object)) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if dep := c.all[path]; dep != nil {
			return os.Open(dep.Export)
		}
		return nil, fmt.Errorf("no export data of %s", path)
	})}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := config.Check(p.ImportPath, fset, files, info); err != nil {
		t.Fatal(err)
	}
	for ident, object := range info.Uses {
		if object.Pkg() != nil && object.Pkg().Path() != p.ImportPath {
			f(fset.Position(ident.Pos()), object)
		}
	}
}

func (c *codebase) checkDocs(t *testing.T) {
	for _, p := range c.own {
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func (c *codebase) checkFiles(t *testing.T) {
	for _, p := range c.own {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(file) {
				continue
			}
			if n := lines(source); n > maxLines {
				t.Errorf("%s has %d lines, more than %d: is it one subject?", path, n, maxLines)
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s: an init function hides when it runs; call it", fset.Position(f.Pos()))
				}
			}
		}
	}
}

func lines(source []byte) int {
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(source)); s.Scan(); {
		n++
	}
	return n
}
