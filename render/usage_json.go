package render

import (
	"io"
	"math"

	"kitescope/profile/usage"
	"kitescope/table"
)

func writeUsageHead(e encoder, u *usage.Usage) {
	e.key("begin")
	e.time(u.Begin.UnixNano())
	e.key("end")
	e.time(u.End.UnixNano())
	e.key("interval_seconds")
	e.seconds(int64(u.Interval))
	if u.Counter != "" {
		e.key("counter")
		e.text(u.Counter)
	}
	if q, ok := u.PerQuery(); ok {
		e.key("per_query")
		e.beginObject()
		e.key("queries")
		e.number(q.Queries)
		writeKnown(e, "cpu_seconds", q.CPU, e.exact)
		writeKnown(e, "context_switches", q.Switches, e.exact)
		writeNames(e, "missing", q.Missing)
		e.endObject()
	}
	if u.Command != nil {
		writeCommand(e, u.Command)
	}
}

func writeCommand(e encoder, c *usage.Command) {
	e.key("command")
	e.beginObject()
	e.key("name")
	e.text(c.Name)
	e.key("state")
	e.text(c.State)
	e.key("exit_code")
	e.integer(int64(c.ExitCode))
	e.key("wall_seconds")
	e.seconds(int64(c.Wall))
	for _, x := range []struct {
		key string
		n   int64
	}{{"user_seconds", int64(c.User)}, {"system_seconds", int64(c.System)}} {
		if x.n >= 0 {
			e.key(x.key)
			e.seconds(x.n)
		}
	}
	for _, x := range []struct {
		key string
		n   int64
	}{{"max_rss_bytes", c.RSS}, {"voluntary_switches", c.Voluntary}, {"involuntary_switches", c.Involuntary}} {
		if x.n >= 0 {
			e.key(x.key)
			e.integer(x.n)
		}
	}
	e.endObject()
}

func usageFields(u *usage.Usage) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, of func(s *usage.Series) table.Cell) table.ColumnOf[int] {
		return key(name, kind, func(i int) table.Cell { return of(u.Series[i]) })
	}
	optional := func(text string) table.Cell {
		if text == "" {
			return table.OfNone()
		}
		return table.Of(text)
	}
	return []table.ColumnOf[int]{
		field("process", table.Text, func(s *usage.Series) table.Cell { return table.Of(s.Name) }),
		field("readings", table.Int, func(s *usage.Series) table.Cell { return table.OfInt(int64(s.Readings)) }),
		field("gaps", table.Int, func(s *usage.Series) table.Cell { return table.OfInt(int64(s.Gaps)) }),
		field("last_gap", table.Text, func(s *usage.Series) table.Cell { return optional(s.LastGap) }),
		field("restarts", table.Int, func(s *usage.Series) table.Cell { return table.OfInt(int64(s.Restarts)) }),
		field("ended", table.Text, func(s *usage.Series) table.Cell { return optional(s.Ended) }),
		field("readings_per_sample", table.Int, func(s *usage.Series) table.Cell { return table.OfInt(int64(s.Merged)) }),
	}
}

// writeUsageParts tells totals and samples of a process.
func writeUsageParts(e encoder, s *usage.Series) {
	e.key("totals")
	e.beginObject()
	for _, l := range measureLooks() {
		t := &s.Totals[l.measure]
		if !t.Known() {
			continue
		}
		e.key(l.key)
		e.beginObject()
		for _, x := range []struct {
			key string
			f   float64
		}{{"min", t.Min}, {"mean", t.Mean}, {"max", t.Max}} {
			writeKnown(e, x.key, l.factor*x.f, e.number)
		}
		if l.total != "" {
			e.key(l.total)
			e.number(t.Total)
			if t.AtLeast {
				e.key("at_least")
				e.boolean(true)
			}
		}
		e.endObject()
	}
	e.endObject()
	e.key("samples")
	e.beginList()
	samples := make([]*usage.Sample, len(s.Points))
	for i := range s.Points {
		samples[i] = &usage.Sample{Series: s, Point: s.Points[i]}
	}
	it := newItems(sampleGrid(samples, sampleKeys()[1:])) // whose they are, the item says
	for i := range samples {
		it.write(e, i)
	}
	e.endList()
}

// sampleKeys are the keys of a sample and the columns of CSV.
func sampleKeys() []table.ColumnOf[*usage.Sample] {
	columns := []table.ColumnOf[*usage.Sample]{
		key("process", table.Text, func(s *usage.Sample) table.Cell { return table.Of(s.Series.Name) }),
		key("at", table.Time, func(s *usage.Sample) table.Cell { return table.OfTime(s.At) }),
		key("over_seconds", table.Duration, func(s *usage.Sample) table.Cell { return table.OfInt(s.Over) }),
	}
	for _, l := range measureLooks() {
		kind := table.Number
		if l.measure == usage.RSS || l.measure == usage.Heap {
			kind = table.Int
		}
		columns = append(columns, key(l.key, kind, func(s *usage.Sample) table.Cell {
			v := s.Values[l.measure]
			if math.IsNaN(v) {
				return table.OfUnknown()
			}
			if kind == table.Int {
				return table.OfInt(int64(min(v, math.MaxInt64/2)))
			}
			return table.OfFloat(l.factor * v)
		}))
	}
	return append(columns,
		key("restarted", table.Bool, func(s *usage.Sample) table.Cell {
			if !s.Restarted {
				return table.OfNone()
			}
			return table.OfBool(true)
		}),
		key("gap", table.Text, func(s *usage.Sample) table.Cell {
			if s.Gap == "" {
				return table.OfNone()
			}
			return table.Of(s.Gap)
		}))
}

// sampleGrid is a list of samples for scripts.
func sampleGrid(samples []*usage.Sample, columns []table.ColumnOf[*usage.Sample]) *table.Grid {
	return table.All(table.New(table.Schema{Sparse: true}, samples, columns), table.Hidden)
}

func allSamples(u *usage.Usage) (list []*usage.Sample) {
	for _, s := range u.Series {
		for i := range s.Points {
			list = append(list, &usage.Sample{Series: s, Point: s.Points[i]})
		}
	}
	return list
}

// UsageStream writes samples as they come: JSON lines, or CSV.
type UsageStream struct {
	w      io.Writer
	csv    bool
	header bool
}

// NewUsageStream makes a stream of JSON lines, or of CSV with or without a header.
func NewUsageStream(w io.Writer, csv, header bool) *UsageStream {
	return &UsageStream{w: w, csv: csv, header: csv && header}
}

// Write writes one sample.
func (s *UsageStream) Write(x usage.Sample) error {
	g := sampleGrid([]*usage.Sample{&x}, sampleKeys())
	if s.csv {
		header := s.header
		s.header = false
		return writeCSV(s.w, g, &Options{NoHeader: !header})
	}
	e := newJSON(s.w, 0)
	newItems(g).write(e, 0)
	return e.flush()
}
