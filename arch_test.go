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
	"slices"
	"strings"
	"testing"
)

const (
	module   = "kitescope"
	etcd     = "go.etcd.io"
	maxLines = 400
	// document has the table of who may import whom.
	document = "docs/ARCHITECTURE.md"
)

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

// below reports whether path is dir or lies in it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// testSupport reports whether a package exists for tests of others only.
func testSupport(path string) bool { return strings.HasSuffix(path, "test") }

func wrongImports(tree *tree) (broken []string) {
	used := map[string]bool{}
	for _, p := range tree.packages {
		if testSupport(p.path) {
			continue
		}
		row, ok := tree.rowOf(p.path)
		if !ok {
			broken = append(broken, p.path+" has no row in the table of "+document)
			continue
		}
		used[row] = true
		for _, f := range p.files {
			for _, imported := range f.imports {
				own, ours := strings.CutPrefix(imported.path, module+"/")
				if ours && testSupport(own) {
					broken = append(broken, fmt.Sprintf("%s imports %s, which is for tests", f.path, imported.path))
				}
				if !below(own, row) && !tree.imports[row].allows(imported.path) {
					broken = append(broken, fmt.Sprintf("%s imports %s: its row (%s) in %s does not allow it", f.path, imported.path, row, document))
				}
			}
		}
	}
	for row := range tree.imports {
		if !used[row] {
			broken = append(broken, row+" has a row in the table of "+document+" and no files")
		}
	}
	return broken
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

// writesToStores finds what could change an etcd: any mention of a name that writes, in a package that knows etcd,
// but of other packages' functions. Commands do not know it at all.
func writesToStores(tree *tree) (broken []string) {
	reads := 0
	for _, p := range tree.packages {
		knows := slices.ContainsFunc(p.files, func(f *file) bool { return f.knows(etcd) })
		if !knows || testSupport(p.path) {
			continue
		}
		if below(p.path, "cmd") {
			broken = append(broken, p.path+" imports "+etcd+", which only inspect/source knows")
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
