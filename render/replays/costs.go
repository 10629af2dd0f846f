package replays

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
)

// WriteCosts writes the cost of each segment, most expensive first. WriteResult only shows a few segments.
func WriteCosts(w io.Writer, r *replay.Result, format render.Format, o render.ReportOptions) error {
	s := &render.Sheet{
		Kind: "ReplayCosts", Options: &o, Head: []render.Line{{Role: render.RoleTitle, Text: title(r)}},
		About: func(e *encode.Encoder) { writeCostHead(e, r) },
	}
	c := r.Costs
	if c == nil {
		c = &replay.Costs{}
		s.Head = append(s.Head, render.Line{Role: render.RoleDim, Text: noCosts})
	}
	asked := render.Select(&o, costTable(c, &o), nil)
	s.Items = asked.Items
	if r.Costs != nil {
		s.Parts, s.Foot = []render.Part{asked.List("")}, asked.More(&o)
	}
	return s.Write(w, format)
}

// CostSchema returns the schema of the segments that WriteCosts writes.
func CostSchema(o render.ReportOptions) *table.Schema { return costTable(&replay.Costs{}, &o).Schema() }

const noCosts = "cost by segment unknown: only the engine measures it"

func writeCostHead(e *encode.Encoder, r *replay.Result) {
	e.Entry("collection", r.Setup.Collection)
	e.Entry("target", r.Setup.Target)
	if r.Costs == nil {
		return
	}
	e.Entry("queries", r.Costs.Queries)
	e.Entry("wall_seconds", r.Costs.Wall)
	e.Entry("reduce_seconds", r.Costs.Reduce)
}

// costShares groups segments by name, most expensive group first.
func costShares(c *replay.Costs, name func(s *replay.SegmentCost) string) []replay.Share {
	var list []replay.Share
	at := map[string]int{}
	var all time.Duration
	for i := range c.Segments {
		s := &c.Segments[i]
		all += s.Time
		n := name(s)
		j, ok := at[n]
		if !ok {
			j = len(list)
			at[n] = j
			list = append(list, replay.Share{Name: n})
		}
		g := &list[j]
		g.Segments++
		if s.Rows < 0 || g.Rows < 0 { // the sum is unknown too
			g.Rows = -1
		} else {
			g.Rows += s.Rows
		}
		g.Time += s.Time
		g.Distances += s.Distances
	}
	for i := range list {
		list[i].Part = ratioOf(float64(list[i].Time), float64(all))
	}
	slices.SortStableFunc(list, func(a, b replay.Share) int { return cmp.Compare(b.Time, a.Time) })
	return list
}

// costIndex returns the index type of a segment.
func costIndex(s *replay.SegmentCost) string {
	if s.Index == "" {
		return "row by row"
	}
	return render.Harmless(s.Index)
}

// costNode returns the name of a segment's node, or "?" if it is unknown.
func costNode(s *replay.SegmentCost) string {
	if s.NodeName == "" && s.Node == 0 {
		return words.UnknownMark
	}
	return nodeName(s.Node, s.NodeName)
}

func costParts(r *replay.Result, o *render.ReportOptions) []render.Part {
	c := r.Costs
	if c == nil {
		return []render.Part{{Head: []render.Line{{Role: render.RoleDim, Text: noCosts}}}}
	}
	if len(c.Segments) == 0 {
		return []render.Part{
			{Head: []render.Line{{Role: render.RoleDim, Text: "cost by segment unknown: no segment was searched"}}},
		}
	}
	text := "Where the time went: " + words.Latency(c.Wall, o.ASCII) + " in segments"
	if c.Reduce > 0 {
		text += ", " + words.Latency(c.Reduce, o.ASCII) + " merging results"
	}
	text += ", " + words.Count(c.Queries, "query", "queries")
	parts := []render.Part{
		sharePart("STATE", costShares(c, func(s *replay.SegmentCost) string { return stateText(s.State) }), c, o),
	}
	parts[0].Head = []render.Line{{Role: render.RoleTitle, Text: text}}
	for _, x := range []struct {
		title string
		name  func(s *replay.SegmentCost) string
	}{{"INDEX", costIndex}, {"NODE", costNode}} {
		if list := costShares(c, x.name); len(list) > 1 {
			parts = append(parts, sharePart(x.title, list, c, o))
		}
	}
	dearest := render.Select(o.WithoutQuery(), costTable(c, o), nil)
	return append(parts, render.Part{
		List: dearest.DisplayGrid,
		Head: []render.Line{
			{
				Role: render.RoleTitle,
				Text: countHeading("Most expensive", len(dearest.Rows), len(c.Segments), "segment"),
			},
		},
	})
}

// countHeading returns a heading: "Most expensive 5 of 50 segments (--limit 0 shows all)".
func countHeading(text string, shown, all int, noun string) string {
	switch {
	case shown < all:
		return text + " " + strconv.Itoa(shown) + " of " + words.Plural(all, noun) + render.LimitHint
	case all == 1:
		return text + " " + noun
	}
	return text + " " + noun + "s"
}

// sharePart returns a table of groups.
func sharePart(title string, list []replay.Share, c *replay.Costs, o *render.ReportOptions) render.Part {
	column := func(title string, priority int, text func(g *replay.Share) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, AlignRight: true, Priority: priority},
			Shown:  func(i int) string { return text(&list[i]) },
		}
	}
	return render.Part{List: render.PositionGrid(o.Shown(len(list)), []table.ColumnOf[int]{
		{Column: table.Column{Title: title, Shorten: true}, Shown: func(i int) string { return list[i].Name }},
		column("SEGMENTS", 3, func(g *replay.Share) string { return strconv.Itoa(g.Segments) }),
		column("ROWS", 2, func(g *replay.Share) string { return rowCount(g.Rows) }),
		column("PER QUERY", 0, func(g *replay.Share) string { return perQueryTime(g.Time, c.Queries, o) }),
		column("DISTANCES", 1, func(g *replay.Share) string { return perQueryCount(g.Distances, c.Queries) }),
		column("SHARE", 0, func(g *replay.Share) string { return words.Share(g.Part) }),
	})}
}

// perQueryTime returns the mean time per query.
func perQueryTime(d time.Duration, queries int64, o *render.ReportOptions) string {
	if queries <= 0 {
		return words.UnknownMark
	}
	return words.Latency(time.Duration(float64(d)/float64(queries)), o.ASCII)
}

func perQueryCount(n, queries int64) string {
	if queries <= 0 {
		return words.UnknownMark
	}
	return perQuery(float64(n) / float64(queries))
}

func costTable(c *replay.Costs, o *render.ReportOptions) *table.Rows[*replay.SegmentCost] {
	type segment = *replay.SegmentCost
	all := time.Duration(0)
	for i := range c.Segments {
		all += c.Segments[i].Time
	}
	name := func(key string, of func(s segment) string) table.ColumnOf[segment] {
		return render.Key(key, table.Text, func(s segment) table.Cell { return nameCell(of(s)) })
	}
	count := func(key string, of func(s segment) int64) table.ColumnOf[segment] {
		return render.Key(key, table.Int, func(s segment) table.Cell { return table.OfCount(of(s)) })
	}
	number := func(of func(s segment) int64) func(s segment) string {
		return func(s segment) string { return words.Number(of(s)) }
	}
	harmless := func(of func(s segment) string) func(s segment) string {
		return func(s segment) string { return render.Harmless(of(s)) }
	}
	partition, channel := func(s segment) string { return s.Partition }, func(s segment) string { return s.Channel }
	deleted, brute := func(s segment) int64 { return s.Deleted }, func(s segment) int64 { return s.BruteForce }
	id := func(s segment) string { return strconv.FormatInt(s.Segment, 10) }
	numbered := render.TextKey("segment_id", id).WithTitle("SEGMENT", 0, id)
	numbered.AlignRight = true
	node := name("node", func(s segment) string { return s.NodeName }).WithTitle("NODE", 0, costNode)
	node.Shorten = true
	return table.New(table.Schema{
		Name: "segments", Singular: "segment", Names: []string{"segment_id"}, Sparse: true,
		Order: []string{
			"segment_id", "state", "node", "rows", "deleted", "index", "ef", "distances", "brute_force", "time_seconds",
			"share", "partition", "channel", "node_id", "queries",
		},
	}, render.Pointers(c.Segments), []table.ColumnOf[segment]{
		numbered,
		render.TextKey("state", func(s segment) string { return stateWord(s.State) }).WithTitle("STATE", 0,
			func(s segment) string { return stateText(s.State) }).
			WithRole(func(s segment) render.Role { return stateRole(s.State) }).WithVocabulary(),
		name("index", func(s segment) string { return s.Index }).WithTitle("INDEX", 3, func(s segment) string {
			if s.Index == "" {
				return words.NoneMark
			}
			return render.Harmless(s.Index)
		}),
		render.Key("node_id", table.Text, func(s segment) table.Cell {
			if s.Node == 0 {
				return table.OfUnknown()
			}
			return table.Of(strconv.FormatInt(s.Node, 10))
		}),
		node,
		name("partition", partition).WithTitle("PARTITION", 0, harmless(partition)).WideOnly(),
		name("channel", channel).WithTitle("CHANNEL", 0, harmless(channel)).WideOnly(),
		count("rows", func(s segment) int64 { return s.Rows }).WithTitle("ROWS", 1, func(s segment) string {
			return rowCount(s.Rows)
		}),
		count("deleted", deleted).WithTitle("DELETED", 0, number(deleted)).WideOnly(),
		count("queries", func(s segment) int64 { return s.Queries }),
		render.Key("time_seconds", table.Exact, func(s segment) table.Cell { return table.OfFloat(s.Time.Seconds()) }).
			WithTitle("PER QUERY", 0, func(s segment) string { return perQueryTime(s.Time, s.Queries, o) }),
		count("distances", func(s segment) int64 { return s.Distances }).WithTitle("DISTANCES", 2,
			func(s segment) string { return perQueryCount(s.Distances, s.Queries) }),
		count("brute_force", brute).WithTitle("BRUTE FORCE", 0, number(brute)).WideOnly(),
		render.Key("ef", table.Int, func(s segment) table.Cell { return render.PositiveCell(s.EF) }).WithTitle("EF", 0,
			func(s segment) string { return orDash(s.EF) }).WideOnly(),
		table.DisplayColumn("share", "SHARE", 0, func(s segment) string {
			return words.Share(ratioOf(float64(s.Time), float64(all)))
		}),
	})
}

// stateRole highlights segments that are searched row by row.
func stateRole(s replay.State) render.Role {
	if s == replay.Indexed {
		return render.RolePlain
	}
	return render.RoleWarn
}

func nameCell(s string) table.Cell {
	if s == "" {
		return table.OfNone()
	}
	return table.Of(s)
}

func stateWord(s replay.State) string {
	if s > replay.Indexed {
		return "unknown"
	}
	return s.Word()
}

// slowPart lists the slowest queries, with the slowest segments of each query.
func slowPart(r *replay.Result, o *render.ReportOptions) render.Part {
	list := r.Slowest
	n := o.Shown(len(list))
	right := func(title string, text func(q *replay.SlowQuery) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, AlignRight: true}, Shown: func(i int) string { return text(&list[i]) },
		}
	}
	return render.Part{
		Head: []render.Line{{Role: render.RoleTitle, Text: countHeading("The slowest", n, len(list), "request")}},
		List: render.PositionGrid(n, []table.ColumnOf[int]{
			right("REQUEST", func(q *replay.SlowQuery) string { return strconv.Itoa(q.Request) }),
			right("TOOK", func(q *replay.SlowQuery) string { return words.Latency(q.Took, o.ASCII) }),
			{
				Column: table.Column{Title: "LONGEST IN", Shorten: true},
				Shown:  func(i int) string { return slowText(&list[i], o) },
			},
		}),
	}
}

// slowText lists the slowest segments of a query: "4551 (growing) 2.1 ms, 4552 (indexed) 310 µs".
func slowText(q *replay.SlowQuery, o *render.ReportOptions) string {
	if len(q.Segments) == 0 {
		return words.UnknownMark
	}
	most := 3
	if o.Width > 0 && o.Width < 120 {
		most = 1
	}
	var list []string
	for i := range q.Segments[:min(most, len(q.Segments))] {
		s := &q.Segments[i]
		list = append(list,
			strconv.FormatInt(s.Segment, 10)+" ("+strings.TrimPrefix(stateText(s.State), "sealed, ")+") "+
				words.Latency(s.Took, o.ASCII))
	}
	return strings.Join(list, ", ")
}
