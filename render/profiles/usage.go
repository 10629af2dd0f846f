package profiles

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
)

// WriteUsage writes what processes used, once the watch is over.
func WriteUsage(w io.Writer, u *usage.Usage, f render.Format, o render.ReportOptions) error {
	return newUsageSheet(u, &o).Write(w, f)
}

// UsageSchema is what can be asked of the processes that WriteUsage writes.
func UsageSchema(render.ReportOptions) *table.Schema { return usageTable(&usage.Usage{}).Schema() }

func newUsageSheet(u *usage.Usage, o *render.ReportOptions) *render.Sheet {
	asked := render.Ask(o, usageTable(u), nil)
	s := &render.Sheet{
		Kind: "Usage", Options: o, Head: usageHead(u), Foot: append(asked.More(o), usageFoot(u)...),
		About:  func(e *encode.Encoder) { writeUsageHead(e, u) },
		Items:  asked.Items,
		Nested: func(e *encode.Encoder, i int) { writeUsageParts(e, u.Series[i]) },
	}
	const few = 3 // processes that have a table of their own
	if len(u.Series) <= few && !o.Asks() {
		for _, x := range asked.Rows {
			s.Parts = append(s.Parts, processPart(u, x))
		}
	} else {
		s.Parts = []render.Part{asked.List("")}
		s.Parts[0].Head = append([]render.Line{{Role: render.RoleDim, Text: "least .. mean .. most"}}, s.Parts[0].Head...)
	}
	s.Flat = sampleGrid(allSamples(asked.Rows), sampleKeys())
	return s
}

// WatchText says how long was watched: "30s from 2026-11-20T08:00:00Z, every 1s".
func WatchText(u *usage.Usage) string {
	return words.Age(u.End.Sub(u.Begin)) + " from " + u.Begin.UTC().Format(time.RFC3339) + ", every " + words.Age(u.Interval)
}

func usageHead(u *usage.Usage) []render.Line {
	title := "usage of " + words.Plural(len(u.Series), "process")
	if len(u.Series) != 1 {
		title = "usage of " + strconv.Itoa(len(u.Series)) + " processes"
	}
	lines := []render.Line{{Role: render.RoleTitle, Text: title}, {Text: WatchText(u)}}
	if u.Command != nil {
		lines = append(lines, render.Line{Text: "command: " + CommandText(u.Command)})
	}
	if text := PerQueryText(u); text != "" {
		lines = append(lines, render.Line{Role: render.RoleAccent, Text: text})
	}
	return append(lines, usageRemarks(u)...)
}

// usageRemarks say what makes figures less than they seem.
func usageRemarks(u *usage.Usage) (lines []render.Line) {
	warn := func(s *usage.Series, text string) {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: s.Name + " " + text})
	}
	merged := 1
	for _, s := range u.Series {
		merged = max(merged, s.Merged)
		if s.Readings == 0 && s.Gaps > 0 {
			warn(s, "never answered: "+s.LastGap)
		} else if s.Gaps > 0 {
			warn(s, "did not answer "+strconv.Itoa(s.Gaps)+" of "+strconv.Itoa(s.Gaps+s.Readings)+" times, at last: "+s.LastGap)
		}
		if s.Restarts > 0 {
			warn(s, "was started again "+words.Plural(s.Restarts, "time")+": its totals lack what it did just before")
		}
		if s.Ended != "" && u.Command == nil {
			warn(s, "has "+s.Ended)
		}
	}
	if merged > 1 {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: "watched for long: a sample stands for up to " + strconv.Itoa(merged) + " readings; extremes and totals are of all"})
	}
	return lines
}

// CommandText says how a command ended and what it used: "sh: exit status 0 after 2.1s; 1.90s user, 0.10s system, ...".
func CommandText(c *usage.Command) string {
	text := render.Harmless(c.Name) + ": " + render.Harmless(c.State) + " after " + Scaled(int64(c.Wall), "nanoseconds")
	if c.User < 0 {
		return text
	}
	text += "; CPU " + render.Ratio(c.User.Seconds()) + "s user, " + render.Ratio(c.System.Seconds()) + "s system"
	if c.RSS >= 0 {
		text += "; at most " + words.Bytes(c.RSS) + " in one process"
	}
	if c.Voluntary >= 0 {
		text += "; " + strconv.FormatInt(c.Voluntary, 10) + " voluntary and " + strconv.FormatInt(c.Involuntary, 10) + " involuntary context switches"
	}
	return text
}

// PerQueryText says what a query costs, "" where no query was counted.
func PerQueryText(u *usage.Usage) string {
	q, ok := u.PerQuery()
	if !ok {
		if u.Counter != "" {
			return "per query: ?; no process counted any in " + render.Harmless(u.Counter)
		}
		return ""
	}
	cpu := words.UnknownMark
	if !math.IsNaN(q.CPU) {
		cpu = Scaled(int64(q.CPU*1e9), "nanoseconds")
	}
	text := "per query: " + cpu + " CPU, " + numberUsed(q.Switches) + " context switches, over " + numberUsed(q.Queries) + " queries"
	if len(q.Missing) > 0 {
		names := make([]string, 0, len(q.Missing))
		for _, name := range q.Missing {
			names = append(names, render.Harmless(name))
		}
		text += "; at least: not all of " + strings.Join(names, ", ") + " is known"
	}
	return text
}

func usageFoot(u *usage.Usage) []render.Line {
	for _, l := range knownLooks(u) {
		for _, s := range u.Series {
			if !s.Totals[l.measure].Known() {
				return []render.Line{{Role: render.RoleDim, Text: "? is unknown: /metrics has no context switches, /proc no goroutines or GC cycles"}}
			}
		}
	}
	return nil
}

// processPart is a process with a line for each measure.
func processPart(u *usage.Usage, s *usage.Series) render.Part {
	looks := knownLooks(u)
	of := func(title string, value func(l *measureLook, t *usage.Total) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return value(&looks[i], &s.Totals[looks[i].measure]) }}
	}
	if len(looks) == 0 {
		return render.Part{}
	}
	columns := []table.ColumnOf[int]{
		of("", func(l *measureLook, _ *usage.Total) string { return l.label }),
		of("MIN", func(l *measureLook, t *usage.Total) string { return l.text(t.Min) }),
		of("MEAN", func(l *measureLook, t *usage.Total) string { return l.text(t.Mean) }),
		of("MAX", func(l *measureLook, t *usage.Total) string { return l.text(t.Max) }),
		of("", func(l *measureLook, _ *usage.Total) string { return measureUnit(l) }),
		of("TOTAL", totalText),
	}
	columns[0].Right, columns[4].Right = false, false
	columns[4].Priority = 1
	return render.Part{Head: []render.Line{{Role: render.RoleAccent, Text: s.Name}}, List: render.Places(len(looks), columns)}
}

// measureUnit is the unit of a line whose values do not carry it.
func measureUnit(l *measureLook) string {
	switch l.measure {
	case usage.RSS, usage.Heap:
		return ""
	case usage.GCPause:
		return "of the time"
	default:
		return l.unit
	}
}

func totalText(l *measureLook, t *usage.Total) string {
	if l.total == "" || !t.Known() {
		return ""
	}
	text := numberUsed(t.Total)
	if l.measure == usage.Allocated {
		text = bytesUsed(t.Total)
	}
	if l.measure == usage.CPU || l.measure == usage.GCPause {
		text = Scaled(int64(min(t.Total, 9e9)*1e9), "nanoseconds")
	}
	if t.AtLeast {
		text = ">=" + text
	}
	return text
}

// usageTable is a line for each process, with least, mean and largest values beside each other for people.
func usageTable(u *usage.Usage) *table.Rows[*usage.Series] {
	columns := usageKeys()
	table.Titled(columns, "process", "PROCESS", 0, func(s *usage.Series) string { return s.Name }).Shorten = true
	order := []string{"process"}
	known := knownLooks(u)
	for _, l := range measureLooks() {
		show := table.Always
		i := slices.IndexFunc(known, func(k measureLook) bool { return k.measure == l.measure })
		switch {
		case i < 0:
			show = table.Hidden
		case slices.Contains([]usage.Measure{usage.Involuntary, usage.GCs, usage.Heap, usage.Allocated, usage.Threads}, l.measure):
			show = table.Wide
		}
		order = append(order, l.key)
		columns = append(columns, table.ColumnOf[*usage.Series]{
			Column: table.Column{Name: l.key, Title: l.title, Kind: table.Number, Show: show, Priority: max(i, 0), For: table.People},
			Cell:   func(s *usage.Series) table.Cell { return table.OfFloat(l.factor * s.Totals[l.measure].Mean) },
			Shown: func(s *usage.Series) string {
				t := &s.Totals[l.measure]
				if !t.Known() || math.IsNaN(t.Mean) {
					return words.UnknownMark
				}
				return l.text(t.Min) + " .. " + l.text(t.Mean) + " .. " + l.text(t.Max)
			},
		})
		if l.measure == usage.CPU {
			order = append(order, l.total)
			columns = append(columns, table.Picture(l.total, "CPU TOTAL", 1, func(s *usage.Series) string { return totalText(&l, &s.Totals[usage.CPU]) }))
		}
	}
	return table.New(table.Schema{Name: "processes", Singular: "process", Names: []string{"process"}, Sparse: true, Order: order}, u.Series, columns)
}
