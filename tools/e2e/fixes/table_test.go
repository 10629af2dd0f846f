package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const table = "| checks | fix | interrupts | how it was tried |\n|---|---|---|---|\n" +
	"| `one` | `etcdctl put …`: turns it on | nothing | not played |\n" +
	"| `one`, `two` | restart …: there is no other … | all | not played |\n"

// TestRecord checks that a verdict goes into the last cell of the row with the check and the sentence, and
// into no other.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fixes.md")
	for _, x := range []struct{ check, text, want string }{
		{"one", "turns it on", "| `etcdctl put …`: turns it on | nothing | cured |"},
		{"two", "restart proxy-3: there is no other proxy", "no other … | all | cured |"},
		{"two", "turns it on", ""},
		{"one", "restart proxy-3", ""},
	} {
		if err := os.WriteFile(file, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		err := record(file, x.check, x.text, "cured")
		got, _ := os.ReadFile(file)
		if (err != nil) != (x.want == "") || strings.Count(string(got), "| cured |") != min(len(x.want), 1) ||
			!strings.Contains(string(got), x.want) {
			t.Errorf("%s, %s: %v\n%s", x.check, x.text, err, got)
		}
	}
}

// TestPlaysHaveRows checks that every play has a row for its verdict in the table, and that names are unique.
func TestPlaysHaveRows(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "evidence", "fixes.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range plays() {
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		for _, begin := range p.Steps {
			if !hasRow(string(document), p.Check, begin) {
				t.Errorf("%s: no row of %s begins with %q", p.Name, p.Check, begin)
			}
		}
	}
}

func hasRow(document, check, begin string) bool {
	for line := range strings.Lines(document) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || !strings.Contains(cells[0], check) {
			continue
		}
		sentence := cells[1]
		if _, after, ok := strings.Cut(sentence, "`: "); ok {
			sentence = after
		}
		head, _, _ := strings.Cut(sentence, "…")
		if strings.HasPrefix(sentence, begin) || strings.HasPrefix(begin, head) {
			return true
		}
	}
	return false
}
