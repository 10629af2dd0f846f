package kitescope_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEvidence: what was measured stands in docs/evidence, and its index has each page, with a date and a commit.
func TestEvidence(t *testing.T) {
	index, err := os.ReadFile("docs/evidence/README.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| \[.+\]\(.+\).* \| (20[0-9]{2}-[01][0-9]-[0-3][0-9] \| [0-9a-f]{8}|with each commit \|) \| [^|]+ \|`)
	rows := 0
	for line := range strings.SplitSeq(string(index), "\n") {
		if strings.HasPrefix(line, "| [") {
			rows++
			if !row.MatchString(line) {
				t.Errorf("docs/evidence/README.md: no date, commit or machine: %s", line)
			}
		}
	}
	pages, err := filepath.Glob("docs/evidence/*.md")
	if err != nil || len(pages) < 6 || rows < len(pages) {
		t.Fatalf("%d pages, %d rows: %v", len(pages), rows, err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(index), "]("+name) {
			t.Errorf("docs/evidence/README.md lacks %s", name)
		}
	}
	others, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(others, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`<!-- (bench-|e2e-|generated |real )[a-z -]*: begin`).Find(text); m != nil {
			t.Errorf("%s has measurements: %s", page, m)
		}
	}
}
