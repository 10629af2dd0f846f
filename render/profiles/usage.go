package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/picture"
)

// measureLook describes how to format a measure of usage.
type measureLook struct {
	measure usage.Measure
	// title is the header of the column. label is the label of the plot's panel, whose values are multiplied by
	// scale.
	title, label string
	scale        float64
	// key is the key of the value in JSON.
	key  string
	text func(v float64) string
}

func measureLooks() []measureLook {
	return []measureLook{
		{usage.CPU, "CPU", "CPU (cores)", 1, "cpu_cores", coresUsed},
		{usage.RSS, "MEMORY", "memory (MiB)", 1.0 / (1 << 20), "rss_bytes", bytesUsed},
	}
}

// coresUsed formats a number of cores with two decimals. It does not round small numbers to zero.
func coresUsed(v float64) string {
	if v > 0 && v < 0.005 {
		return "<0.01"
	}
	return render.Ratio(v)
}

func bytesUsed(v float64) string { return words.Bytes(int64(min(v, math.MaxInt64/2))) }

// WriteUsage writes the resource usage of processes after the watch.
func WriteUsage(w io.Writer, u *usage.Usage, f render.Format, o render.ReportOptions) error {
	asked := render.Select(&o, usageTable(u), nil)
	list := asked.List("")
	list.Head = append([]render.Line{{Role: render.RoleDim, Text: "min .. mean .. max"}}, list.Head...)
	s := &render.Sheet{
		Kind: "Usage", Options: &o, Head: usageHead(u), Foot: asked.More(&o),
		About:  func(e *encode.Encoder) { writeUsageHead(e, u) },
		Items:  asked.Items,
		Nested: func(e *encode.Encoder, i int) { writeUsageParts(e, u.Series[i]) },
		Parts:  []render.Part{list},
		Flat:   sampleGrid(allSamples(asked.Rows), sampleKeys()),
	}
	return s.Write(w, f)
}

// UsageSchema returns the schema of the list of processes that WriteUsage writes.
func UsageSchema(render.ReportOptions) *table.Schema { return usageTable(&usage.Usage{}).Schema() }

func usageTitle(u *usage.Usage) string {
	if len(u.Series) == 1 {
		return "usage of 1 process"
	}
	return "usage of " + strconv.Itoa(len(u.Series)) + " processes"
}

// watchText returns, for example, "30s from 2026-11-20T08:00:00Z, every 1s".
func watchText(u *usage.Usage) string {
	return words.Age(u.End.Sub(u.Begin)) + " from " + u.Begin.UTC().Format(time.RFC3339) + ", every " +
		words.Age(u.Interval)
}

// usageHead returns the title and warnings about incomplete data.
func usageHead(u *usage.Usage) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: usageTitle(u)}, {Text: watchText(u)}}
	warn := func(s *usage.Series, text string) {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: s.Name + " " + text})
	}
	every := 1
	for _, s := range u.Series {
		every = max(every, s.Every)
		if s.Readings == 0 && s.Gaps > 0 {
			warn(s, "never responded: "+s.LastGap)
		} else if s.Gaps > 0 {
			warn(s,
				"did not respond "+strconv.Itoa(s.Gaps)+" of "+strconv.Itoa(s.Gaps+s.Readings)+" times, last error: "+
					s.LastGap)
		}
		if s.Restarts > 0 {
			warn(s,
				"was restarted "+words.Plural(s.Restarts, "time")+": its totals lack the work just before a restart")
		}
		if s.Ended != "" {
			warn(s, "has "+s.Ended)
		}
	}
	if every > 1 {
		text := "long watch: one of " + strconv.Itoa(every) +
			" readings is kept; extremes and totals cover all readings"
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	return lines
}

// cpuTotal returns the CPU time that a process used during the watch.
func cpuTotal(s *usage.Series) string {
	t := &s.Totals[usage.CPU]
	if !t.Known() {
		return ""
	}
	text := Scaled(int64(min(t.Total, 9e9)*1e9), "nanoseconds")
	if t.AtLeast {
		text = ">=" + text
	}
	return text
}

// usageTable returns a table with a row per process. For people, a cell holds the minimum, mean and maximum.
func usageTable(u *usage.Usage) *table.Rows[*usage.Series] {
	columns := usageKeys()
	table.SetTitle(columns, "process", "PROCESS", 0, func(s *usage.Series) string { return s.Name }).Shorten = true
	order := []string{"process"}
	for i, l := range measureLooks() {
		order = append(order, l.key)
		columns = append(columns, table.ColumnOf[*usage.Series]{
			Column: table.Column{Name: l.key, Title: l.title, Kind: table.Number, Priority: i, For: table.People},
			Cell:   func(s *usage.Series) table.Cell { return table.OfFloat(s.Totals[l.measure].Mean) },
			Shown: func(s *usage.Series) string {
				t := &s.Totals[l.measure]
				if !t.Known() || math.IsNaN(t.Mean) {
					return words.UnknownMark
				}
				return l.text(t.Min) + " .. " + l.text(t.Mean) + " .. " + l.text(t.Max)
			},
		})
		if l.measure == usage.CPU {
			order = append(order, "cpu_seconds")
			columns = append(columns, table.DisplayColumn("cpu_seconds", "CPU TOTAL", 1, cpuTotal))
		}
	}
	return table.New(table.Schema{
		Name: "processes", Singular: "process", Names: []string{"process"}, Sparse: true, Order: order,
	}, u.Series, columns)
}

func writeUsageHead(e *encode.Encoder, u *usage.Usage) {
	e.Entry("begin", u.Begin)
	e.Entry("end", u.End)
	e.Entry("interval_seconds", u.Interval)
}

func usageKeys() []table.ColumnOf[*usage.Series] {
	count := func(name string, of func(s *usage.Series) int) table.ColumnOf[*usage.Series] {
		return render.Key(name, table.Int, func(s *usage.Series) table.Cell { return table.OfInt(int64(of(s))) })
	}
	optional := func(name string, of func(s *usage.Series) string) table.ColumnOf[*usage.Series] {
		return render.Key(name, table.Text, func(s *usage.Series) table.Cell {
			if of(s) == "" {
				return table.OfNone()
			}
			return table.Of(of(s))
		})
	}
	return []table.ColumnOf[*usage.Series]{
		render.TextKey("process", func(s *usage.Series) string { return s.Name }),
		count("readings", func(s *usage.Series) int { return s.Readings }),
		count("gaps", func(s *usage.Series) int { return s.Gaps }),
		optional("last_gap", func(s *usage.Series) string { return s.LastGap }),
		count("restarts", func(s *usage.Series) int { return s.Restarts }),
		optional("ended", func(s *usage.Series) string { return s.Ended }),
		count("readings_per_sample", func(s *usage.Series) int { return s.Every }),
	}
}

// writeUsageParts writes the totals and samples of a process.
func writeUsageParts(e *encode.Encoder, s *usage.Series) {
	e.Key("totals")
	e.BeginObject()
	for _, l := range measureLooks() {
		t := &s.Totals[l.measure]
		if !t.Known() {
			continue
		}
		e.Key(l.key)
		e.BeginObject()
		e.Entry("min", t.Min)
		e.Entry("mean", t.Mean)
		e.Entry("max", t.Max)
		if l.measure == usage.CPU {
			e.Entry("cpu_seconds", t.Total)
			e.NonZero("at_least", t.AtLeast)
		}
		e.EndObject()
	}
	e.EndObject()
	e.Key("samples")
	e.BeginList()
	samples := allSamples([]*usage.Series{s})
	it := render.NewItems(sampleGrid(samples, sampleKeys()[1:])) // the item already has the process
	for i := range samples {
		it.Write(e, i)
	}
	e.EndList()
}

// usageSample is a point in the series of a process.
type usageSample struct {
	process string
	*usage.Point
}

// sampleKeys returns the keys of a sample, which are the columns in CSV.
func sampleKeys() []table.ColumnOf[*usageSample] {
	value := func(key string, m usage.Measure, kind table.Kind) table.ColumnOf[*usageSample] {
		return render.Key(key, kind, func(s *usageSample) table.Cell {
			switch v := s.Values[m]; {
			case math.IsNaN(v):
				return table.OfUnknown()
			case kind == table.Int:
				return table.OfInt(int64(min(v, math.MaxInt64/2)))
			default:
				return table.OfFloat(v)
			}
		})
	}
	return []table.ColumnOf[*usageSample]{
		render.Key("process", table.Text, func(s *usageSample) table.Cell { return table.Of(s.process) }),
		render.Key("at", table.Time, func(s *usageSample) table.Cell { return table.OfTime(s.At) }),
		render.Key("over_seconds", table.Duration, func(s *usageSample) table.Cell { return table.OfInt(s.Interval) }),
		value("cpu_cores", usage.CPU, table.Number),
		value("rss_bytes", usage.RSS, table.Int),
		render.Key("restarted", table.Bool, func(s *usageSample) table.Cell {
			if !s.Restarted {
				return table.OfNone()
			}
			return table.OfBool(true)
		}),
		render.Key("gap", table.Text, func(s *usageSample) table.Cell {
			if s.Gap == "" {
				return table.OfNone()
			}
			return table.Of(s.Gap)
		}),
	}
}

// sampleGrid returns a list of samples for scripts.
func sampleGrid(samples []*usageSample, columns []table.ColumnOf[*usageSample]) *table.Grid {
	return table.All(table.New(table.Schema{Sparse: true}, samples, columns), table.Hidden)
}

func allSamples(series []*usage.Series) (list []*usageSample) {
	for _, s := range series {
		for i := range s.Points {
			list = append(list, &usageSample{s.Name, &s.Points[i]})
		}
	}
	return list
}

// PlotUsage draws CPU and memory of processes over time in UTC. A line is interrupted where readings are
// missing.
func PlotUsage(w io.Writer, u *usage.Usage, format string) error {
	c := picture.Chart{Title: usageTitle(u) + ", " + watchText(u), PanelHeight: 2.4, Notes: []string{"times in UTC"}}
	names, looks := usageLooks(u)
	for _, l := range measureLooks() {
		if !slices.ContainsFunc(u.Series, func(s *usage.Series) bool { return s.Totals[l.measure].Known() }) {
			continue
		}
		panel := picture.Panel{
			X: picture.Axis{From: seconds(u.Begin), To: seconds(u.End), Clock: true}, Y: picture.Axis{Label: l.label},
		}
		for i, s := range u.Series {
			line := picture.Series{Name: names[i], Look: looks[i]}
			for j := range s.Points {
				x := &s.Points[j]
				line.Points = append(line.Points, picture.Point{X: seconds(x.At), Y: l.scale * x.Values[l.measure]})
			}
			panel.Series = append(panel.Series, line)
		}
		c.Panels = append(c.Panels, panel)
	}
	if len(c.Panels) == 0 {
		return errors.New("plot: nothing was measured")
	}
	if err := c.Write(w, format); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// usageLooks returns names and styles of processes. The 18 processes that use the most CPU have distinct
// combinations of color and dash, and the others are gray.
func usageLooks(u *usage.Usage) (names []string, looks []picture.Look) {
	const most, colours = 18, 6
	names, looks = make([]string, len(u.Series)), make([]picture.Look, len(u.Series))
	order := make([]int, len(u.Series))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(u.Series[b].Totals[usage.CPU].Total, u.Series[a].Totals[usage.CPU].Total)
	})
	for rank, i := range order {
		names[i] = render.ShortenMiddle(render.Harmless(u.Series[i].Name), 32, "…")
		looks[i] = picture.Look{Colour: picture.Colour(rank % colours), Dash: rank / colours}
		if rank >= most {
			names[i], looks[i] = strconv.Itoa(len(order)-most)+" others", picture.Look{
				Colour: picture.Grey, Faint: true,
			}
		}
	}
	return names, looks
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
