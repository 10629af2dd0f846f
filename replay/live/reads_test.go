package live

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readOnlyCalls lists the calls of Milvus that this package may make. No call modifies data.
var readOnlyCalls = []string{
	"Connect", "DescribeCollection", "DescribeIndex", "Search", "ShowCollections",
}

func TestReadOnlyCalls(t *testing.T) {
	var names []string
	for m := range reflect.TypeFor[milvusReads]().Methods() {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff(readOnlyCalls, names); diff != "" {
		t.Errorf("calls of milvusReads (-harmless +found):\n%s", diff)
	}
	// Code that holds a connection, or the whole client, could make any call.
	made := 0
	for name, file := range sources(t) {
		for _, decl := range file.Decls {
			f, _ := decl.(*ast.FuncDecl)
			ast.Inspect(decl, func(n ast.Node) bool {
				call, _ := n.(*ast.CallExpr)
				if call == nil {
					return true
				}
				s, _ := call.Fun.(*ast.SelectorExpr)
				switch {
				case s == nil:
				case s.Sel.Name == "NewMilvusServiceClient" && f.Name.Name == "connect",
					strings.HasPrefix(s.Sel.Name, "NewRequest") && f.Name.Name == "get":
					made++
				case s.Sel.Name == "NewStream", s.Sel.Name == "Invoke", strings.HasPrefix(s.Sel.Name, "NewRequest"),
					strings.HasSuffix(s.Sel.Name, "ServiceClient"):
					t.Errorf("%s calls %s", name, s.Sel.Name)
				}
				return true
			})
		}
	}
	if made != 2 {
		t.Errorf("%d clients and requests are made, want one of each", made)
	}
}

func TestStatementsOnlyRead(t *testing.T) {
	write := regexp.MustCompile(`(?i)\b(insert|update|delete|merge|create|drop|alter|truncate|copy|grant|revoke|vacuum|reindex|` +
		`cluster|call|do|lock|nextval|lo_\w+)\b`)
	read := regexp.MustCompile(`^(SELECT|SHOW CREATE TABLE|SET SESSION) `)
	statements := 0
	for name, file := range sources(t) {
		if !strings.HasPrefix(name, "postgres") && !strings.HasPrefix(name, "mariadb") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			sql := strings.Trim(text.Value, "`\"")
			if read.MatchString(sql) {
				statements++
			}
			found := write.FindString(sql)
			asked := read.MatchString(sql) || found == strings.ToUpper(found)
			if strings.HasPrefix(sql, "SHOW CREATE TABLE ") {
				return true // only shows the definition
			}
			if found != "" && asked && sql != "run CREATE EXTENSION vector" {
				t.Errorf("%s: %q is in %q", name, found, sql)
			}
			return true
		})
	}
	if statements < 11 {
		t.Errorf("%d statements were found, want all", statements)
	}
}

func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = file
	}
	return files
}
