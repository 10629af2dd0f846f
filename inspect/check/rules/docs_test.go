package rules_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestDocs checks that docs/CHECKS.md matches the checks.
func TestDocs(t *testing.T) {
	const path = "../../../docs/CHECKS.md"
	want := markdown(rules.All())
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
		t.Errorf("%s is out of date: go test ./inspect/check/rules -run TestDocs -update\n%s", path, diff)
	}
}

// markdown returns the documentation of the checks: docs/CHECKS.md.
func markdown(checks []*check.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Checks

The %d checks of `+"`kitescope diagnose`"+` and of the findings page in the UI. `+"`kitescope explain CHECK`"+` prints
the same and needs no network. This file is generated from the checks: `+"`go test ./inspect/check/rules -update`"+`.

A check is *skipped*, with the reason, if its data was not read, and *failed* if an error stopped it. Neither counts as
*ok*. Checks marked *live* need more than a file of metadata: the processes of a cluster, a bundle saved with
`+"`--live`"+`, or a recording of their responses (`+"`--runtime`"+`).

## By symptom

`+"`kitescope explain --where symptoms~slow`"+` lists the checks of a symptom and what they find.

`, len(checks))
	for _, s := range check.Symptoms() {
		var links []string
		for _, x := range checks {
			if slices.Contains(x.Symptoms, s) {
				links = append(links, fmt.Sprintf("[`%s`](#%s)", x.ID, x.ID))
			}
		}
		fmt.Fprintf(&b, "- **%s**: %s\n", s, strings.Join(links, ", "))
	}
	b.WriteString("\n## All checks\n\n| check | worst severity | live | finds |\n|---|---|---|---|\n")
	for _, x := range checks {
		live := ""
		if x.Live() {
			live = "live"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", x.ID, x.ID, x.Severity, live, x.Title)
	}
	for _, x := range checks {
		writeCheck(&b, x, checks)
	}
	return b.String()
}

func writeCheck(b *strings.Builder, x *check.Check, checks []*check.Check) {
	fmt.Fprintf(b, "\n## %s\n\n%s. Worst severity: %s.\n\n", x.ID, x.Title, x.Severity)
	fmt.Fprintf(b, "%s\n\n**Fix.** %s\n\nReads: %s.\n", strings.TrimSpace(x.Doc), strings.TrimSpace(x.Remedy),
		strings.Join(x.Reads(), "; "))
	fmt.Fprintf(b, "Symptoms: %s.\n", strings.ToLower(strings.Join(x.Symptoms, "; ")))
	if len(x.Phases) > 0 {
		names := make([]string, len(x.Phases))
		for i, name := range x.Phases {
			names[i] = "`" + string(name) + "`"
		}
		noun := "phase"
		if len(names) > 1 {
			noun = "phases"
		}
		fmt.Fprintf(b, "Slows the %s %s (`kitescope latency`).\n", noun, strings.Join(names, ", "))
	}
	causes, effects := check.Causes(x, checks)
	for _, list := range []struct {
		title  string
		checks []*check.Check
	}{{"Possible causes", causes}, {"Possible effects", effects}} {
		if len(list.checks) == 0 {
			continue
		}
		links := make([]string, len(list.checks))
		for i, y := range list.checks {
			links[i] = fmt.Sprintf("[`%s`](#%s)", y.ID, y.ID)
		}
		fmt.Fprintf(b, "%s: %s.\n", list.title, strings.Join(links, ", "))
	}
}

// TestAllIsComplete checks that All contains each check declared in the source, because a check outside the
// list would never run.
func TestAllIsComplete(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	all := rules.All()
	declared := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			id, made := makesCheck(n)
			if !made {
				return true
			}
			declared++
			if id == "" || check.Find(all, id) == nil {
				t.Errorf("%s: the check %q is in no list", set.Position(n.Pos()), id)
			}
			return true
		})
	}
	if declared != len(all) {
		t.Errorf("%d checks are declared, All has %d", declared, len(all))
	}
}

// makesCheck reports whether a node is &check.Check{...}, and returns its id.
func makesCheck(n ast.Node) (id string, made bool) {
	address, ok := n.(*ast.UnaryExpr)
	if !ok {
		return "", false
	}
	literal, ok := address.X.(*ast.CompositeLit)
	if !ok {
		return "", false
	}
	if name, ok := literal.Type.(*ast.SelectorExpr); !ok || name.Sel.Name != "Check" {
		return "", false
	}
	for _, e := range literal.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok || fmt.Sprint(pair.Key) != "ID" {
			continue
		}
		if text, ok := pair.Value.(*ast.BasicLit); ok {
			id, _ = strconv.Unquote(text.Value)
		}
	}
	return id, true
}

// strayBlanks matches blanks at the end of a line and double blanks within a line. It does not match
// indentation.
var strayBlanks = regexp.MustCompile(`(?m)[ \t]+$|\S(?:  |\t)`)

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func TestEveryCheckIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range rules.All() {
		t.Run(x.ID, func(t *testing.T) {
			if !kebab.MatchString(x.ID) || len(x.ID) > 32 {
				t.Error("the id is not short and kebab-case")
			}
			if seen[x.ID] {
				t.Error("the id is there twice")
			}
			seen[x.ID] = true
			if x.Run == nil || x.Severity > check.Error {
				t.Error("it lacks Run or a severity")
			}
			if len(x.Symptoms) == 0 {
				t.Error("it has no symptom")
			}
			if len(x.Reads()) == 0 || x.Parts&^model.PartAll != 0 || x.Needs >= check.NeedStorage<<1 {
				t.Error("it does not say what it reads")
			}
			if x.Title == "" || strings.HasSuffix(x.Title, ".") || strings.ToUpper(x.Title[:1]) != x.Title[:1] ||
				len(x.Title) > 80 {
				t.Errorf("the title is no short sentence without its point: %q", x.Title)
			}
			for name, text := range map[string]string{"Doc": x.Doc, "Remedy": x.Remedy} {
				if len(text) < 40 ||
					!strings.HasSuffix(strings.TrimSpace(text), ".") &&
						!strings.ContainsAny(strings.TrimSpace(text)[len(strings.TrimSpace(text))-1:], "?`") {
					t.Errorf("%s explains nothing, or does not end: %q", name, text)
				}
			}
			for name, text := range map[string]string{"Title": x.Title, "Doc": x.Doc, "Remedy": x.Remedy} {
				if at := strayBlanks.FindStringIndex(text); at != nil {
					t.Errorf("%s has a blank too many: %q", name, text[max(0, at[0]-30):at[1]])
				}
			}
			for _, cause := range x.FollowsFrom {
				if check.Find(rules.All(), cause.Check) == nil || cause.Check == x.ID {
					t.Errorf("it follows from %q, which is no other check", cause.Check)
				}
			}
		})
	}
}

// TestReads checks that each part and each need has exactly one description.
func TestReads(t *testing.T) {
	for i := range 32 {
		part := model.Part(1 << i)
		if part > model.PartAll {
			break
		}
		if got := (&check.Check{Parts: part}).Reads(); len(got) != 1 {
			t.Errorf("part %b is called %q", part, got)
		}
	}
	for need := check.NeedDistribution; need <= check.NeedStorage; need <<= 1 {
		if got := (&check.Check{Needs: need}).Reads(); len(got) != 1 {
			t.Errorf("need %b is called %q", need, got)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []*check.Check{{ID: "a"}, {ID: "b"}, {ID: "c"}}
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
		got, unknown := check.Choose(all, x.only, x.skip)
		if diff := cmp.Diff(x.want, check.IDs(got)); diff != "" || unknown != x.unknown {
			t.Errorf("only %v, skip %v: unknown %q\n%s", x.only, x.skip, unknown, diff)
		}
	}
}
