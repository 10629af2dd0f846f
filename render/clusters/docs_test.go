package clusters

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/render/rendertest"
)

// TestDocs checks that the tables in docs/reference/json.md have the columns of the resources.
func TestDocs(t *testing.T) { checkDocumented(t, "generated", resourceTables()) }

// checkDocumented checks that the part of docs/reference/json.md between the named marks equals want.
func checkDocumented(t *testing.T, mark, want string) {
	t.Helper()
	const path = "../../docs/reference/json.md"
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has lost its marks", path)
	}
	want = head + begin + want + end + tail
	if *rendertest.Update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("%s is out of date: go test ./render/clusters -run Docs -update", path)
	}
}

func resourceTables() string {
	var b strings.Builder
	for _, r := range view.Resources {
		fmt.Fprintf(&b, "\n### %s\n\n%s Kind `%s`, `-o name` prints `%s/` and the `%s`.", r.Name, r.Doc, r.Kind,
			r.Singular, r.Handle)
		if len(r.Aliases) > 0 {
			fmt.Fprintf(&b, " Aliases: `%s`.", strings.Join(r.Aliases, "`, `"))
		}
		b.WriteString("\n\n| key | kind | shown | meaning |\n|---|---|---|---|\n")
		for _, c := range r.Columns {
			if c.For == table.People {
				continue // not a key
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, kindName(c.Kind), showName(c.Show), c.Doc)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func kindName(k table.Kind) string {
	return [...]string{
		"text", "id", "id", "number", "bytes", "percent", "time", "seconds", "bool", "state", "list", "pairs", "list",
		"pairs", "text", "number", "number", "findings",
	}[k]
}

func showName(s table.Show) string {
	return [...]string{"table", "wide", "", "on demand"}[s]
}
