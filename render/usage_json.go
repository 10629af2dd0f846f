package render

import (
	"io"
	"math"

	"kitescope/inspect/view"
	"kitescope/profile/usage"
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

func usageFields(u *usage.Usage) []sheetField {
	field := func(name string, of func(s *usage.Series) datum) sheetField {
		return sheetField{name, func(i int) datum { return of(u.Series[i]) }}
	}
	optional := func(text string) datum {
		if text == "" {
			return noDatum()
		}
		return textDatum(text)
	}
	return []sheetField{
		field("process", func(s *usage.Series) datum { return textDatum(s.Name) }),
		field("readings", func(s *usage.Series) datum { return intDatum(int64(s.Readings)) }),
		field("gaps", func(s *usage.Series) datum { return intDatum(int64(s.Gaps)) }),
		field("last_gap", func(s *usage.Series) datum { return optional(s.LastGap) }),
		field("restarts", func(s *usage.Series) datum { return intDatum(int64(s.Restarts)) }),
		field("ended", func(s *usage.Series) datum { return optional(s.Ended) }),
		field("readings_per_sample", func(s *usage.Series) datum { return intDatum(int64(s.Merged)) }),
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
	fields := sampleFields()[1:] // whose they are, the item says
	for i := range s.Points {
		writeSample(e, fields, &usage.Sample{Series: s, Point: s.Points[i]})
	}
	e.endList()
}

// sampleField is a key of a sample.
type sampleField struct {
	name string
	of   func(s *usage.Sample) datum
}

// sampleFields are the keys of a sample and the columns of CSV.
func sampleFields() []sampleField {
	fields := []sampleField{
		{"process", func(s *usage.Sample) datum { return textDatum(s.Series.Name) }},
		{"at", func(s *usage.Sample) datum { return timeDatum(s.At) }},
		{"over_seconds", func(s *usage.Sample) datum { return datum{kind: datumSeconds, n: int64(s.Over)} }},
	}
	for _, l := range measureLooks() {
		fields = append(fields, sampleField{l.key, func(s *usage.Sample) datum {
			v := s.Values[l.measure]
			switch {
			case math.IsNaN(v):
				return unknownDatum(datumNumber)
			case l.measure == usage.RSS || l.measure == usage.Heap:
				return intDatum(int64(min(v, math.MaxInt64/2)))
			}
			return numberDatum(l.factor * v)
		}})
	}
	return append(fields,
		sampleField{"restarted", func(s *usage.Sample) datum {
			if !s.Restarted {
				return noDatum()
			}
			return boolDatum(true)
		}},
		sampleField{"gap", func(s *usage.Sample) datum {
			if s.Gap == "" {
				return noDatum()
			}
			return textDatum(s.Gap)
		}})
}

func writeSample(e encoder, fields []sampleField, s *usage.Sample) {
	e.beginObject()
	for i := range fields {
		if d := fields[i].of(s); d.absent == view.Present {
			e.key(fields[i].name)
			d.tell(e)
		}
	}
	e.endObject()
}

func allSamples(u *usage.Usage) (list []usage.Sample) {
	for _, s := range u.Series {
		for i := range s.Points {
			list = append(list, usage.Sample{Series: s, Point: s.Points[i]})
		}
	}
	return list
}

// UsageStream writes samples as they come: JSON lines, or CSV.
type UsageStream struct {
	w      io.Writer
	csv    bool
	header bool
	fields []sampleField
}

// NewUsageStream makes a stream of JSON lines, or of CSV with or without a header.
func NewUsageStream(w io.Writer, csv, header bool) *UsageStream {
	return &UsageStream{w: w, csv: csv, header: csv && header, fields: sampleFields()}
}

// Write writes one sample.
func (s *UsageStream) Write(x usage.Sample) error {
	if !s.csv {
		e := newJSON(s.w, 0)
		writeSample(e, s.fields, &x)
		return e.flush()
	}
	out := newOutput(s.w)
	if s.header {
		s.header = false
		for j := range s.fields {
			out.buf = append(out.buf, s.fields[j].name...)
			out.buf = append(out.buf, ",\n"[b2i(j == len(s.fields)-1)])
		}
	}
	for j := range s.fields {
		d := s.fields[j].of(&x)
		out.buf = appendField(out.buf, d.appendCSV(nil))
		out.buf = append(out.buf, ",\n"[b2i(j == len(s.fields)-1)])
	}
	return out.flush()
}
