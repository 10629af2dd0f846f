package repo_test

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

// inCommand matches a text that ends within a shell command. Any text that follows is then part of the command.
var inCommand = regexp.MustCompile("(?:^|[\\s(:;,`'])(?:kitescope " +
	"(?:balance|compare|describe|diagnose|diff|engine|explain|get|info|latency|overview|pgo|profile|replay|snapshot|tree|ui|why) |etcdctl |kubectl |docker |go (?:build|tool|test|run) )[^;]*$")

// TestCommandsAreQuoted reports commands that contain text not built by package shellquote, because a user who pastes
// such a command could run an attacker's code. It also checks that only two functions convert text to the hints of
// checks.
func TestCommandsAreQuoted(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(d.Name() == "testdata" || d.Name() == "tools" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		inner := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if why := unquotedText(n, inner); why != "" {
				t.Errorf("%s: %s: make it with package shellquote", fset.Position(n.Pos()), why)
			}
			if makesHint(n) && filepath.ToSlash(path) != "inspect/check/hint.go" &&
				strings.HasPrefix(filepath.ToSlash(path), "inspect/check/") {
				t.Errorf("%s: text becomes a Hint: use Advise or Python", fset.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("%d files looked at", files)
	}
}

// unquotedText returns the problem if an expression puts unquoted text into a command, or "".
func unquotedText(n ast.Node, inner map[ast.Node]bool) string {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		if x.Op != token.ADD || inner[x] {
			return ""
		}
		text := ""
		for _, part := range summands(x, inner) {
			switch s, literal := literalOf(part); {
			case literal:
				text += s
			case inCommand.MatchString(text) && !quotes(part):
				return "a command goes on with text"
			default:
				text += "X"
			}
		}
	case *ast.CallExpr:
		if name := calleeOf(x); name == "Advise" || name == "Python" || len(x.Args) < 2 {
			return ""
		}
		for i, arg := range x.Args {
			format, literal := literalOf(arg)
			if !literal {
				continue
			}
			verbs := regexp.MustCompile(`%(?:\[\d\])?[sqv]`).FindAllStringIndex(format, -1)
			for k, at := range verbs {
				if inCommand.MatchString(format[:at[0]]) && i+1+k < len(x.Args) && !quotes(x.Args[i+1+k]) {
					return "a command has a verb for text"
				}
			}
		}
	}
	return ""
}

// summands returns the operands of a sum, from left to right.
func summands(x ast.Expr, inner map[ast.Node]bool) []ast.Expr {
	b, ok := x.(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD {
		return []ast.Expr{x}
	}
	inner[b] = true
	return append(summands(b.X, inner), summands(b.Y, inner)...)
}

func literalOf(x ast.Expr) (string, bool) {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// quotes reports whether an expression uses package shellquote, or strconv for a number.
func quotes(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok && (of.Name == "shellquote" || of.Name == "strconv") {
				found = true
			}
		}
		return !found
	})
	return found
}

func calleeOf(x *ast.CallExpr) string {
	switch f := x.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// makesHint reports whether a node converts a value to a Hint.
func makesHint(n ast.Node) bool {
	x, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch f := x.Fun.(type) {
	case *ast.Ident:
		return f.Name == "Hint" || f.Name == "ours"
	case *ast.SelectorExpr:
		of, ok := f.X.(*ast.Ident)
		return ok && of.Name == "check" && f.Sel.Name == "Hint"
	}
	return false
}
