package profiles

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// TestProfileDocs holds the sections of docs/JSON.md about profiles and usage to what is written: each key is explained, and each
// key that is explained is written.
func TestProfileDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`(?:items\\[\\]\\.)?([A-Za-z_]+)`")
	section := func(title string) (quoted, rows map[string]bool) {
		_, rest, _ := strings.Cut(string(text), "## "+title+"\n")
		own, _, ok := strings.Cut(rest, "\n## ")
		if !ok {
			t.Fatalf("docs/JSON.md has lost the section %s", title)
		}
		quoted, rows = map[string]bool{}, map[string]bool{}
		for _, m := range word.FindAllStringSubmatch(own, -1) {
			quoted[m[1]] = true
		}
		for line := range strings.SplitSeq(own, "\n") {
			if cells := strings.Split(line, "|"); len(cells) > 2 {
				for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
					rows[m[1]] = true
				}
			}
		}
		return quoted, rows
	}
	compare := func(title string, written map[string]bool) {
		quoted, rows := section(title)
		for _, key := range slices.Sorted(maps.Keys(written)) {
			if !quoted[key] && key != "apiVersion" {
				t.Errorf("%s: %s is written and not explained", title, key)
			}
		}
		delete(rows, "key")
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			if !written[key] {
				t.Errorf("%s: %s is explained and not written", title, key)
			}
		}
	}
	keys := map[string]bool{}
	for _, write := range profileReports() {
		for _, o := range []render.ReportOptions{{}, {Limit: 1, By: profile.ByLabel, Label: "thread"}} {
			var b bytes.Buffer
			if err := write(&b, rendertest.Format(t, render.ReportFormats(), "json"), o); err != nil {
				t.Fatal(err)
			}
			rendertest.CollectKeys(t, keys, b.Bytes())
		}
	}
	compare("Profiles", keys)
	keys = map[string]bool{}
	for _, u := range usages() {
		var b bytes.Buffer
		if err := WriteUsage(&b, u, rendertest.Format(t, render.ReportFormats(), "json"), render.ReportOptions{}); err != nil {
			t.Fatal(err)
		}
		rendertest.CollectKeys(t, keys, b.Bytes())
	}
	delete(keys, "unknown") // as everywhere
	delete(keys, "items")
	compare("Usage over time", keys)
}
