package kitescope_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowance is what a package may import besides the standard library, package sorting, which stands beside it, and what is below itself.
type allowance struct {
	everything   bool
	allow, never []string // as they stand in the table: "words/...", "google.golang.org/grpc"
}

// allows reports whether a package may be imported.
func (a allowance) allows(imported string) bool {
	matches := func(pattern string) bool { return match(pattern, imported) }
	return a.everything || foreign(imported) == "" && !below(imported, module) || imported == module+"/sorting" ||
		slices.ContainsFunc(a.allow, matches) && !slices.ContainsFunc(a.never, matches)
}

// foreign is the host of a package of another's module, "" of the standard library and of our own.
func foreign(imported string) string {
	if host, _, _ := strings.Cut(imported, "/"); strings.Contains(host, ".") {
		return host
	}
	return ""
}

// match reports whether a pattern of the table is of a package.
func match(pattern, imported string) bool {
	if foreign(pattern) != "" {
		return below(imported, pattern)
	}
	if dir, all := strings.CutSuffix(pattern, "/..."); all {
		return below(imported, module+"/"+dir)
	}
	return imported == module+"/"+pattern
}

// rowOf is the row that is nearest to a package: its own, or that of the nearest folder above.
func (t *tree) rowOf(path string) (row string, ok bool) {
	for r := range t.imports {
		if below(path, r) && len(r) > len(row) {
			row, ok = r, true
		}
	}
	return row, ok
}

const tableHead = "| package | may import |\n|---|---|\n"

var inBackticks = regexp.MustCompile("`([^`]+)`")

// parseTable reads the table of who may import whom. Its cells are lists of paths in backticks, "nothing" or "everything"; what stands
// behind "without" is taken out of what stands before it, up to a semicolon.
func parseTable(text string) (map[string]allowance, error) {
	_, text, found := strings.Cut(text, tableHead)
	if !found {
		return nil, errors.New(document + " has no table of who may import whom")
	}
	table := map[string]allowance{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 {
			return nil, fmt.Errorf("%s: a row of %d cells: %s", document, len(cells), line)
		}
		a, err := parseAllowance(strings.TrimSpace(cells[1]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w in %s", document, err, line)
		}
		for _, path := range inBackticks.FindAllStringSubmatch(cells[0], -1) {
			if _, twice := table[path[1]]; twice {
				return nil, fmt.Errorf("%s: two rows of %s", document, path[1])
			}
			table[path[1]] = a
		}
	}
	return table, nil
}

func parseAllowance(cell string) (a allowance, err error) {
	switch cell {
	case "nothing":
		return a, nil
	case "everything":
		return allowance{everything: true}, nil
	}
	for part := range strings.SplitSeq(cell, ";") {
		allow, never, _ := strings.Cut(part, " without ")
		a.allow = append(a.allow, paths(allow)...)
		a.never = append(a.never, paths(never)...)
	}
	if len(a.allow) == 0 {
		return a, errors.New("no path in backticks")
	}
	return a, nil
}

func paths(text string) (list []string) {
	for _, found := range inBackticks.FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	return list
}

func TestParseTable(t *testing.T) {
	table, err := parseTable("Who?\n\n" + tableHead + "| `a`, `b` | nothing |\n| `c` | `d/...` without `d/e`; `f`, `example.com/x` |\n| `cmd` | everything |\n\n| `z` | nothing |\n")
	if err != nil || len(table) != 4 {
		t.Fatalf("%v, %v", table, err)
	}
	for _, test := range []struct {
		row, imported string
		want          bool
	}{
		{"a", "strings", true},
		{"b", "kitescope/d", false},
		{"c", "kitescope/d", true},
		{"c", "kitescope/d/g/h", true},
		{"c", "kitescope/d/e", false},
		{"c", "kitescope/dd", false},
		{"c", "kitescope/f", true},
		{"c", "kitescope/f/g", false},
		{"c", "example.com/x/y", true},
		{"c", "example.com/xy", false},
		{"cmd", "example.com/xy", true},
	} {
		if got := table[test.row].allows(test.imported); got != test.want {
			t.Errorf("%s imports %s: %t", test.row, test.imported, got)
		}
	}
	for _, broken := range []string{
		"", tableHead + "| `a` |\n", tableHead + "| `a` | b |\n", tableHead + "| `a` | nothing |\n| `a` | nothing |\n",
	} {
		if _, err := parseTable(broken); err == nil {
			t.Errorf("%q was read", broken)
		}
	}
}
