package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoMethodWrites compares the method sets of types with access to an etcd with a list, so that no method
// that writes can be added without a change of this test.
func TestNoMethodWrites(t *testing.T) {
	want := map[reflect.Type][]string{
		reflect.TypeFor[*Etcd](): {
			"Activity", "Alive", "Changes", "Close", "GetAt", "Health", "Oldest", "Origin", "Pin", "PinAt", "Watch",
		},
		reflect.TypeFor[*etcdSnapshot](): {"Close", "Gaps", "Header", "Scan", "Seekable"},
		// Its methods are unexported, and its fields are not accessible from outside.
		reflect.TypeFor[*reader](): nil,
	}
	for typ, names := range want {
		var got []string
		for m := range typ.Methods() {
			got = append(got, m.Name)
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("methods of %s (-want +got):\n%s", typ, diff)
		}
		for f := range typ.Elem().Fields() {
			if f.IsExported() || f.Anonymous {
				t.Errorf("%s.%s gives access to what is inside", typ, f.Name)
			}
		}
	}
}

// TestOnlyReadsAreCalled checks every selector in the package: none may be a call that writes to etcd, on any
// receiver.
func TestOnlyReadsAreCalled(t *testing.T) {
	writes := []string{
		"Put", "Delete", "DeleteRange", "Txn", "Do", "Commit", "Compact", "Grant", "Revoke", "KeepAlive", "Defragment",
		"MoveLeader", "AlarmDisarm", "MemberAdd", "MemberRemove", "MemberUpdate", "MemberPromote", "AuthEnable",
		"AuthDisable", "UserAdd", "UserDelete", "UserGrantRole", "UserChangePassword", "RoleAdd", "RoleDelete",
		"RoleGrantPermission", "OpPut", "OpDelete", "OpTxn", "Downgrade", "Snapshot",
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, seen := token.NewFileSet(), 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				seen++
				if slices.Contains(writes, sel.Sel.Name) {
					t.Errorf("%s: call of %s", files.Position(call.Pos()), sel.Sel.Name)
				}
			}
			return true
		})
	}
	if seen < 100 {
		t.Errorf("only %d calls were looked at", seen)
	}
}
