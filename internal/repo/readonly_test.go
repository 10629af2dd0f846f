// Package repo_test checks the rules of docs/ARCHITECTURE.md: which layer may import which, what only commands may
// use, that nothing can write to an etcd, that printed commands are quoted, and that links in documents have targets.
// The rules use syntax only and cover the files of all platforms.
package repo_test

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	module = "kitescope"
	root   = "../.."
	etcd   = "go.etcd.io"
)

// process holds the names that only commands may use, by package. Other packages take a parameter instead.
var process = map[string][]string{
	"os": {
		"Exit", "Stdin", "Stdout", "Stderr", "Args", "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv",
	},
	"flag":                   nil, // the whole package
	"log":                    nil,
	"github.com/spf13/cobra": nil,
	"github.com/spf13/pflag": nil,
}

// writes are the names in the packages of etcd and bbolt that change a store.
var writes = []string{
	"Put", "OpPut", "PutRequest", "Delete", "OpDelete", "DeleteRange", "DeleteRangeRequest", "Txn", "OpTxn",
	"TxnRequest", "Grant", "LeaseGrant", "LeaseGrantRequest", "Revoke", "LeaseRevoke", "KeepAlive", "KeepAliveOnce",
	"LeaseKeepAlive", "NewLease", "NewLeaseClient", "Compact", "CompactionRequest", "OpCompact", "Restore",
	"Defragment", "MoveLeader", "AlarmDisarm", "Downgrade", "MemberAdd", "MemberAddAsLearner", "MemberRemove",
	"MemberUpdate", "MemberPromote", "AuthEnable", "AuthDisable", "UserAdd", "UserDelete", "UserChangePassword",
	"UserGrantRole", "UserRevokeRole", "RoleAdd", "RoleDelete", "RoleGrantPermission", "RoleRevokePermission",
	"Update", "Batch", "CreateBucket", "CreateBucketIfNotExists", "DeleteBucket",
}

func TestRules(t *testing.T) {
	tree := moduleTree(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, broken := range r.check(tree) {
				t.Error(broken)
			}
		})
	}
}

// moduleTree parses this module.
func moduleTree(t *testing.T) *tree {
	t.Helper()
	tree, err := parseTree(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.packages) < 5 {
		t.Fatalf("only %d packages were found: is this the module's root?", len(tree.packages))
	}
	return tree
}

// rules holds the rules. check returns a line for each violation in a tree.
var rules = []struct {
	name  string
	check func(*tree) []string
}{
	{"only commands touch the process", touchesProcess},
	{"nothing writes to a store", writesToStores},
	{"no etcd leaves the package that reads it", leaksStores},
}

// below reports whether path is dir or below it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// testSupport reports whether a package exists only for tests of other packages.
func testSupport(path string) bool { return strings.HasSuffix(path, "test") }

func touchesProcess(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if below(p.path, "cmd") || testSupport(p.path) {
			continue
		}
		for _, f := range p.files {
			for _, i := range f.imports {
				if names, forbidden := process[i.path]; forbidden && names == nil || i.name == "." {
					broken = append(broken,
						fmt.Sprintf("%s imports %s: only cmd may; take a parameter instead", f.path, i.path))
				}
			}
			f.selectors(func(of imported, s *ast.SelectorExpr) {
				if slices.Contains(process[of.path], s.Sel.Name) {
					broken = append(broken,
						fmt.Sprintf("%s: %s.%s: only cmd may; take a parameter instead", f.at(s), of.name, s.Sel.Name))
				}
			})
		}
	}
	return broken
}

// writesToStores reports uses of names that change a store, in packages that import etcd. It ignores functions of
// packages other than etcd's. Commands may not import etcd at all.
func writesToStores(tree *tree) (broken []string) {
	reads := 0
	for _, p := range tree.packages {
		knows := slices.ContainsFunc(p.files, func(f *file) bool { return f.importsBelow(etcd) })
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

// leaksStores reports exported declarations with types of etcd, because other packages could use them to write
// without importing etcd.
func leaksStores(tree *tree) (broken []string) {
	for _, p := range tree.packages {
		if testSupport(p.path) || below(p.path, "cmd") {
			continue
		}
		for _, f := range p.files {
			if !f.importsBelow(etcd) {
				continue
			}
			for _, shown := range exported(f.syntax) {
				ast.Inspect(shown, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && below(f.importOf(s).path, etcd) {
						broken = append(broken,
							fmt.Sprintf("%s: %s of %s leaves the package: hand on a value of your own", f.at(s),
								s.Sel.Name, f.importOf(s).path))
					}
					return true
				})
			}
		}
	}
	return broken
}
