package picture

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"kitescope/render"
)

// ValueTicks marks an axis at round numbers, written out.
type ValueTicks struct{}

// Ticks implements plot.Ticker.
func (ValueTicks) Ticks(from, to float64) []plot.Tick {
	const most = 6
	if !(to > from) || math.IsInf(to-from, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/most)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
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
		text := strconv.FormatFloat(x, 'f', decimals, 64)
		if decimals > mostTickDecimals || math.Abs(x) >= 1e7 {
			digits := 1 + math.Ceil(math.Log10(max(1, math.Abs(x)/step))) // enough to tell it from the next
			text = strconv.FormatFloat(x, 'g', int(min(digits, 15)), 64)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: strings.Replace(text, "-0", "0", render.BoolInt(strings.Trim(text, "-0.") == ""))})
	}
	return ticks
}

const mostTickDecimals = 6

// RecallAxis is an axis of recall. Where there is recall near 1 it is by what is missing, each tenth as wide.
type RecallAxis struct {
	stretched bool
	floor     float64 // recall above is all
}

// NewRecallAxis is an axis for these values.
func NewRecallAxis(recalls []float64) RecallAxis {
	a := RecallAxis{floor: 1e-4}
	a.stretched = slices.Max(recalls) > 0.985 && slices.Max(recalls)-slices.Min(recalls) > 0.002
	return a
}

// Place is where a recall stands on the axis.
func (a *RecallAxis) Place(r float64) float64 {
	if !a.stretched {
		return r
	}
	return -math.Log10(max(1-r, a.floor))
}

// Mark makes it the X axis of a plot, wide enough for the values and for labels beside them.
func (a *RecallAxis) Mark(x *plot.Plot, recalls []float64) {
	low, high := a.Place(slices.Min(recalls)), a.Place(slices.Max(recalls))
	pad := max(0.08*(high-low), 1e-3)
	x.X.Min, x.X.Max = low-pad, high+1.4*pad // labels stand to the right
	x.X.Label.Text = "recall"
	if !a.stretched {
		x.X.Max = min(x.X.Max, max(1, high+pad))
		x.X.Tick.Marker = ValueTicks{}
		return
	}
	x.X.Label.Text = "recall (logarithmic in what is missing)"
	var ticks plot.ConstantTicks
	last := math.Inf(-1)
	for _, r := range []float64{0, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9997, 0.9998, 1} {
		at := a.Place(r)
		if at < x.X.Min || at > x.X.Max {
			continue
		}
		tick := plot.Tick{Value: at, Label: " "}
		if at-last > 0.045*(x.X.Max-x.X.Min) {
			tick.Label, last = strconv.FormatFloat(r, 'f', -1, 64), at
			if r == 1 {
				tick.Label = "0.9999+"
			}
		}
		ticks = append(ticks, tick)
	}
	x.X.Tick.Marker = ticks
}

// DrawableRate reports whether a rate has a place on paper.
func DrawableRate(x float64) bool { return x >= 0 && x < 1e15 }
