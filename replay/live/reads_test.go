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
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
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
	// Whoever holds a connection or a whole client could call anything.
	var client []string
	for m := range reflect.TypeFor[milvuspb.MilvusServiceClient]().Methods() {
		client = append(client, m.Name)
	}
	made := 0
	for name, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch called := s.Sel.Name; {
			case called == "NewMilvusServiceClient":
				made++
			case called == "MilvusServiceClient", called == "NewStream", strings.HasPrefix(called, "RegisterMilvus"):
				t.Errorf("%s uses %s", name, called)
			case called == "Invoke":
				t.Errorf("%s calls by name", name)
			case strings.HasPrefix(name, "milvus") && slices.Contains(client, called) && !slices.Contains(harmless, called):
				t.Errorf("%s calls %s", name, called)
			}
			return true
		})
	}
	if field, ok := reflect.TypeFor[connection]().FieldByName("milvusReads"); made != 1 || !ok || field.Type.Kind() != reflect.Interface {
		t.Errorf("a client is made %d times, want once, for connection.milvusReads", made)
	}
}

func TestStatementsOnlyRead(t *testing.T) {
	write := regexp.MustCompile(`(?i)\b(insert|update|delete|merge|create|drop|alter|truncate|copy|grant|revoke|vacuum|reindex|` +
		`cluster|call|do|lock|nextval|lo_\w+)\b`)
	read := regexp.MustCompile(`^SELECT `)
	statements := 0
	for name, file := range sources(t) {
		if !strings.HasPrefix(name, "postgres") {
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
			if found != "" && asked && sql != "run CREATE EXTENSION vector" {
				t.Errorf("%s: %q is in %q", name, found, sql)
			}
			return true
		})
	}
	if statements < 6 {
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
