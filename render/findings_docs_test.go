package render

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/render/rendertest"
)

// TestDiagnosisDocs holds the section of docs/JSON.md to what is written: each key is explained, and
// each key that is explained is written.
func TestDiagnosisDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## A diagnosis\n")
	section, _, ok := strings.Cut(section, "\n## ")
	if !ok {
		t.Fatal("docs/JSON.md has lost the section")
	}
	quoted := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(section, -1) {
		quoted[m[1]] = true
	}
	rows := map[string]bool{} // the first column of the tables
	for line := range strings.SplitSeq(section, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				rows[m[1]] = true
			}
		}
	}
	written := keysWritten(t)
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if !quoted[key] && key != "kind" && key != "location" && key != "root" && key != "revision" && key != "taken" && key != "where" && key != "count" {
			t.Errorf("%s is written and not explained", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if !written[key] {
			t.Errorf("%s is explained and not written", key)
		}
	}
}

// keysWritten are the keys of all structured outputs of reports.
func keysWritten(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for _, d := range diagnoses(t) {
		rendertest.CollectKeys(t, keys, written(t, d, "json", Options{}))
	}
	var tracker check.Tracker
	var b bytes.Buffer
	r := judged(t)
	changes, blind := tracker.Next(r)
	if err := Changes(&b, r, r.Now, changes, blind, findingsFormat(t, "jsonl"), Options{}); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		rendertest.CollectKeys(t, keys, line)
	}
	for _, write := range []func() error{
		func() error {
			return Checks(&b, []*check.Check{r.Results[0].Check}, format(t, "json"), ReportOptions{})
		},
		func() error { return Explain(&b, r.Results[0].Check, nil, Options{Format: format(t, "json")}) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		rendertest.CollectKeys(t, keys, b.Bytes())
	}
	return keys
}
