package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
)

// TestDocs holds docs/CHECKS.md to the checks.
func TestDocs(t *testing.T) {
	const path = "../../docs/CHECKS.md"
	want := Markdown(All)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is out of date: go test ./inspect/check -run TestDocs -update\n%s", path, diff)
	}
}

// TestAllIsComplete reads the package's source: a check that is declared and not in All would
// never run.
func TestAllIsComplete(t *testing.T) {
	declared, listed := sources(t)
	for name, where := range declared {
		if !slices.Contains(listed, name) {
			t.Errorf("%s: the check %s is not in All", where, name)
		}
	}
	for _, name := range listed {
		if declared[name] == "" {
			t.Errorf("All has %s, which is no check of this package", name)
		}
	}
	if len(listed) != len(All) || len(declared) != len(All) {
		t.Errorf("%d checks are declared, %d named in All, which has %d", len(declared), len(listed), len(All))
	}
}

// sources finds the variables and functions that make a Check, by name, and the names in All.
func sources(t *testing.T) (declared map[string]string, listed []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	declared = map[string]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, spec := range general.Specs {
				v := spec.(*ast.ValueSpec)
				for i, value := range v.Values {
					switch {
					case v.Names[i].Name == "All":
						listed = namesIn(value)
					case makesCheck(value):
						declared[v.Names[i].Name] = fmt.Sprint(set.Position(v.Pos()))
					}
				}
			}
		}
	}
	return declared, listed
}

// makesCheck reports whether an expression is &Check{...}.
func makesCheck(e ast.Expr) bool {
	address, ok := e.(*ast.UnaryExpr)
	if !ok {
		return false
	}
	literal, ok := address.X.(*ast.CompositeLit)
	if !ok {
		return false
	}
	name, ok := literal.Type.(*ast.Ident)
	return ok && name.Name == "Check"
}

func namesIn(e ast.Expr) []string {
	var names []string
	list, _ := e.(*ast.CompositeLit)
	for _, x := range list.Elts {
		name, ok := x.(*ast.Ident)
		if !ok {
			names = append(names, fmt.Sprintf("%T", x))
			continue
		}
		names = append(names, name.Name)
	}
	return names
}

// strayBlanks matches blanks at the end of a line, and two within one: indents are none.
var strayBlanks = regexp.MustCompile(`(?m)[ \t]+$|\S(?:  |\t)`)

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func TestEveryCheckIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range All {
		t.Run(x.ID, func(t *testing.T) {
			if !kebab.MatchString(x.ID) || len(x.ID) > 32 {
				t.Error("the id is not short and kebab-case")
			}
			if seen[x.ID] {
				t.Error("the id is there twice")
			}
			seen[x.ID] = true
			if x.Run == nil || x.Since == "" || x.Severity > Error {
				t.Error("it lacks Run, Since or a severity")
			}
			if len(x.Reads()) == 0 || x.Parts&^model.PartAll != 0 || x.Needs >= NeedStorage<<1 {
				t.Error("it does not say what it reads")
			}
			if x.Title == "" || strings.HasSuffix(x.Title, ".") || strings.ToUpper(x.Title[:1]) != x.Title[:1] || len(x.Title) > 80 {
				t.Errorf("the title is no short sentence without its point: %q", x.Title)
			}
			for name, text := range map[string]string{"Doc": x.Doc, "Remedy": x.Remedy} {
				if len(text) < 40 || !strings.HasSuffix(strings.TrimSpace(text), ".") && !strings.ContainsAny(strings.TrimSpace(text)[len(strings.TrimSpace(text))-1:], "?`") {
					t.Errorf("%s explains nothing, or does not end: %q", name, text)
				}
			}
			for name, text := range map[string]string{"Title": x.Title, "Doc": x.Doc, "Remedy": x.Remedy} {
				if at := strayBlanks.FindStringIndex(text); at != nil {
					t.Errorf("%s has a blank too many: %q", name, text[max(0, at[0]-30):at[1]])
				}
			}
			for _, cause := range x.FollowsFrom {
				if Find(cause.Check) == nil || cause.Check == x.ID {
					t.Errorf("it follows from %q, which is no other check", cause.Check)
				}
			}
		})
	}
}

// TestReads: each part and need has a word.
func TestReads(t *testing.T) {
	for i := range 32 {
		part := model.Part(1 << i)
		if part > model.PartAll {
			break
		}
		if got := (&Check{Parts: part}).Reads(); len(got) != 1 {
			t.Errorf("part %b is called %q", part, got)
		}
	}
	for need := NeedDistribution; need <= NeedStorage; need <<= 1 {
		if got := (&Check{Needs: need}).Reads(); len(got) != 1 {
			t.Errorf("need %b is called %q", need, got)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []*Check{fake("a"), fake("b"), fake("c")}
	for _, x := range []struct {
		only, skip []string
		want       []string
		unknown    string
	}{
		{nil, nil, []string{"a", "b", "c"}, ""},
		{[]string{"c", "a"}, nil, []string{"a", "c"}, ""},
		{nil, []string{"b"}, []string{"a", "c"}, ""},
		{[]string{"a", "b"}, []string{"b"}, []string{"a"}, ""},
		{[]string{"a", "d"}, nil, []string{}, "d"},
		{nil, []string{"d"}, []string{}, "d"},
	} {
		got, unknown := Choose(all, x.only, x.skip)
		if diff := cmp.Diff(x.want, IDs(got)); diff != "" || unknown != x.unknown {
			t.Errorf("only %v, skip %v: unknown %q\n%s", x.only, x.skip, unknown, diff)
		}
	}
}
