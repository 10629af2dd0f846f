package profile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsCompile finds what would panic on first use only: every pattern of this folder and those below it.
func TestPatternsCompile(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		named := constants(file)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNewPattern(call.Fun) {
				return true
			}
			found++
			if text, ok := constant(call.Args[0], named); !ok {
				t.Errorf("%s: a pattern that is no constant", path)
			} else if _, err := regexp.Compile(text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("found %d patterns: is this looking in the right place?", found)
	}
}

func isNewPattern(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name == "NewPattern"
	case *ast.SelectorExpr:
		return f.Sel.Name == "NewPattern"
	}
	return false
}

// constants are the texts that have a name in a file.
func constants(file *ast.File) map[string]string {
	named := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != len(spec.Values) {
			return true
		}
		for i, name := range spec.Names {
			if text, ok := constant(spec.Values[i], nil); ok {
				named[name.Name] = text
			}
		}
		return true
	})
	return named
}

// constant is the value of a literal or of a name, or of several that are added up.
func constant(e ast.Expr, named map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.Ident:
		text, ok := named[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok := constant(e.X, named)
		right, ok2 := constant(e.Y, named)
		return left + right, ok && ok2 && e.Op == token.ADD
	}
	return "", false
}
