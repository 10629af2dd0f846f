package replays

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
)

// latencyOf formats a latency of a distribution, or returns "?" if nothing was measured.
func latencyOf(l *load.Latency, d time.Duration, o *render.ReportOptions) string {
	if l.Count == 0 {
		return words.UnknownMark
	}
	return words.Latency(d, o.ASCII)
}

// knownLatency formats a cost, or returns "?" for 0, which means unknown.
func knownLatency(d time.Duration, o *render.ReportOptions) string {
	if d <= 0 {
		return words.UnknownMark
	}
	return words.Latency(d, o.ASCII)
}

// recallText formats a recall with four decimals, or returns "?" if it is unknown. Only 1 is formatted as 1.0000.
func recallText(r float64) string {
	switch {
	case math.IsNaN(r) || r < 0:
		return words.UnknownMark
	case r < 1:
		r = min(r, 0.9999)
	}
	return strconv.FormatFloat(r, 'f', 4, 64)
}

// rowCount formats a number of rows, or returns "?" if it is unknown.
func rowCount(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return words.Number(n)
}

func ratioOf(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// plusMinus returns "±", or "+/-" in ASCII.
func plusMinus(o *render.ReportOptions) string {
	if o.ASCII {
		return "+/-"
	}
	return "±"
}

// hasInterval reports whether a point has a confidence interval, which takes more than one round.
func hasInterval(p *load.Point) bool { return p.QPSHigh > p.QPSLow }

// halfInterval formats half of the confidence interval of a mean, or returns "" without an interval.
func halfInterval(p *load.Point) string {
	if !hasInterval(p) {
		return ""
	}
	return words.ThreeDigits((p.QPSHigh - p.QPSLow) / 2)
}

// arrivalText describes the arrival of requests: "8 sessions", "500 requests/s, evenly spaced".
func arrivalText(p *load.Point) string {
	switch {
	case p.Timed:
		text := "at the log's own times"
		if p.Speed != 0 && p.Speed != 1 {
			text += ", " + words.Setting(p.Speed) + " times as fast"
		}
		return text
	case p.Rate > 0:
		text := words.Setting(p.Rate) + " requests/s"
		if p.Poisson {
			return text + " at random moments"
		}
		return text + ", evenly spaced"
	}
	return words.Plural(p.Sessions, "session")
}

// open reports whether requests arrive independently of responses (an open system).
func open(p *load.Point) bool { return p.Timed || p.Rate > 0 }

// parametersText formats the search parameters of a point: "k 10, ef 64".
func parametersText(p *load.Point) string {
	var list []string
	for _, x := range []struct {
		name string
		n    int
	}{{"k", p.K}, {"ef", p.EF}, {"nprobe", p.NProbe}} {
		if x.n > 0 {
			list = append(list, x.name+" "+strconv.Itoa(x.n))
		}
	}
	return strings.Join(list, ", ")
}

// byCount returns the keys by descending count, and by name for equal counts.
func byCount[N int | int64](m map[string]N) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}

// stateText returns a segment's state for people, or "?" for an unknown state.
func stateText(s replay.State) string {
	if s > replay.Indexed {
		return words.UnknownMark
	}
	return s.String()
}

// labelWidth is the width of the column of labels.
const labelWidth = 12

// labelled returns a labeled text, wrapped to the terminal's width with a hanging indent. The text must be
// escaped.
func labelled(o *render.ReportOptions, role render.Role, label, text string) []render.Line {
	lines := []string{text}
	if room := o.Width - labelWidth; o.Width > 0 && room > 0 {
		lines = hang(text, room)
	}
	out := make([]render.Line, len(lines))
	for i, line := range lines {
		out[i] = render.Line{
			Role: render.RoleDim, Text: render.Padded(label, labelWidth),
			After: []render.Piece{{Role: role, Text: line}}, NoWrap: true,
		}
		label = ""
	}
	return out
}

// hang wraps text at blanks.
func hang(text string, room int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		if n := len(lines); n > 0 && render.Cells(lines[n-1])+1+render.Cells(word) <= room {
			lines[n-1] += " " + word
			continue
		}
		for render.Cells(word) > room { // a path or an error without blanks
			head := render.Fit(word, room, "")
			lines, word = append(lines, head), word[len(head):]
		}
		lines = append(lines, word)
	}
	if len(lines) == 0 {
		return []string{""}
	}
	return lines
}

// figures formats latencies with their names: "avg 642 µs, min 310 µs".
func figures(o *render.ReportOptions, names string, values ...time.Duration) string {
	list := strings.Fields(names)
	for i := range list {
		list[i] += " " + words.Latency(values[i], o.ASCII)
	}
	return strings.Join(list, ", ")
}

// latencyFigures returns avg, min, p50, p90, p95, p99, p99.9 and max.
func latencyFigures(l *load.Latency) [8]time.Duration {
	return [8]time.Duration{l.Mean, l.Min, l.P50, l.P90, l.P95, l.P99, l.P999, l.Max}
}

// presentCell returns a cell with a number, or without a value for 0.
func presentCell(f float64) table.Cell {
	if f == 0 {
		return table.OfNone()
	}
	return render.FiniteCell(f)
}

// knownCell returns a cell with a number, or an unknown cell for 0.
func knownCell(f float64) table.Cell {
	if f == 0 {
		return table.OfUnknown()
	}
	return render.FiniteCell(f)
}

func intervalCell(p *load.Point, f float64) table.Cell {
	if !hasInterval(p) {
		return table.OfNone()
	}
	return render.FiniteCell(f)
}
