package replays

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/doc"
	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

// WriteSearch writes the neighbours of queries.
func WriteSearch(w io.Writer, f *target.Found, format render.Format, o render.ReportOptions) error {
	return newSearchSheet(f, &o).Write(w, format)
}

// WriteBench writes how fast an index answered.
func WriteBench(w io.Writer, b *target.Bench, format render.Format, o render.ReportOptions) error {
	return newEngineBenchSheet(b, &o).Write(w, format)
}

// targetLine says what is searched: "HNSW L2, 100,000 rows of 128 dimensions (hnswlib)".
func targetLine(t *target.Target) string {
	f := t.File
	by := ""
	if t.Set == nil {
		by = " (" + f.Format.String() + ")"
	}
	return f.Kind() + " " + f.Metric.String() + ", " + words.Plural(f.Rows, "row") + " of " + words.Plural(f.Dim, "dimension") + by
}

// writeTarget tells scripts what is searched.
func writeTarget(e *doc.Encoder, t *target.Target) {
	f := t.File
	e.Entry("file", f.Name)
	e.Entry("index_type", f.Kind())
	if t.Set == nil {
		e.Entry("format", f.Format.String())
	}
	e.Entry("metric", f.Metric.String())
	e.Entry("metric_known", f.MetricKnown)
	e.Entry("dim", f.Dim)
	e.Entry("rows", f.Rows)
}

// single is a float32 with as few digits as tell it from its neighbours.
func single(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

// exactSingle is the number that those digits say: what scripts read is the same float32.
func exactSingle(f float32) float64 {
	x, err := strconv.ParseFloat(single(f), 64)
	if err != nil {
		return float64(f)
	}
	return x
}

func newSearchSheet(f *target.Found, o *render.ReportOptions) *render.Sheet {
	a := f.Answers
	n := o.Shown(len(a.Hits))
	s := &render.Sheet{
		Kind: "EngineSearch", Options: o, Head: searchHead(f),
		About: func(e *doc.Encoder) { writeSearchHead(e, f) },
		Items: render.ForScripts(n, len(a.Hits), []table.ColumnOf[int]{
			render.Key("query", table.Int, func(i int) table.Cell { return table.OfInt(int64(i)) }),
			render.Key("distances", table.Int, func(i int) table.Cell { return table.OfInt(int64(a.Cost[i].Distances)) }),
			render.Key("hops", table.Int, func(i int) table.Cell {
				if f.Target.File.Effort() != index.ByEF {
					return table.OfNone()
				}
				return table.OfInt(int64(a.Cost[i].Hops))
			}),
			render.Key("brute_force", table.Text, func(i int) table.Cell {
				if a.Cost[i].BruteForce == "" {
					return table.OfNone()
				}
				return table.Of(a.Cost[i].BruteForce)
			}),
		}),
		Nested: func(e *doc.Encoder, i int) { writeHits(e, a.Hits[i]) },
		Parts:  []render.Part{{List: render.Places(n, searchColumns(f))}},
		Foot:   o.More(len(a.Hits)),
	}
	s.Flat = hitKeys(a.Hits[:n])
	return s
}

func searchHead(f *target.Found) []render.Line {
	a, p := f.Answers, &f.Params
	asked := "k " + strconv.Itoa(p.K)
	if p.Radius != nil {
		asked = "radius " + single(*p.Radius)
		if p.RangeFilter != nil {
			asked += ", from " + single(*p.RangeFilter)
		}
	}
	if ef := f.EF(); ef > 0 {
		asked += ", ef " + strconv.Itoa(ef)
		if p.EF == 0 {
			asked += " (default)"
		}
	}
	if p.NProbe > 0 {
		asked += ", nprobe " + strconv.Itoa(p.NProbe)
	}
	if n := p.Filter.Count(); n > 0 {
		asked += ", " + words.Plural(n, "row") + " left out"
	}
	distances, _ := a.PerQuery()
	lines := []render.Line{
		{Text: targetLine(f.Target)},
		{Role: render.RoleDim, Text: words.Count(len(a.Hits), "query", "queries") + ", " + asked + "; as " + f.Library().String() + " (" + f.Accumulation() + "); " +
			perQuery(distances) + " distances each; " + words.Age(a.Took)},
	}
	if f.Recall != nil {
		lines = append(lines, recallLine(f.Recall, a.K))
	}
	return lines
}

func recallLine(r *target.Recall, k int) render.Line {
	text := "recall@" + strconv.Itoa(k) + " " + strconv.FormatFloat(r.Mean, 'f', 4, 64)
	if r.Worst < 1 {
		text += ", the worst is query " + strconv.Itoa(r.WorstQuery) + " with " + strconv.FormatFloat(r.Worst, 'f', 2, 64)
	}
	if r.Short > 0 {
		text += "; " + words.Count(r.Short, "query", "queries") + " with fewer true neighbours than k"
	}
	return render.Line{Text: text}
}

func searchColumns(f *target.Found) []table.ColumnOf[int] {
	a := f.Answers
	end := func(i int, last bool) (engine.Hit, bool) {
		h := a.Hits[i]
		if len(h) == 0 {
			return engine.Hit{}, false
		}
		return h[(len(h)-1)*render.BoolInt(last)], true
	}
	id := func(last bool) func(int) string {
		return func(i int) string {
			h, ok := end(i, last)
			if !ok {
				return ""
			}
			return strconv.FormatInt(h.ID, 10)
		}
	}
	distance := func(last bool) func(int) string {
		return func(i int) string {
			h, ok := end(i, last)
			if !ok {
				return ""
			}
			return single(h.Distance)
		}
	}
	list := []table.ColumnOf[int]{
		{Column: table.Column{Title: "QUERY", Right: true}, Shown: strconv.Itoa},
		{Column: table.Column{Title: "HITS", Right: true}, Shown: func(i int) string { return strconv.Itoa(len(a.Hits[i])) }},
		{Column: table.Column{Title: "FIRST", Right: true}, Shown: id(false)},
		{Column: table.Column{Title: "DISTANCE", Right: true}, Shown: distance(false)},
		{Column: table.Column{Title: "LAST", Right: true, Priority: 1}, Shown: id(true)},
		{Column: table.Column{Title: "DISTANCE", Right: true, Priority: 1}, Shown: distance(true)},
		{Column: table.Column{Title: "COMPUTED", Right: true, Priority: 2}, Shown: func(i int) string { return strconv.Itoa(a.Cost[i].Distances) }},
		{Column: table.Column{Title: "HOPS", Right: true, Priority: 2}, Shown: func(i int) string { return strconv.Itoa(a.Cost[i].Hops) }},
		{Column: table.Column{Title: "IDS", Show: table.Wide}, Shown: func(i int) string {
			var b strings.Builder
			for j, h := range a.Hits[i] {
				if j > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strconv.FormatInt(h.ID, 10))
			}
			return b.String()
		}},
	}
	if f.Target.File.Effort() != index.ByEF {
		list = slices.DeleteFunc(list, func(c table.ColumnOf[int]) bool { return c.Title == "HOPS" })
	}
	return list
}

func writeHits(e *doc.Encoder, hits []engine.Hit) {
	e.Key("hits")
	e.BeginList()
	for _, h := range hits {
		e.BeginObject()
		e.Entry("id", doc.ID(h.ID))
		// JSON has no NaN and no infinity, which a query with infinities gets for distances.
		if d := float64(h.Distance); !math.IsNaN(d) && !math.IsInf(d, 0) {
			e.Entry("distance", doc.Exact(exactSingle(h.Distance)))
		}
		e.EndObject()
	}
	e.EndList()
}

// hitKeys are the hits for CSV, a line each.
func hitKeys(list [][]engine.Hit) *table.Grid {
	type place struct{ query, rank int }
	var at []place
	for i, hits := range list {
		for j := range hits {
			at = append(at, place{i, j})
		}
	}
	hit := func(i int) engine.Hit { return list[at[i].query][at[i].rank] }
	return render.ForScripts(len(at), len(at), []table.ColumnOf[int]{
		render.Key("query", table.Int, func(i int) table.Cell { return table.OfInt(int64(at[i].query)) }),
		render.Key("rank", table.Int, func(i int) table.Cell { return table.OfInt(int64(at[i].rank + 1)) }),
		render.Key("id", table.Int, func(i int) table.Cell { return table.OfInt(hit(i).ID) }),
		render.Key("distance", table.Exact, func(i int) table.Cell { return table.OfFloat(exactSingle(hit(i).Distance)) }),
	})
}

func writeSearchHead(e *doc.Encoder, f *target.Found) {
	writeTarget(e, f.Target)
	e.Entry("library", f.Library().String())
	e.Entry("accumulation", f.Accumulation())
	p := &f.Params
	if p.Radius == nil {
		e.Entry("k", p.K)
	} else {
		e.Entry("radius", doc.Exact(exactSingle(*p.Radius)))
	}
	if p.RangeFilter != nil {
		e.Entry("range_filter", doc.Exact(exactSingle(*p.RangeFilter)))
	}
	for _, x := range []struct {
		key string
		n   int
	}{{"ef", p.EF}, {"nprobe", p.NProbe}} {
		if x.n > 0 {
			e.Entry(x.key, x.n)
		}
	}
	e.Entry("excluded", p.Filter.Count())
	e.Entry("seconds", f.Answers.Took)
	writeRecall(e, f.Recall)
}

func writeRecall(e *doc.Encoder, r *target.Recall) {
	if r == nil {
		return
	}
	e.Key("recall")
	e.BeginObject()
	e.Entry("mean", doc.Exact(r.Mean))
	e.Entry("worst", doc.Exact(r.Worst))
	e.Entry("worst_query", r.WorstQuery)
	e.Entry("short", r.Short)
	e.EndObject()
}

// microseconds is a latency for people.
func microseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e3, 'f', words.DecimalsFor(float64(d)/1e3, 3), 64)
}

// perQuery is a count per query.
func perQuery(x float64) string {
	if x >= 100 || x == float64(int64(x)) {
		return words.Number(int64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
