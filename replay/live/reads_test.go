package live

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// harmless are the calls of a Milvus that change no data, of those that the package makes.
var harmless = []string{
	"Connect", "DescribeCollection", "DescribeIndex", "GetCollectionStatistics", "GetMetrics", "Search", "ShowCollections",
}

func TestOnlyReadsCanBeCalled(t *testing.T) {
	var names []string
	for m := range reflect.TypeFor[milvusReads]().Methods() {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff(harmless, names); diff != "" {
		t.Errorf("calls of milvusReads (-harmless +found):\n%s", diff)
	}
	// Whoever holds a connection could call anything.
	var calls []string
	for name, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				if s := f.Sel.Name; s == "NewStream" || strings.HasPrefix(s, "NewRequest") && name != "opensearch_reads.go" || s == "Invoke" && name != "milvus_reads.go" || strings.HasSuffix(s, "ServiceClient") {
					t.Errorf("%s calls %s", name, s)
				}
			case *ast.Ident:
				if f.Name == "called" {
					calls = append(calls, strings.Trim(call.Args[2].(*ast.BasicLit).Value, `"`))
				}
			}
			return true
		})
	}
	if slices.Sort(calls); !slices.Equal(calls, harmless) {
		t.Errorf("called by name: %v, want %v", calls, harmless)
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
				return true // which only shows it
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
