package replays

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// WriteSearch writes the neighbors of queries.
func WriteSearch(w io.Writer, f *target.SearchResult, format render.Format, o render.ReportOptions) error {
	return newSearchSheet(f, &o).Write(w, format)
}

// WriteBench writes the speed of an index.
func WriteBench(w io.Writer, b *target.Bench, format render.Format, o render.ReportOptions) error {
	return newEngineBenchSheet(b, &o).Write(w, format)
}

// targetLine describes the index that is searched: "HNSW L2, 100,000 rows of 128 dimensions (hnswlib)".
func targetLine(t *target.Target) string {
	f := t.File
	by := ""
	if t.Set == nil {
		by = " (" + f.Format.String() + ")"
	}
	return f.Kind() + " " + f.Metric.String() + ", " + words.Plural(f.Rows, "row") + " of " +
		words.Plural(f.Dim, "dimension") + by
}

// writeTarget writes the index that is searched.
func writeTarget(e *encode.Encoder, t *target.Target) {
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

// single formats a float32 with the fewest digits that identify it.
func single(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }

// exactSingle converts a float32 to the float64 with the same shortest decimal representation, so that scripts
// parse the same float32.
func exactSingle(f float32) float64 {
	x, err := strconv.ParseFloat(single(f), 64)
	if err != nil {
		return float64(f)
	}
	return x
}

func newSearchSheet(f *target.SearchResult, o *render.ReportOptions) *render.Sheet {
	a := f.Answers
	asked := render.Select(o, searchTable(f, f.Target.File.Effort()), nil)
	return &render.Sheet{
		Kind: "EngineSearch", Options: o, Head: searchHead(f),
		About: func(e *encode.Encoder) { writeSearchHead(e, f) },
		Items: asked.Items, Nested: func(e *encode.Encoder, i int) { writeHits(e, a.Hits[i]) },
		Parts: []render.Part{asked.List("")}, Foot: asked.More(o), Flat: hitKeys(a.Hits, asked.Rows),
	}
}

// SearchSchema returns the schema of the queries that WriteSearch writes.
func SearchSchema(render.ReportOptions) *table.Schema {
	return searchTable(&target.SearchResult{Answers: &target.Answers{}}, index.ByEF).Schema()
}

func searchHead(f *target.SearchResult) []render.Line {
	a, p := f.Answers, &f.Params
	asked := "k " + strconv.Itoa(p.K)
	if ef := f.EF(); ef > 0 {
		asked += ", ef " + strconv.Itoa(ef)
		if p.EF == 0 {
			asked += " (default)"
		}
	}
	rest := p.SearchParams
	rest.EF = 0
	if more := rest.Words(); more != "" {
		asked += ", " + more
	}
	if n := p.Filter.Count(); n > 0 {
		asked += ", " + words.Plural(n, "row") + " left out"
	}
	distances, _ := a.PerQuery()
	lines := []render.Line{
		{Text: targetLine(f.Target)},
		{
			Role: render.RoleDim,
			Text: words.Count(len(a.Hits), "query", "queries") + ", " + asked + "; as " + f.Library().String() + " (" +
				f.Accumulation() + "); " +
				perQuery(distances) + " distances each; " + words.Age(a.Took),
		},
	}
	if f.Recall != nil {
		lines = append(lines, recallLine(f.Recall, a.K))
	}
	return lines
}

func recallLine(r *target.Recall, k int) render.Line {
	text := "recall@" + strconv.Itoa(k) + " " + strconv.FormatFloat(r.Mean, 'f', 4, 64)
	if r.Worst < 1 {
		text += ", the worst is query " + strconv.Itoa(r.WorstQuery) + " with " +
			strconv.FormatFloat(r.Worst, 'f', 2, 64)
	}
	if r.Incomplete > 0 {
		text += "; " + words.Count(r.Incomplete, "query", "queries") + " with fewer than k true neighbours"
	}
	return render.Line{Text: text}
}

// searchTable returns the table of queries by number.
func searchTable(f *target.SearchResult, effort index.Effort) *table.Rows[int] {
	a := f.Answers
	end := func(last bool, text func(h engine.Hit) string) func(i int) string {
		return func(i int) string {
			h := a.Hits[i]
			if len(h) == 0 {
				return ""
			}
			return text(h[(len(h)-1)*render.BoolInt(last)])
		}
	}
	id := func(h engine.Hit) string { return strconv.FormatInt(h.ID, 10) }
	distance := func(h engine.Hit) string { return single(h.Distance) }
	distances, hops := func(i int) int { return a.Cost[i].Distances }, func(i int) int { return a.Cost[i].Hops }
	ids := table.DisplayColumn("ids", "IDS", 0, func(i int) string {
		var list []string
		for _, h := range a.Hits[i] {
			list = append(list, id(h))
		}
		return strings.Join(list, " ")
	}).WideOnly()
	ids.AlignRight = false
	hop := render.Key("hops", table.Int, func(i int) table.Cell {
		if effort != index.ByEF {
			return table.OfNone()
		}
		return table.OfInt(int64(hops(i)))
	})
	if effort == index.ByEF {
		hop = hop.WithTitle("HOPS", 2, func(i int) string { return strconv.Itoa(hops(i)) })
	}
	return table.New(table.Schema{
		Name: "queries", Singular: "query", Names: []string{"query"}, Sparse: true,
		Order: []string{
			"query", "hits", "first", "first_distance", "last", "last_distance", "distances", "hops", "ids",
		},
	}, render.Positions(len(a.Hits)), []table.ColumnOf[int]{
		render.Key("query", table.Int, func(i int) table.Cell { return table.OfInt(int64(i)) }).WithTitle("QUERY", 0,
			strconv.Itoa),
		render.Key("distances", table.Int, func(i int) table.Cell { return table.OfInt(int64(distances(i))) }).
			WithTitle("COMPUTED", 2, func(i int) string { return strconv.Itoa(distances(i)) }),
		hop,
		render.Key("brute_force", table.Text, func(i int) table.Cell { return nameCell(a.Cost[i].BruteForce) }),
		table.DisplayColumn("hits", "HITS", 0, func(i int) string { return strconv.Itoa(len(a.Hits[i])) }),
		table.DisplayColumn("first", "FIRST", 0, end(false, id)),
		table.DisplayColumn("first_distance", "DISTANCE", 0, end(false, distance)),
		table.DisplayColumn("last", "LAST", 1, end(true, id)),
		table.DisplayColumn("last_distance", "DISTANCE", 1, end(true, distance)), ids,
	})
}

func writeHits(e *encode.Encoder, hits []engine.Hit) {
	e.Key("hits")
	e.BeginList()
	for _, h := range hits {
		e.BeginObject()
		e.Entry("id", encode.ID(h.ID))
		// JSON cannot represent NaN and infinities, which are distances of queries with infinite values.
		if d := float64(h.Distance); !math.IsNaN(d) && !math.IsInf(d, 0) {
			e.Entry("distance", encode.Exact(exactSingle(h.Distance)))
		}
		e.EndObject()
	}
	e.EndList()
}

// hitKeys returns the hits of queries for CSV, one per line.
func hitKeys(list [][]engine.Hit, queries []int) *table.Grid {
	type place struct{ query, rank int }
	var at []place
	for _, i := range queries {
		for j := range list[i] {
			at = append(at, place{i, j})
		}
	}
	hit := func(p place) engine.Hit { return list[p.query][p.rank] }
	return table.All(table.New(table.Schema{Sparse: true}, at, []table.ColumnOf[place]{
		render.Key("query", table.Int, func(p place) table.Cell { return table.OfInt(int64(p.query)) }),
		render.Key("rank", table.Int, func(p place) table.Cell { return table.OfInt(int64(p.rank + 1)) }),
		render.Key("id", table.Int, func(p place) table.Cell { return table.OfInt(hit(p).ID) }),
		render.Key("distance", table.Exact, func(p place) table.Cell {
			return table.OfFloat(exactSingle(hit(p).Distance))
		}),
	}), table.Hidden)
}

func writeSearchHead(e *encode.Encoder, f *target.SearchResult) {
	writeTarget(e, f.Target)
	e.Entry("library", f.Library().String())
	e.Entry("accumulation", f.Accumulation())
	p := &f.Params
	e.Entry("k", p.K)
	for f, x := range p.Given() {
		if f.IsInt() {
			e.Entry(f.Key, int(x))
		} else {
			e.Entry(f.Key, encode.Exact(exactSingle(float32(x))))
		}
	}
	e.Entry("excluded", p.Filter.Count())
	e.Entry("seconds", f.Answers.Took)
	writeRecall(e, f.Recall)
}

func writeRecall(e *encode.Encoder, r *target.Recall) {
	if r == nil {
		return
	}
	e.Key("recall")
	e.BeginObject()
	e.Entry("mean", encode.Exact(r.Mean))
	e.Entry("worst", encode.Exact(r.Worst))
	e.Entry("worst_query", r.WorstQuery)
	e.Entry("short", r.Incomplete)
	e.EndObject()
}

// microseconds formats a latency in microseconds, with about three digits.
func microseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e3, 'f', words.DecimalsFor(float64(d)/1e3, 3), 64)
}

// perQuery formats a mean count per query.
func perQuery(x float64) string {
	if x >= 100 || x == float64(int64(x)) {
		return words.Number(int64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
