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
	"kitescope/replay"
	"kitescope/replay/load"
)

// WriteComparison writes the changes since a baseline for each load of a run or sweep: the relative difference
// of each figure and its significance. CSV and JSON have an item per load and figure.
func WriteComparison(w io.Writer, base, other *replay.Result, format render.Format, o render.ReportOptions) error {
	return newReplayComparisonSheet(base, other, &o).Write(w, format)
}

// ComparisonSchema returns the schema of the figures that WriteComparison writes.
func ComparisonSchema(o render.ReportOptions) *table.Schema { return comparedTable(nil, &o).Schema() }

// comparedRow is a figure of a load.
type comparedRow struct {
	change *load.Change
	figure *load.Figure
}

func newReplayComparisonSheet(base, other *replay.Result, o *render.ReportOptions) *render.Sheet {
	changes := load.Compare(base.Points, other.Points)
	var rows []comparedRow
	var alone []render.Line
	for i := range changes {
		c := &changes[i]
		for j := range c.Figures {
			rows = append(rows, comparedRow{c, &c.Figures[j]})
		}
		switch {
		case len(c.Figures) > 0:
		case c.Base == nil:
			alone = append(alone, labelled(o, render.RoleDim, "only now", changeLoadText(c))...)
		default:
			alone = append(alone, labelled(o, render.RoleDim, "only before", changeLoadText(c))...)
		}
	}
	// the limit applies to other lists
	asked := render.Select(o, comparedTable(rows, o), render.Unbounded[comparedRow](o))
	s := &render.Sheet{
		Kind: "ReplayComparison", Options: o, Items: asked.Items, Foot: append(asked.More(o), alone...),
		About: func(e *encode.Encoder) {
			e.Key("before")
			writeComparedSide(e, base)
			e.Key("after")
			writeComparedSide(e, other)
		},
	}
	s.Head = []render.Line{{Role: render.RoleTitle, Text: "Compared with a baseline: " + verdictCounts(changes)}}
	s.Head = append(s.Head, labelled(o, render.RoleDim, "before", sideText(base, o))...)
	s.Head = append(s.Head, labelled(o, render.RoleDim, "now", sideText(other, o))...)
	for _, d := range setupDifferences(&base.Setup, &other.Setup) {
		s.Head = append(s.Head, labelled(o, render.RoleWarn, "differs", d)...)
	}
	if len(rows) == 0 {
		s.Head = append(s.Head, labelled(o, render.RoleBad, "", "no load and parameters in common")...)
		return s
	}
	s.Parts = []render.Part{asked.List("")}
	s.Parts[0].Head = append(s.Parts[0].Head, render.Line{
		Role: render.RoleDim, Text: "Better, worse: significant over all loads (5%, rank sums, Holm)",
	})
	return s
}

func changeLoadText(c *load.Change) string {
	p := c.Base
	if p == nil {
		p = c.Other
	}
	return join(arrivalText(p), parametersText(p))
}

// verdictCounts returns the number of loads by verdict on QPS: "QPS better at 3 loads, no difference at 1".
func verdictCounts(changes []load.Change) string {
	counts := map[load.Verdict]int{}
	for i := range changes {
		for _, f := range changes[i].Figures {
			if f.Name == "qps" {
				counts[f.Verdict]++
			}
		}
	}
	text := ""
	for _, v := range []load.Verdict{load.Better, load.Worse, load.Same, load.TooFew, load.Unknown} {
		if n := counts[v]; n > 0 {
			text = join(text, string(v)+" at "+words.Count(int64(n), "load", "loads"))
		}
	}
	if text == "" {
		return "nothing in common"
	}
	return "QPS " + text
}

func sideText(r *replay.Result, o *render.ReportOptions) string {
	text := render.OrUnknown(r.Setup.Collection) + " by " + render.OrUnknown(r.Setup.Target)
	if taken := render.Stamp(r.Taken); taken != "" {
		text += ", " + taken
	}
	if setup := setupText(&r.Setup, o); setup != "" {
		text += "; " + setup
	}
	return text
}

// setupDifferences returns differences between the setups, which can explain differences between the figures.
func setupDifferences(a, b *replay.Setup) []string {
	var list []string
	for _, x := range []struct{ name, a, b string }{
		{"collection", a.Collection, b.Collection},
		{"target", a.Target, b.Target},
		{"log", a.LogDigest, b.LogDigest},
		{"machine", machineText(&a.Machine), machineText(&b.Machine)},
		{"kitescope", a.Program, b.Program},
	} {
		if x.a != x.b {
			list = append(list, x.name+": "+render.OrUnknown(x.a)+" before, "+render.OrUnknown(x.b)+" now")
		}
	}
	return list
}

func verdictRole(f *load.Figure) render.Role {
	switch f.Verdict {
	case load.Better:
		return render.RoleGood
	case load.Worse:
		return render.RoleBad
	case load.Same:
		return render.RolePlain
	case load.TooFew, load.Unknown:
	}
	return render.RoleDim
}

func shortVerdict(f *load.Figure) string {
	switch f.Verdict {
	case load.Same:
		return "same"
	case load.TooFew:
		return "too few"
	case load.Unknown:
		return words.UnknownMark
	case load.Better, load.Worse:
	}
	return string(f.Verdict)
}

// changeText formats a change with its verdict: "+31.0% better".
func changeText(f *load.Figure) string {
	if math.IsNaN(f.Relative) {
		return words.UnknownMark
	}
	return render.RatioText(1+f.Relative) + " " + shortVerdict(f)
}

// comparedText formats a figure in its unit. Times are in seconds.
func comparedText(f *load.Figure, before bool, o *render.ReportOptions) string {
	v := f.Other
	if before {
		v = f.Base
	}
	switch {
	case math.IsNaN(v):
		return words.UnknownMark
	case f.Name == "qps":
		return words.ThreeDigits(v)
	case f.Name == "recall":
		return recallText(v)
	}
	return words.Latency(time.Duration(v*1e9), o.ASCII)
}

// comparedTable returns a table with a row per load and figure.
func comparedTable(rows []comparedRow, o *render.ReportOptions) *table.Rows[comparedRow] {
	type row = comparedRow
	count := func(name string, of func(l *load.Load) int) table.ColumnOf[row] {
		return render.Key(name, table.Int, func(r row) table.Cell { return render.PositiveCell(of(&r.change.Load)) })
	}
	finite := func(name string, of func(f *load.Figure) float64) table.ColumnOf[row] {
		return render.Key(name, table.Exact, func(r row) table.Cell { return render.FiniteCell(of(r.figure)) })
	}
	look := func(r row) render.Role { return verdictRole(r.figure) }
	name := func(r row) string { return r.figure.Name }
	return table.New(table.Schema{
		Name: "figures", Singular: "figure", Names: []string{"figure"}, Sparse: true,
		Order: []string{"load", "figure", "before", "after", "change", "p", "verdict"},
	}, rows, []table.ColumnOf[row]{
		count("sessions", func(l *load.Load) int { return l.Sessions }),
		render.Key("rate", table.Exact, func(r row) table.Cell { return presentCell(r.change.Load.Rate) }),
		render.Key("timed", table.Bool, func(r row) table.Cell { return table.OfBool(r.change.Load.Timed) }),
		count("k", func(l *load.Load) int { return l.K }),
		count("ef", func(l *load.Load) int { return l.EF }),
		count("nprobe", func(l *load.Load) int { return l.NProbe }),
		render.TextKey("figure", name).WithTitle("FIGURE", 0, name),
		finite("before", func(f *load.Figure) float64 { return f.Base }).WithTitle("BEFORE", 1, func(r row) string {
			return comparedText(r.figure, true, o)
		}),
		finite("after", func(f *load.Figure) float64 { return f.Other }).WithTitle("NOW", 1, func(r row) string {
			return comparedText(r.figure, false, o)
		}),
		finite("change", func(f *load.Figure) float64 { return f.Relative }).WithTitle("CHANGE", 0, func(r row) string {
			return changeText(r.figure)
		}).WithRole(look),
		finite("change_low", func(f *load.Figure) float64 { return f.Low }),
		finite("change_high", func(f *load.Figure) float64 { return f.High }),
		finite("p", func(f *load.Figure) float64 { return f.P }).WithTitle("P", 2, func(r row) string {
			return render.PValueText(r.figure.P)
		}),
		render.TextKey("verdict", func(r row) string { return string(r.figure.Verdict) }).WithVocabulary(),
		table.DisplayColumn("load", "LOAD", 0, func(r row) string { return changeLoadText(r.change) }),
	})
}

func writeComparedSide(e *encode.Encoder, r *replay.Result) {
	e.BeginObject()
	e.Entry("collection", r.Setup.Collection)
	e.Entry("target", r.Setup.Target)
	e.Entry("log", r.Setup.Log)
	e.Entry("log_digest", r.Setup.LogDigest)
	e.Entry("queries", strconv.Itoa(r.Setup.Queries))
	e.Entry("taken", r.Taken)
	e.EndObject()
}
