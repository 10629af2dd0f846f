package profiles

import (
	"io"
	"math"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/profile/usage"
	"kitescope/render"
)

func writeUsageHead(e *encode.Encoder, u *usage.Usage) {
	e.Entry("begin", u.Begin)
	e.Entry("end", u.End)
	e.Entry("interval_seconds", u.Interval)
	e.NonZero("counter", u.Counter)
	if q, ok := u.PerQuery(); ok {
		e.Key("per_query")
		e.BeginObject()
		e.Entry("queries", q.Queries)
		e.Entry("cpu_seconds", encode.Exact(q.CPU))
		e.Entry("context_switches", encode.Exact(q.Switches))
		e.NonZero("missing", q.Missing)
		e.EndObject()
	}
	if u.Command != nil {
		writeCommand(e, u.Command)
	}
}

func writeCommand(e *encode.Encoder, c *usage.Command) {
	e.Key("command")
	e.BeginObject()
	e.Entry("name", c.Name)
	e.Entry("state", c.State)
	e.Entry("exit_code", c.ExitCode)
	e.Entry("wall_seconds", c.Wall)
	for _, x := range []struct {
		key string
		d   time.Duration
	}{{"user_seconds", c.User}, {"system_seconds", c.System}} {
		if x.d >= 0 {
			e.Entry(x.key, x.d)
		}
	}
	for _, x := range []struct {
		key string
		n   int64
	}{{"max_rss_bytes", c.RSS}, {"voluntary_switches", c.Voluntary}, {"involuntary_switches", c.Involuntary}} {
		if x.n >= 0 {
			e.Entry(x.key, x.n)
		}
	}
	e.EndObject()
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
		count("readings_per_sample", func(s *usage.Series) int { return s.Merged }),
	}
}

// writeUsageParts tells totals and samples of a process.
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
		for _, x := range []struct {
			key string
			f   float64
		}{{"min", t.Min}, {"mean", t.Mean}, {"max", t.Max}} {
			e.Entry(x.key, l.factor*x.f)
		}
		if l.total != "" {
			e.Entry(l.total, t.Total)
			e.NonZero("at_least", t.AtLeast)
		}
		e.EndObject()
	}
	e.EndObject()
	e.Key("samples")
	e.BeginList()
	samples := make([]*usage.Sample, len(s.Points))
	for i := range s.Points {
		samples[i] = &usage.Sample{Series: s, Point: s.Points[i]}
	}
	it := render.NewItems(sampleGrid(samples, sampleKeys()[1:])) // whose they are, the item says
	for i := range samples {
		it.Write(e, i)
	}
	e.EndList()
}

// sampleKeys are the keys of a sample and the columns of CSV.
func sampleKeys() []table.ColumnOf[*usage.Sample] {
	columns := []table.ColumnOf[*usage.Sample]{
		render.Key("process", table.Text, func(s *usage.Sample) table.Cell { return table.Of(s.Series.Name) }),
		render.Key("at", table.Time, func(s *usage.Sample) table.Cell { return table.OfTime(s.At) }),
		render.Key("over_seconds", table.Duration, func(s *usage.Sample) table.Cell { return table.OfInt(s.Over) }),
	}
	for _, l := range measureLooks() {
		kind := table.Number
		if l.measure == usage.RSS || l.measure == usage.Heap {
			kind = table.Int
		}
		columns = append(columns, render.Key(l.key, kind, func(s *usage.Sample) table.Cell {
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
		render.Key("restarted", table.Bool, func(s *usage.Sample) table.Cell {
			if !s.Restarted {
				return table.OfNone()
			}
			return table.OfBool(true)
		}),
		render.Key("gap", table.Text, func(s *usage.Sample) table.Cell {
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

func allSamples(series []*usage.Series) (list []*usage.Sample) {
	for _, s := range series {
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
		return render.WriteCSV(s.w, g, &render.Options{NoHeader: !header})
	}
	e := encode.JSON(s.w, 0)
	render.NewItems(g).Write(e, 0)
	return e.Flush()
}
