package replays

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/replay"
)

// WriteCosts writes what each segment cost, the dearest first: all that WriteResult shows a few of.
func WriteCosts(w io.Writer, r *replay.Result, format render.Format, o render.ReportOptions) error {
	s := &render.Sheet{Kind: "ReplayCosts", Options: &o, Head: []render.Line{{Role: render.RoleTitle, Text: Title(r)}}, About: func(e *encode.Encoder) { writeCostHead(e, r) }}
	c := r.Costs
	if c == nil {
		c = &replay.Costs{}
		s.Head = append(s.Head, render.Line{Role: render.RoleDim, Text: noCosts})
	}
	asked := render.Ask(&o, costTable(c, &o), nil)
	s.Items = asked.Items
	if r.Costs != nil {
		s.Parts, s.Foot = []render.Part{asked.List("")}, asked.More(&o)
	}
	return s.Write(w, format)
}

// CostSchema is what can be asked of the segments that WriteCosts writes.
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

// costShare is what a group of segments cost, apart by state.
type costShare struct {
	replay.Share
	states [3]time.Duration
}

// costShares groups segments: by what their name is, the dearest first.
func costShares(c *replay.Costs, of func(s *replay.SegmentCost) string) []costShare {
	var list []costShare
	at := map[string]int{}
	var all time.Duration
	for i := range c.Segments {
		s := &c.Segments[i]
		all += s.Time
		name := of(s)
		j, ok := at[name]
		if !ok {
			j = len(list)
			at[name] = j
			list = append(list, costShare{Share: replay.Share{Name: name}})
		}
		g := &list[j]
		g.Segments++
		if s.Rows < 0 || g.Rows < 0 { // a sum of what is unknown is so, too
			g.Rows = -1
		} else {
			g.Rows += s.Rows
		}
		g.Time += s.Time
		g.Distances += s.Distances
		if s.State <= replay.Indexed {
			g.states[s.State] += s.Time
		}
	}
	for i := range list {
		list[i].Part = ratioOf(float64(list[i].Time), float64(all))
	}
	slices.SortStableFunc(list, func(a, b costShare) int { return cmp.Compare(b.Time, a.Time) })
	return list
}

// byState has all states that there are in their own order: growing, without index, indexed.
func byState(c *replay.Costs) []costShare {
	list := costShares(c, func(s *replay.SegmentCost) string { return StateText(s.State) })
	place := func(s *costShare) int {
		for state := replay.Growing; state <= replay.Indexed; state++ {
			if s.Name == state.String() {
				return int(state)
			}
		}
		return int(replay.Indexed) + 1
	}
	slices.SortStableFunc(list, func(a, b costShare) int { return cmp.Compare(place(&a), place(&b)) })
	return list
}

// CostIndex is the type of the index that searches of a segment take.
func CostIndex(s *replay.SegmentCost) string {
	if s.Index == "" {
		return "row by row"
	}
	return render.Harmless(s.Index)
}

// CostNode is the name of the node of a segment, "?" if nobody knows it.
func CostNode(s *replay.SegmentCost) string {
	switch {
	case s.NodeName != "":
		return render.Harmless(s.NodeName)
	case s.Node != 0:
		return "node " + strconv.FormatInt(s.Node, 10)
	}
	return words.UnknownMark
}

func costParts(r *replay.Result, o *render.ReportOptions) []render.Part {
	c := r.Costs
	if c == nil {
		return []render.Part{{Head: []render.Line{{Role: render.RoleDim, Text: noCosts}}}}
	}
	if len(c.Segments) == 0 {
		return []render.Part{{Head: []render.Line{{Role: render.RoleDim, Text: "cost by segment unknown: no segment was searched"}}}}
	}
	text := "Where the time went: " + words.Latency(c.Wall, o.ASCII) + " in segments"
	if c.Reduce > 0 {
		text += ", " + words.Latency(c.Reduce, o.ASCII) + " merging answers"
	}
	text += ", " + words.Count(c.Queries, "query", "queries")
	head := []render.Line{{Role: render.RoleTitle, Text: text}, {Role: render.RoleDim, Text: StateLegend(o.ASCII)}}
	parts := []render.Part{sharePart("STATE", byState(c), c, o)}
	parts[0].Head = head
	if list := costShares(c, CostIndex); len(list) > 1 {
		parts = append(parts, sharePart("INDEX", list, c, o))
	}
	if list := costShares(c, CostNode); len(list) > 1 {
		part := sharePart("NODE", list, c, o)
		part.Head = spreadLines(list)
		parts = append(parts, part)
	}
	dearest := render.Ask(o.Unasked(), costTable(c, o), nil)
	return append(parts, render.Part{
		List: dearest.People,
		Head: []render.Line{{Role: render.RoleTitle, Text: ofAll("Most expensive", len(dearest.Rows), len(c.Segments), "segment")}},
	})
}

// ofAll is a heading: "The dearest 5 of 50 segments (--limit 0 shows all)".
func ofAll(text string, shown, all int, noun string) string {
	switch {
	case shown < all:
		return text + " " + strconv.Itoa(shown) + " of " + words.Plural(all, noun) + render.LimitHint
	case all == 1:
		return text + " " + noun
	}
	return text + " " + noun + "s"
}

// spreadLines say how far nodes are from doing alike: what a plan of moves can win.
func spreadLines(list []costShare) []render.Line {
	most, sum := time.Duration(0), time.Duration(0)
	for i := range list {
		most, sum = max(most, list[i].Time), sum+list[i].Time
	}
	if sum == 0 {
		return nil
	}
	times := float64(most) / (float64(sum) / float64(len(list)))
	return []render.Line{{Role: render.RoleDim, Text: "the busiest node does " + words.ThreeDigits(times) + " times its even share (" + words.Plural(len(list), "node") + " that search)"}}
}

// sharePart is a table of groups, with a bar of each: its length is the share of all time, its filling the states.
func sharePart(title string, list []costShare, c *replay.Costs, o *render.ReportOptions) render.Part {
	most := time.Duration(0)
	for i := range list {
		most = max(most, list[i].Time)
	}
	n := o.Shown(len(list))
	column := func(title string, priority int, text func(g *costShare) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&list[i]) }}
	}
	size := clusters.BarWidth(&o.Options)
	part := render.Part{List: render.Places(n, []table.ColumnOf[int]{
		{Column: table.Column{Title: title, Shorten: true}, Shown: func(i int) string { return list[i].Name }},
		column("SEGMENTS", 3, func(g *costShare) string { return strconv.Itoa(g.Segments) }),
		column("ROWS", 2, func(g *costShare) string { return rowCount(g.Rows) }),
		column("PER QUERY", 0, func(g *costShare) string { return perQueryTime(g.Time, c.Queries, o) }),
		column("DISTANCES", 1, func(g *costShare) string { return perQueryCount(g.Distances, c.Queries) }),
		column("SHARE", 0, func(g *costShare) string { return words.Share(g.Part) }),
		{Shown: func(i int) string { return stateBar(&list[i].states, list[i].Time, most, size, o.ASCII) }},
	})}
	return part
}

// perQueryTime is what something took of an average query.
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

// stateBar draws time, apart by state; most fills all cells, and what is there is never nothing.
func stateBar(states *[3]time.Duration, whole, most time.Duration, size int, ascii bool) string {
	if most <= 0 || whole <= 0 {
		return ""
	}
	var b strings.Builder
	sum, drawn := time.Duration(0), 0
	for state := replay.Growing; state <= replay.Indexed; state++ {
		sum += states[state]
		n := max(0, int(math.Round(float64(sum)/float64(most)*float64(size)))-drawn)
		b.WriteString(strings.Repeat(stateGlyph(state, ascii), n))
		drawn += n
	}
	if drawn == 0 {
		if ascii {
			return "."
		}
		return "·"
	}
	return b.String()
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
	numbered := render.TextKey("segment_id", id).Titled("SEGMENT", 0, id)
	numbered.Right = true
	node := name("node", func(s segment) string { return s.NodeName }).Titled("NODE", 0, CostNode)
	node.Shorten = true
	return table.New(table.Schema{
		Name: "segments", Singular: "segment", Names: []string{"segment_id"}, Sparse: true,
		Order: []string{"segment_id", "state", "node", "rows", "deleted", "index", "ef", "distances", "brute_force", "time_seconds", "share", "partition", "channel", "node_id", "queries"},
	}, render.Pointers(c.Segments), []table.ColumnOf[segment]{
		numbered,
		render.TextKey("state", func(s segment) string { return stateWord(s.State) }).Titled("STATE", 0, func(s segment) string { return StateText(s.State) }).
			Looking(func(s segment) render.Role { return stateRole(s.State) }).Word(),
		name("index", func(s segment) string { return s.Index }).Titled("INDEX", 3, func(s segment) string {
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
		name("partition", partition).Titled("PARTITION", 0, harmless(partition)).Wider(),
		name("channel", channel).Titled("CHANNEL", 0, harmless(channel)).Wider(),
		count("rows", func(s segment) int64 { return s.Rows }).Titled("ROWS", 1, func(s segment) string { return rowCount(s.Rows) }),
		count("deleted", deleted).Titled("DELETED", 0, number(deleted)).Wider(),
		count("queries", func(s segment) int64 { return s.Queries }),
		render.Key("time_seconds", table.Exact, func(s segment) table.Cell { return table.OfFloat(s.Time.Seconds()) }).
			Titled("PER QUERY", 0, func(s segment) string { return perQueryTime(s.Time, s.Queries, o) }),
		count("distances", func(s segment) int64 { return s.Distances }).Titled("DISTANCES", 2, func(s segment) string { return perQueryCount(s.Distances, s.Queries) }),
		count("brute_force", brute).Titled("BRUTE FORCE", 0, number(brute)).Wider(),
		render.Key("ef", table.Int, func(s segment) table.Cell { return render.PositiveCell(s.EF) }).Titled("EF", 0, func(s segment) string { return orDash(s.EF) }).Wider(),
		table.Picture("share", "SHARE", 0, func(s segment) string { return words.Share(ratioOf(float64(s.Time), float64(all))) }),
	})
}

// stateRole colours what is searched row by row.
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
