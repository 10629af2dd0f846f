package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writtenKey is a key that the code writes, with its position.
type writtenKey struct{ name, at string }

// writtenKeys returns the keys that packages pass to an Encoder. Golden files may lack a key that is written rarely.
func writtenKeys(t *testing.T) []writtenKey {
	t.Helper()
	return inCode(t, 300, func(n ast.Node) string {
		if name := keyIn(n); keyName.MatchString(name) {
			return name
		}
		return ""
	}, "../../render", "../../replay", "../../engine/target", "../../inspect/balance")
}

// writtenKinds returns the kinds of documents that appear in the code.
func writtenKinds(t *testing.T) []writtenKey {
	t.Helper()
	return inCode(t, 20, func(n ast.Node) string {
		field, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return ""
		}
		name, ok := field.Key.(*ast.Ident)
		literal, is := field.Value.(*ast.BasicLit)
		if !ok || !is || name.Name != "Kind" || literal.Kind != token.STRING {
			return ""
		}
		// lower-case kinds are kinds of runs
		if kind, _ := strconv.Unquote(literal.Value); strings.ToLower(kind) != kind {
			return kind
		}
		return ""
	}, "../../render", "../../replay")
}

// inCode returns the names that find returns for the nodes of the packages below roots. The test fails if there
// are fewer than least.
func inCode(t *testing.T, least int, find func(n ast.Node) string, roots ...string) (all []writtenKey) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if d.IsDir() && path == filepath.FromSlash("../../replay/live") { // contains keys of requests to servers
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if name := find(n); name != "" {
					all = append(all, writtenKey{name, set.Position(n.Pos()).String()})
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < least {
		t.Errorf("only %d names were found in the code", len(all))
	}
	return all
}

var keyName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// keyIn returns the key that a node names, or "". A key is an argument of an Encoder, a column or a log entry,
// the Key field of a table entry, or the tag of a struct field.
func keyIn(n ast.Node) string {
	var of ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		if at, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
			switch {
			case slices.Contains([]string{"Entry", "NonZero", "Key", "Add"}, at.Sel.Name):
				of = n.Args[0]
			case at.Sel.Name == "count" && len(n.Args) == 3:
				of = n.Args[1]
			}
		}
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Key" {
			of = n.Value
		}
	case *ast.Field:
		if n.Tag != nil {
			tag, _ := strconv.Unquote(n.Tag.Value)
			name, _, _ := strings.Cut(reflect.StructTag(tag).Get("doc"), ",")
			return name
		}
	}
	literal, ok := of.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	name, _ := strconv.Unquote(literal.Value)
	return name
}
