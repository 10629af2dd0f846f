package builds

import (
	"bytes"
	"strings"
	"testing"

	"kitescope/profile/bench"
	benchread "kitescope/profile/bench/read"
	"kitescope/render"
)

// TestPublishedTables reads what others published, and shows the changes that they give without calling any of them shown.
func TestPublishedTables(t *testing.T) {
	for name, want := range map[string][]string{
		"milvus-pgo.csv":   {"(+7.3%)", "(-58.9%)"},
		"mariadb-pgvector": {"0.0008720", "0.0006810", "8.400", "5.160"},
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
			if mark, _ := comparisonVerdict(v, false); strings.Contains(b.String(), mark) {
				t.Errorf("%s is called %s:\n%s", name, v, b.String())
			}
		}
	}
}
