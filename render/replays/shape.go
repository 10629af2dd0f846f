package replays

import (
	"io"
	"math"
	"strconv"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/log"
)

// WriteShape writes the shape of the requests in a log: rates over time, recorded durations, and methods. l is
// the log, which provides the name and notes.
func WriteShape(w io.Writer, l *log.Log, s *log.Shape, format render.Format, o render.ReportOptions) error {
	return newShapeSheet(l, s, &o).Write(w, format)
}

func newShapeSheet(l *log.Log, s *log.Shape, o *render.ReportOptions) *render.Sheet {
	asked := render.Select(o, bucketTable(s), nil)
	sheet := &render.Sheet{
		Kind: "ReplayShape", Options: o, Head: shapeHead(l, s, o),
		About: func(e *encode.Encoder) { writeShapeHead(e, l, s) },
		Items: asked.Items, Foot: replayNotes(l.Notes, o),
	}
	if o.HasQuery() {
		sheet.Parts = []render.Part{asked.List("")}
	}
	if len(s.Buckets) > 1 {
		sheet.Head = append(sheet.Head, rateLines(s, o)...)
	}
	for _, x := range []struct {
		title  string
		counts map[string]int
	}{{"METHOD", s.Methods}, {"STATUS", s.Statuses}} {
		if len(x.counts) > 0 {
			sheet.Parts = append(sheet.Parts, countPart(x.title, x.counts, o))
		}
	}
	return sheet
}

// ShapeSchema returns the schema of the time spans that WriteShape writes.
func ShapeSchema(render.ReportOptions) *table.Schema { return bucketTable(&log.Shape{}).Schema() }

func bucketTable(s *log.Shape) *table.Rows[int] {
	from := func(i int) time.Duration { return time.Duration(i) * s.Width }
	return table.New(table.Schema{Name: "spans", Singular: "span", Sparse: true}, render.Positions(len(s.Buckets)),
		[]table.ColumnOf[int]{
			render.Key("from_seconds", table.Exact,
				func(i int) table.Cell { return table.OfFloat(from(i).Seconds()) }).WithTitle("FROM", 0,
				func(i int) string { return words.Age(from(i)) }),
			render.Key("requests", table.Int, func(i int) table.Cell {
				return table.OfInt(int64(s.Buckets[i]))
			}).WithTitle("REQUESTS", 0, func(i int) string { return words.Number(int64(s.Buckets[i])) }),
			render.Key("per_second", table.Exact, func(i int) table.Cell { return presentRate(s, i) }).
				WithTitle("PER SECOND", 0, func(i int) string {
					if s.Width <= 0 {
						return words.UnknownMark
					}
					return words.ThreeDigits(float64(s.Buckets[i]) / s.Width.Seconds())
				}),
		})
}

func presentRate(s *log.Shape, i int) table.Cell {
	if s.Width <= 0 {
		return table.OfUnknown()
	}
	return render.FiniteCell(float64(s.Buckets[i]) / s.Width.Seconds())
}

func shapeHead(l *log.Log, s *log.Shape, o *render.ReportOptions) []render.Line {
	lines := []render.Line{
		{
			Role: render.RoleTitle,
			Text: render.OrUnknown(l.Name) + ": " + words.Count(int64(s.Searches), "search", "searches"),
		},
	}
	if s.Lines > 0 {
		lines[0].Text += " of " + words.Count(int64(s.Lines), "line", "lines")
	}
	if l.Format != "" {
		lines[0].Text += " (" + render.Harmless(l.Format) + ")"
	}
	vectors := "vectors of " + words.Count(int64(s.Queries), "query", "queries")
	if s.UnknownNQ > 0 {
		vectors += "; " + words.Count(int64(s.UnknownNQ), "search has", "searches have") + " no vector count"
	}
	if l.Vectors == nil {
		vectors += "; none in the log: draw some with kitescope replay sample"
	}
	lines = append(lines, labelled(o, render.RolePlain, "vectors", vectors)...)
	span := words.UnknownMark + ": the log has no times"
	if s.Timed > 0 {
		span = words.Age(s.Span)
		if start := render.Stamp(l.Start); start != "" {
			span += " from " + start
		}
		if s.Timed < s.Searches {
			span += "; " + words.Count(int64(s.Searches-s.Timed), "search has", "searches have") + " no time"
		}
	}
	lines = append(lines, labelled(o, render.RolePlain, "span", span)...)
	rate := words.UnknownMark
	if s.PerSecond > 0 {
		rate = words.ThreeDigits(s.PerSecond) + " requests/s on average"
	}
	if s.Peak > 0 {
		rate += ", " + words.Number(int64(s.Peak)) + " in the busiest second, " + words.Age(s.PeakAt) +
			" after the start"
	}
	lines = append(lines, labelled(o, render.RolePlain, "rate", rate)...)
	lines = append(lines, percentileLines(o, render.RolePlain, "took", &s.Took)...)
	if s.Failed > 0 {
		text := words.Number(int64(s.Failed)) + " (" + words.Share(ratioOf(float64(s.Failed), float64(s.Searches))) +
			")"
		lines = append(lines, labelled(o, render.RoleBad, "failed", text)...)
		if s.FailedTook.Count > 0 {
			lines = append(lines, percentileLines(o, render.RoleDim, "  took", &s.FailedTook)...)
		}
	} else {
		lines = append(lines, labelled(o, render.RolePlain, "failed", "0")...)
	}
	return lines
}

func percentileLines(o *render.ReportOptions, role render.Role, name string, p *log.Percentiles) []render.Line {
	if p.Count == 0 {
		return labelled(o, render.RoleDim, name, words.UnknownMark+": not in the log")
	}
	lines := labelled(o, role, name,
		figures(o, "avg min max", p.Mean, p.Min, p.Max)+"; of "+words.Count(int64(p.Count), "request", "requests"))
	return append(lines,
		labelled(o, role, "", figures(o, "p50 p90 p95 p99 p99.9", p.P50, p.P90, p.P95, p.P99, p.P999))...)
}

// rateLines returns lines that draw the rate of requests over time.
func rateLines(s *log.Shape, o *render.ReportOptions) []render.Line {
	room := 60
	if o.Width > 0 {
		room = max(10, min(120, o.Width-labelWidth))
	}
	rates, top := make([]float64, len(s.Buckets)), 0.0
	for i, n := range s.Buckets {
		rates[i] = float64(n) / max(s.Width.Seconds(), 1e-9)
	}
	rates = render.Resample(rates, room)
	for _, r := range rates {
		top = math.Max(top, r)
	}
	lines := labelled(o, render.RoleProgress, "over time", "")
	lines[0].After = []render.Piece{{Role: render.RoleProgress, Text: render.Sparkline(rates, top, o.ASCII)}}
	return append(lines,
		labelled(o, render.RoleDim, "", "0 to "+words.Age(s.Span)+", up to "+words.ThreeDigits(top)+" requests/s")...)
}

func countPart(title string, counts map[string]int, o *render.ReportOptions) render.Part {
	keys := byCount(counts)
	all := 0
	for _, n := range counts {
		all += n
	}
	n := o.Shown(len(keys))
	part := render.Part{List: render.PositionGrid(n, []table.ColumnOf[int]{
		{
			Column: table.Column{Title: title, Shorten: true},
			Shown:  func(i int) string { return render.OrUnknown(keys[i]) },
		},
		{
			Column: table.Column{Title: "REQUESTS", AlignRight: true},
			Shown:  func(i int) string { return words.Number(int64(counts[keys[i]])) },
		},
		{
			Column: table.Column{Title: "SHARE", AlignRight: true},
			Shown:  func(i int) string { return words.Share(ratioOf(float64(counts[keys[i]]), float64(all))) },
		},
	})}
	if n < len(keys) {
		part.Head = []render.Line{
			{Role: render.RoleDim, Text: strconv.Itoa(n) + " of " + strconv.Itoa(len(keys)) + render.LimitHint},
		}
	}
	return part
}

func writeShapeHead(e *encode.Encoder, l *log.Log, s *log.Shape) {
	e.Entry("log", l.Name)
	e.Entry("format", l.Format)
	e.Entry("digest", l.Digest)
	count := func(key string, n int) {
		e.Entry(key, n)
	}
	count("lines", s.Lines)
	count("searches", s.Searches)
	count("queries", s.Queries)
	count("unknown_nq", s.UnknownNQ)
	count("timed", s.Timed)
	count("failed", s.Failed)
	if s.Timed > 0 {
		e.Entry("span_seconds", encode.Exact(s.Span.Seconds()))
		e.Entry("per_second", encode.Exact(s.PerSecond))
		count("peak", s.Peak)
	}
	for _, x := range []struct {
		key string
		p   *log.Percentiles
	}{{"took", &s.Took}, {"failed_took", &s.FailedTook}} {
		if x.p.Count == 0 {
			continue
		}
		e.Key(x.key)
		writePercentiles(e, x.p)
	}
	for _, x := range []struct {
		key    string
		counts map[string]int
	}{{"methods", s.Methods}, {"statuses", s.Statuses}} {
		if x.counts == nil {
			continue
		}
		e.Key(x.key)
		e.BeginObject()
		for _, name := range byCount(x.counts) {
			count(name, x.counts[name])
		}
		e.EndObject()
	}
	e.Entry("notes", l.Notes)
}

func writePercentiles(e *encode.Encoder, p *log.Percentiles) {
	e.BeginObject()
	e.Entry("count", p.Count)
	for _, x := range []struct {
		key string
		d   time.Duration
	}{
		{"mean_seconds", p.Mean},
		{"min_seconds", p.Min},
		{"p50_seconds", p.P50},
		{"p90_seconds", p.P90},
		{"p95_seconds", p.P95},
		{"p99_seconds", p.P99},
		{"p999_seconds", p.P999},
		{"max_seconds", p.Max},
	} {
		e.Entry(x.key, encode.Exact(x.d.Seconds()))
	}
	e.EndObject()
}
