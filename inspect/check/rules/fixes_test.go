package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/inspect/check/faulttest"
)

const (
	fixesFile  = "../../../docs/evidence/fixes.md"
	fixesBegin = "<!-- fixes: begin (rows by go test ./inspect/check/rules -run TestFixes -update; last column by " +
		"make e2e-fixes, or by hand) -->"
	fixesEnd = "<!-- fixes: end -->"
)

// TestFixes checks that docs/evidence/fixes.md has a row for each step of a fix that changes something, with
// how it was tried.
func TestFixes(t *testing.T) {
	text, err := os.ReadFile(fixesFile)
	if err != nil {
		t.Fatal(err)
	}
	old := string(text)
	steps := sourceSteps(t)
	tried := triedFixes(old)
	var b strings.Builder
	rows, played, cured, byHand, looks := 0, 0, 0, 0, 0
	for _, s := range steps {
		if s.onlyInspects() {
			looks++
			continue
		}
		rows++
		how := tried[s.text()]
		if how == "" {
			t.Errorf("%s has nothing on how this fix of %s was tried: %s", fixesFile, s.owners(), s.text())
		}
		played += count(strings.Contains(how, "played on "))
		cured += count(strings.Contains(how, "played on ") && !strings.Contains(how, "not cured"))
		byHand += count(strings.Contains(how, "followed by hand"))
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.owners(), s.text(), s.interrupts, how)
	}
	head := fmt.Sprintf("\n%d fixes: %d were played, and %d of these worked; %d were followed by hand. "+
		"%d more steps only inspect.\n\n", rows, played, cured, byHand, looks) +
		"| checks | fix | interrupts | how it was tried |\n|---|---|---|---|\n"
	if rows < 100 {
		t.Fatalf("only %d steps: the source is not read as it should be", rows)
	}
	want, err := faulttest.ReplaceBetween(old, fixesBegin, fixesEnd, head+b.String())
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case want == old:
	case *update:
		if err := os.WriteFile(fixesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not list the fixes of the checks: go test ./inspect/check/rules -run TestFixes -update",
			fixesFile)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// triedFixes returns the last column of the table by fix.
func triedFixes(document string) map[string]string {
	tried := map[string]string{}
	for line := range strings.Lines(document) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 4 {
			tried[cells[1]] = cells[3]
		}
	}
	return tried
}

// sourceStep is a step of a fix as written in the source.
type sourceStep struct {
	at                   token.Position
	checks               []string
	command, description string // with … for each formatted value
	changes, shell       bool
	interrupts           string
}

func (s *sourceStep) owners() string {
	if len(s.checks) > 4 {
		return fmt.Sprintf("`%s` and %d more", s.checks[0], len(s.checks)-1)
	}
	return "`" + strings.Join(s.checks, "`, `") + "`"
}

func (s *sourceStep) text() string {
	text := s.description
	if s.command != "" {
		text = strings.TrimSuffix("`"+s.command+"`: "+text, ": ")
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", "; "), "|", "/")
}

var inspection = regexp.MustCompile(`^((or|else|then|else|first|no hurry:) )*((if|once|unless) [^,:]*[,:] )?` +
	`(look|check|read|search|see|find|wait|nothing|no action|compare|run the check|try a newer|report|accept|make sure|fix the (cause|reason)|take new)\b`)

// onlyInspects reports whether the step only shows something: it changes nothing, and either runs a command or begins
// with a verb of inspection.
func (s *sourceStep) onlyInspects() bool {
	return !s.changes && (s.shell || inspection.MatchString(s.description))
}

var verbs = regexp.MustCompile(`%%|%[a-z]`)

func fillVerbs(format string) string {
	return verbs.ReplaceAllStringFunc(format, func(v string) string {
		if v == "%%" {
			return "%"
		}
		return "…"
	})
}

// sourceSteps returns the steps in the source of the checks, each with the checks whose code reaches it.
func sourceSteps(t *testing.T) []*sourceStep {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source: %v", err)
	}
	set := token.NewFileSet()
	uses := map[string]map[string]bool{} // identifiers used in each declaration
	steps := map[string][]*sourceStep{}
	ids := map[string]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range declarations(file) {
			name := d.name
			uses[name] = map[string]bool{}
			ast.Inspect(d.node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					uses[name][id.Name] = true
				}
				if id, made := makesCheck(n); made {
					ids[name] = id
				}
				return true
			})
			steps[name] = append(steps[name], stepsIn(set, d.node)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		for reached := range reachable(name, uses, ids) {
			for _, s := range steps[reached] {
				s.checks = append(s.checks, ids[name])
			}
		}
	}
	by := map[string]*sourceStep{}
	for _, s := range slices.Concat(slices.Collect(maps.Values(steps))...) {
		if len(s.checks) == 0 {
			t.Errorf("%s: no check reaches this step", s.at)
			continue
		}
		if same := by[s.text()]; same != nil {
			s.checks = slices.Concat(same.checks, s.checks)
		}
		slices.Sort(s.checks)
		s.checks = slices.Compact(s.checks)
		by[s.text()] = s
	}
	return slices.SortedFunc(maps.Values(by), func(a, b *sourceStep) int {
		return strings.Compare(a.checks[0]+" "+a.text(), b.checks[0]+" "+b.text())
	})
}

type declaration struct {
	name string
	node ast.Node
}

func declarations(file *ast.File) []declaration {
	var all []declaration
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, declaration{d.Name.Name, d})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					all = append(all, declaration{v.Names[0].Name, v})
				}
			}
		}
	}
	return all
}

// reachable returns the declarations that the named one uses, directly or indirectly. It does not follow other
// checks.
func reachable(name string, uses map[string]map[string]bool, ids map[string]string) map[string]bool {
	seen, todo := map[string]bool{name: true}, []string{name}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		for used := range uses[next] {
			if uses[used] != nil && !seen[used] && ids[used] == "" {
				seen[used] = true
				todo = append(todo, used)
			}
		}
	}
	return seen
}

// stepsIn returns the steps created in a declaration, e.g. check.Do(...).Interrupting(...),
// check.Shell(...).Does(...).
func stepsIn(set *token.FileSet, node ast.Node) []*sourceStep {
	var steps []*sourceStep
	inner := map[ast.Node]bool{}
	ast.Inspect(node, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || inner[n] {
			return true
		}
		s := &sourceStep{at: set.Position(n.Pos())}
		for {
			selected, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			inner[call] = true
			if pkg, ok := selected.X.(*ast.Ident); ok {
				if pkg.Name == "check" && s.make(selected.Sel.Name, call.Args) {
					steps = append(steps, s)
				}
				return true
			}
			switch selected.Sel.Name {
			case "Does":
				s.description = constants(call.Args, 0)
			case "Interrupting":
				s.changes, s.interrupts = true, constants(call.Args, 1)
			case "Restarting":
				s.changes, s.interrupts = true, "the work of the role until it is back"
			}
			if call, ok = selected.X.(*ast.CallExpr); !ok {
				return true
			}
		}
	})
	return steps
}

// make reads a call of a constructor in package check, and reports whether it creates a step.
func (s *sourceStep) make(name string, args []ast.Expr) bool {
	switch name {
	case "Do":
		s.description = constants(args, 0)
	case "Shell":
		s.shell, s.command = true, commandIn(args[0])
	case "Pymilvus", "PymilvusIn":
		s.shell, s.command = true, constants(args, 2)
	case "Flush":
		s.changes, s.command, s.description, s.interrupts = true, "Collection(…).flush()", constants(args, 3), "nothing"
	case "Rebuild", "Redefine":
		s.changes, s.command, s.interrupts = true, "c.release(); c.drop_index(…); c.create_index(…); c.load()",
			"searches of … until it is loaded again"
	case "Reload":
		s.changes, s.command, s.interrupts = true, "c = Collection(…); c.release(); c.load()",
			"searches of … until it is loaded again"
	default:
		return false
	}
	return true
}

// commandIn returns the constant words of a command.
func commandIn(e ast.Expr) string {
	var parts []string
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if x.Sel.Name == "Etcdctl" || x.Sel.Name == "Kitescope" {
				parts = append(parts, strings.ToLower(x.Sel.Name))
			}
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				parts = append(parts, unquoted(x))
			}
		}
		return true
	})
	if len(parts) == 0 {
		return "" // created elsewhere
	}
	return strings.Join(parts, " ") + " …"
}

func constants(args []ast.Expr, n int) string {
	if len(args) <= n {
		return ""
	}
	var text strings.Builder
	ast.Inspect(args[n], func(x ast.Node) bool {
		if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text.WriteString(unquoted(l))
		}
		return true
	})
	if text.Len() == 0 {
		return "…"
	}
	return fillVerbs(text.String())
}

func unquoted(l *ast.BasicLit) string {
	text, _ := strconv.Unquote(l.Value)
	return text
}
