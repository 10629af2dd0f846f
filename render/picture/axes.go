package picture

import (
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"

	"kitescope/internal/words"
	"kitescope/render"
)

// setRanges sets the ranges of the axes to fit the values.
func (p *Panel) setRanges(x *plot.Plot) {
	var xs, ys []float64
	for _, s := range p.Series {
		for _, q := range s.Points {
			if drawable(q.X) && drawable(q.Y) {
				xs, ys = append(xs, q.X), append(ys, q.Y)
				if q.Low < q.High && drawable(q.Low) && drawable(q.High) {
					ys = append(ys, q.Low, q.High)
				}
			}
		}
	}
	across, up := p.X, p.Y
	across.Free = true
	if len(p.Bars) > 0 {
		xs, across.Free = append(xs, p.maxLength()), false
		up.From, up.To = -0.6, float64(len(p.Bars))-0.4
		for i, b := range p.Bars {
			up.Ticks = append(up.Ticks, Tick{
				float64(len(p.Bars) - 1 - i), render.ShortenMiddle(render.Harmless(b.Name), 28, "…"),
			})
		}
		x.Y.Tick.Length = 0
	}
	across.set(&x.X, xs)
	up.set(&x.Y, ys)
	if len(p.Bars) > 0 && across.From == across.To {
		x.X.Max *= 1.4 // room for the text after each bar
	}
}

// maxLength returns the length of the longest bar, including its interval.
func (p *Panel) maxLength() float64 {
	longest := 1e-9
	for _, b := range p.Bars {
		sum := 0.0
		for _, piece := range b.Pieces {
			if drawable(piece.Value) {
				sum += max(0, piece.Value)
			}
		}
		longest = max(longest, sum)
		if b.Low < b.High && drawable(b.High) {
			longest = max(longest, b.High)
		}
	}
	return longest
}

// set configures an axis of a plot for some values.
func (a *Axis) set(to *plot.Axis, values []float64) {
	for _, t := range a.Ticks {
		if a.Free {
			values = append(values, t.At)
		}
	}
	log := a.Log && !slices.ContainsFunc(values, func(v float64) bool { return v <= 0 }) && len(values) > 0
	switch {
	case a.From != a.To:
		to.Min, to.Max = a.From, a.To
	case log:
		to.Min, to.Max = slices.Min(values)/1.3, 1.3*slices.Max(values)
	case a.Free:
		to.Min, to.Max = span(values)
	default:
		to.Min, to.Max = 0, 1
		if len(values) > 0 {
			to.Min, to.Max = 1.06*min(0, slices.Min(values)), 1.06*max(slices.Max(values), 1e-9)
		}
	}
	switch {
	case len(a.Ticks) > 0:
		to.Tick.Marker = fixedTicks(a.Ticks)
	case a.Clock:
		to.Tick.Marker = clockTicks{}
	case log:
		to.Scale, to.Tick.Marker = plot.LogScale{}, logTicks{}
	default:
		to.Tick.Marker = valueTicks{}
	}
}

// span returns the range of values with a margin. The range is never empty.
func span(values []float64) (from, to float64) {
	if len(values) == 0 {
		return 0, 1
	}
	from, to = slices.Min(values), slices.Max(values)
	pad := 0.08 * (to - from)
	if !(pad > 1e-9*max(math.Abs(from), math.Abs(to))) {
		pad = 0.01 * max(math.Abs(from), math.Abs(to))
	}
	if pad == 0 { // all values are 0
		pad = 1
	}
	return from - pad, to + pad
}

// fixedTicks are given ticks. Labels that would overlap are omitted.
type fixedTicks []Tick

// Ticks implements plot.Ticker.
func (t fixedTicks) Ticks(from, to float64) []plot.Tick {
	var ticks []plot.Tick
	last := math.Inf(-1)
	for _, x := range t {
		if x.At < from || x.At > to {
			continue
		}
		tick := plot.Tick{Value: x.At, Label: " "}
		if math.Abs(x.At-last) >= 0.045*(to-from) {
			tick.Label, last = x.Text, x.At
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// valueTicks places ticks at round numbers, formatted without exponents and with thousands separators, except
// very large and very precise ones.
type valueTicks struct{}

// Ticks implements plot.Ticker.
func (valueTicks) Ticks(from, to float64) []plot.Tick {
	const most, mostDecimals = 6, 6
	if !(to > from) || math.IsInf(to-from, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/most)))
	for _, factor := range []float64{2, 2.5, 2} { // factors of 1, 2, 5 and 10
		if (to-from)/step <= most {
			break
		}
		step *= factor
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	first := math.Ceil(from/step - 1e-9)
	for i := range 2 * most {
		x := (first + float64(i)) * step
		if x > to+1e-9*step {
			break
		}
		if math.Abs(x) < 1e-9*step {
			x = 0
		}
		text := strconv.FormatFloat(x, 'f', decimals, 64)
		switch {
		case decimals > mostDecimals || math.Abs(x) >= 1e15:
			digits := 1 + math.Ceil(math.Log10(max(1, math.Abs(x)/step))) // enough to differ from the next tick
			text = strconv.FormatFloat(x, 'g', int(min(digits, 15)), 64)
		case decimals == 0:
			text = words.Number(int64(x))
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: text})
	}
	return ticks
}

// logTicks places ticks on a logarithmic axis and labels 1, 2 and 5 of each power of ten, fewer on long axes and
// more on short ones.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(from, to float64) []plot.Tick {
	if !(from > 0) || !(to > from) || math.IsInf(to, 0) {
		return nil
	}
	decades := math.Log10(to / from)
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(from)); e <= math.Ceil(math.Log10(to)); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < from*(1-1e-9) || v > to*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: v}
			if m == 1 || decades < 3.2 && (m == 2 || m == 5) || decades < 0.8 {
				tick.Label = words.Setting(v)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// clockTicks places ticks at round times of day, on an axis of seconds since 1970.
type clockTicks struct{}

// Ticks implements plot.Ticker.
func (clockTicks) Ticks(from, to float64) []plot.Tick {
	const most = 9
	step, layout := time.Second, time.TimeOnly
	for _, s := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute,
		5 * time.Minute, 10 * time.Minute,
		30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	} {
		if step = s; (to-from)/s.Seconds() <= most {
			break
		}
	}
	for (to-from)/step.Seconds() > most {
		step *= 2
	}
	if step >= time.Minute {
		layout = "15:04"
	}
	if step >= 12*time.Hour {
		layout = "01-02 15:04"
	}
	var ticks []plot.Tick
	for at := math.Ceil(from/step.Seconds()) * step.Seconds(); at <= to; at += step.Seconds() {
		ticks = append(ticks, plot.Tick{Value: at, Label: time.Unix(0, int64(at*1e9)).UTC().Format(layout)})
	}
	return ticks
}

// LogAxis returns an axis for settings such as a number of sessions, with ticks at the measured values. If the
// values span a factor of at least 8, each doubling has the same width. place returns the position of a value on
// the axis.
func LogAxis(label string, values []float64) (axis Axis, place func(v float64) float64) {
	place = func(v float64) float64 { return v }
	if n := len(values); n > 2 && slices.Min(values) > 0 && slices.Max(values) >= 8*slices.Min(values) {
		place = math.Log2
	}
	axis.Label = label
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		axis.Ticks = append(axis.Ticks, Tick{place(v), words.Setting(v)})
	}
	return axis, place
}

// RecallAxis returns an axis of recall. It is logarithmic in 1-recall if the highest recall exceeds 0.985 and
// differs by more than 0.002 from the lowest. place returns the position of a recall on the axis.
func RecallAxis(recalls []float64) (axis Axis, place func(r float64) float64) {
	low, high := slices.Min(recalls), slices.Max(recalls)
	axis.Label, place = "recall", func(r float64) float64 { return r }
	if high <= 0.985 || high-low <= 0.002 {
		pad := max(0.08*(high-low), 1e-3)
		axis.From, axis.To = low-pad, min(high+1.4*pad, max(1, high+pad)) // room for labels on the right
		return axis, place
	}
	place = func(r float64) float64 { return -math.Log10(max(1-r, 1e-4)) }
	axis.Label = "recall (logarithmic in 1 - recall)"
	pad := 0.08 * (place(high) - place(low))
	axis.From, axis.To = place(low)-pad, place(high)+1.4*pad
	for _, r := range []float64{
		0, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998,
	} {
		axis.Ticks = append(axis.Ticks, Tick{place(r), strconv.FormatFloat(r, 'f', -1, 64)})
	}
	axis.Ticks = append(axis.Ticks, Tick{place(1), "0.9999+"})
	return axis, place
}

// DrawableRate reports whether a rate can be drawn.
func DrawableRate(x float64) bool { return x >= 0 && x < 1e15 }
