package builds

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"kitescope/profile/bench"
	"kitescope/render/rendertest"
)

// databases are results of two databases with settings of their own: nothing is on both sides.
func databases() (a, b *bench.Set) {
	side := func(name string, settings map[string][2]float64, order ...string) *bench.Set {
		s := &bench.Set{Name: name, Format: "vectordbbench", Runs: []bench.Run{{Name: "1"}}}
		for _, of := range order {
			s.Runs[0].Values = append(s.Runs[0].Values,
				bench.Value{Metric: bench.Metric{Of: of, Name: "QPS", Unit: "1/s"}, Better: bench.HigherIsBetter, X: settings[of][0]},
				bench.Value{Metric: bench.Metric{Of: of, Name: "insert rows", Unit: "1/s"}, Better: bench.HigherIsBetter, X: 90_000},
				bench.Value{Metric: bench.Metric{Of: of, Name: "recall"}, Better: bench.HigherIsBetter, X: settings[of][1]})
		}
		return s
	}
	a = side("milvus.json", map[string][2]float64{"case 5 ef=64": {3917, 0.92}, "case 5 ef=128": {2400, 0.965}, "case 5 ef=512": {900, 0.993}},
		"case 5 ef=64", "case 5 ef=128", "case 5 ef=512")
	b = side("pgvector.json", map[string][2]float64{"case 5 ef_search=40 <b>": {1100, 0.9}, "case 5 ef_search=200 <b>": {410, 0.981}},
		"case 5 ef_search=40 <b>", "case 5 ef_search=200 <b>")
	return a, b
}

// TestRecallPlot draws curves of sides that have no setting in common.
func TestRecallPlot(t *testing.T) {
	a, b := databases()
	c, err := bench.Compare(a, b, bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	panels := recallPanels(c)
	if len(panels) != 1 || panels[0].of != "case 5" || len(panels[0].points[0]) != 3 || len(panels[0].points[1]) != 2 {
		t.Fatalf("panels: %+v", panels)
	}
	if q := panels[0].points[0][0]; q.Y != 3917 || q.X != 0.92 { // and not the rows that are inserted in a second
		t.Errorf("the first point is %+v", q)
	}
	var out bytes.Buffer
	if err := PlotComparison(&out, c, "recall", "svg"); err != nil {
		t.Fatal(err)
	}
	rendertest.WellFormed(t, "recall", out.Bytes())
	if err := PlotComparison(io.Discard, goComparison(), "recall", "svg"); err == nil || !strings.Contains(err.Error(), "nothing has both a recall and a rate") {
		t.Errorf("without recall: %v", err)
	}
}
