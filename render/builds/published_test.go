package builds

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kitescope/profile/bench"
	benchread "kitescope/profile/bench/read"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// TestProofDocs holds the sections of docs/JSON.md about judgements and comparisons to what is written: each key is explained, and
// each key that is explained is written.
func TestProofDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/JSON.md")
	if err != nil {
		t.Fatal(err)
	}
	judged, compared := map[string]bool{}, map[string]bool{}
	for _, j := range judgements() {
		var b bytes.Buffer
		if err := WriteJudgement(&b, j, rendertest.Format(t, render.ReportFormats(), "json"), render.ReportOptions{}); err != nil {
			t.Fatal(err)
		}
		rendertest.CollectKeys(t, judged, b.Bytes())
	}
	for _, c := range comparisons() {
		var b bytes.Buffer
		if err := WriteComparison(&b, c, comparisonFormat(t, "json"), render.ReportOptions{}); err != nil {
			t.Fatal(err)
		}
		rendertest.CollectKeys(t, compared, b.Bytes())
	}
	word := regexp.MustCompile("`(?:items\\[\\]\\.)?([A-Za-z_]+)`")
	for title, written := range map[string]map[string]bool{"Judgements": judged, "Comparisons": compared} {
		_, rest, _ := strings.Cut(string(text), "\n## "+title+"\n")
		own, _, ok := strings.Cut(rest, "\n## ")
		if !ok {
			t.Fatalf("docs/JSON.md has lost the section %s", title)
		}
		quoted := map[string]bool{"apiVersion": true, "items": true, "unknown": true} // as everywhere
		for _, m := range word.FindAllStringSubmatch(own, -1) {
			quoted[m[1]] = true
		}
		for _, key := range slices.Sorted(maps.Keys(written)) {
			if !quoted[key] && !slices.Contains(verdictKeys(), key) {
				t.Errorf("%s: %s is written and not explained", title, key)
			}
		}
		for line := range strings.SplitSeq(own, "\n") {
			cells := strings.Split(line, "|")
			if len(cells) < 3 {
				continue
			}
			for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
				if !written[m[1]] {
					t.Errorf("%s: %s is explained and not written", title, m[1])
				}
			}
		}
	}
}

// verdictKeys are explained as values.
func verdictKeys() (keys []string) {
	for _, v := range comparisonVerdicts() {
		keys = append(keys, strings.ReplaceAll(v.String(), " ", "_"))
	}
	return keys
}

// TestPublishedTables reads what others published, and shows the changes that they give without calling any of them shown.
func TestPublishedTables(t *testing.T) {
	for name, want := range map[string][]string{
		"milvus-pgo.md":    {"(+7.3%)", "(-58.9%)"},
		"mariadb-pgvector": {"0.000872", "0.000681", "8.40", "5.16"},
	} {
		sets, err := benchread.Open(t.Context(), []string{"../../testdata/bench/" + name}, benchread.Options{})
		if err != nil || len(sets) != 2 {
			t.Fatalf("%s: %d sets, %v", name, len(sets), err)
		}
		c, err := bench.Compare(sets[0], sets[1], bench.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteComparison(&b, c, render.Format{}, render.ReportOptions{Options: render.Options{Width: 80}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range append(want, "one run a side proves nothing") {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%s lacks %s:\n%s", name, text, b.String())
			}
		}
		for _, v := range []bench.Verdict{bench.Better, bench.Worse, bench.Changed} {
			if mark, _ := ComparisonVerdict(v, false); strings.Contains(b.String(), mark) {
				t.Errorf("%s is called %s:\n%s", name, v, b.String())
			}
		}
	}
}
