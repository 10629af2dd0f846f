package replays

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"kitescope/render"
	"kitescope/render/rendertest"
	"kitescope/replay"
	"kitescope/replay/load"
)

// fixtureServers returns the results of three servers with the same queries. The first has an unknown CPU
// usage, and another has no high recall.
func fixtureServers() []Series {
	server := func(target string, faster float64, less float64, known bool) *replay.Result {
		r := fixtureSweep()
		r.Setup.Target, r.Setup.Milvus = target, ""
		for i := range r.Points {
			p := &r.Points[i]
			p.QPS, p.QPSLow, p.QPSHigh = p.QPS*faster, p.QPSLow*faster, p.QPSHigh*faster
			p.Recall -= less
			p.CPUPerQuery, p.SwitchesPerQuery = 0, 0
			if known {
				p.CPUPerQuery, p.SwitchesPerQuery = time.Duration(float64(time.Millisecond)/faster), 5
				p.VoluntaryPerQuery = 5
			}
		}
		return r
	}
	return []Series{
		{"milvus", server("milvus://10.0.0.5:19530/docs", 1, 0, false)},
		{"pgvector", server("postgres://127.0.0.1:5432/shop/docs", 0.5, 0.001, true)},
		{"opensearch" + rendertest.HostileName, server("opensearch://127.0.0.1:9200/docs", 2, 0.08, true)},
	}
}

func TestSideBySide(t *testing.T) {
	series := fixtureServers()
	// Computed by hand: the fastest point that reaches a recall wins.
	for i, points := range [][]load.Point{
		{
			{Recall: 0.96, QPS: 100, EF: 64, Plan: load.Plan{Sessions: 4}},
			{Recall: 0.91, QPS: 300, EF: 16},
			{Recall: 1, QPS: 0},
		},
		{{Recall: 0.97, QPS: 250, EF: 32, Plan: load.Plan{Sessions: 1}}, {Recall: 0.99, QPS: 50}},
		{{Recall: -1, QPS: 1000}},
	} {
		series[i].Result.Points = points
	}
	series[2].Name = "unknown"
	want := []string{
		"milvus 300 QPS (ef 16, 0 sessions), pgvector 250 (x0.833; ef 32, 1 session), unknown has no recall",
		"pgvector 250 QPS (ef 32, 1 session), milvus 100 (x0.400; ef 64, 4 sessions), unknown has no recall",
		"pgvector 50.0 QPS (0 sessions), milvus does not reach it: at most 1.0000, unknown has no recall",
	}
	levels := recallLevels(series, &render.ReportOptions{})
	if len(levels) != len(want) {
		t.Fatalf("%d levels, want %d", len(levels), len(want))
	}
	for i := range levels {
		if got := levels[i].text(); got != want[i] {
			t.Errorf("at %v: %s, want %s", levels[i].recall, got, want[i])
		}
	}
	if got := Conclude(series, nil); got != "At a recall of 0.95 and more: "+want[1] {
		t.Errorf("it comes to: %s", got)
	}
	series = fixtureServers()
	var b bytes.Buffer
	if err := WriteSideBySide(&b, series, rendertest.Format(t, render.ReportFormats(), "csv"),
		render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+3*len(series[0].Result.Points) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := func(row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("no column %s", column)
		return ""
	}
	if cpu, kind := at(1, "cpu_per_query_seconds"), at(1, "involuntary_per_query"); cpu != "?" || kind != "?" {
		t.Errorf("nobody knows what it used: CPU %q, switches %q", cpu, kind)
	}
	last := len(rows) - 1
	if cpu, kind := at(last, "cpu_per_query_seconds"),
		at(last, "involuntary_per_query"); cpu != "0.0005" || kind != "0" {
		t.Errorf("CPU %q, switches %q", cpu, kind)
	}
	series[1].Result.Setup.LogDigest = "another"
	if list := sideBySideDifferences(series, &render.ReportOptions{}); len(list) != 1 ||
		!strings.Contains(list[0], "another of pgvector") {
		t.Errorf("differences: %q", list)
	}
}
