// Package trend remembers how figures were while the UI was open. What enters are the figures of one round after the other, what leaves
// are their values, in as many moments as a screen can show: of a long time each is the mean of several rounds.
package trend

import "math"

// Width is how many figures a moment has.
const Width = 3

// Moment are the figures of a round, NaN where unknown.
type Moment [Width]float64

// Nothing is the moment of which nothing is known.
func Nothing() (m Moment) {
	for i := range m {
		m[i] = math.NaN()
	}
	return m
}

// most is how many moments a trend has.
const most = 128

// Trend is how figures were, the newest last. The zero one has seen no round; a nil one knows nothing.
type Trend struct {
	moments []Moment
	counts  []Moment // how many rounds have a value of each
	rounds  int
	step    int // rounds of a moment
}

// Add takes the figures of the next round.
func (t *Trend) Add(at Moment) {
	t.step = max(1, t.step)
	if t.rounds%t.step == 0 {
		if len(t.moments) == most {
			t.halve()
		}
		t.moments, t.counts = append(t.moments, Nothing()), append(t.counts, Moment{})
	}
	t.rounds++
	var one Moment
	for i := range one {
		one[i] = 1
	}
	t.join(len(t.moments)-1, at, one)
}

// join adds values that so many rounds have to a moment.
func (t *Trend) join(i int, at, counts Moment) {
	for k, v := range at {
		if math.IsNaN(v) || counts[k] == 0 {
			continue
		}
		had, n := t.moments[i][k], t.counts[i][k]
		if n == 0 {
			had = 0
		}
		t.counts[i][k] = n + counts[k]
		t.moments[i][k] = (had*n + v*counts[k]) / t.counts[i][k]
	}
}

// halve makes one of every two moments.
func (t *Trend) halve() {
	n := len(t.moments) / 2
	for i := range n {
		t.moments[i], t.counts[i] = t.moments[2*i], t.counts[2*i]
		t.join(i, t.moments[2*i+1], t.counts[2*i+1])
	}
	t.moments, t.counts, t.step = t.moments[:n], t.counts[:n], 2*t.step
}

// Forgotten reports whether nothing is known for as long as is remembered.
func (t *Trend) Forgotten() bool {
	for _, at := range t.moments {
		for _, v := range at {
			if !math.IsNaN(v) {
				return false
			}
		}
	}
	return t.rounds >= most
}

// Moved reports whether more than one moment of a figure is known, so that there is something to draw.
func (t *Trend) Moved(figure int) bool {
	known := 0
	for _, v := range t.Values(figure) {
		if !math.IsNaN(v) {
			known++
		}
	}
	return known > 1
}

// Values are those of one figure.
func (t *Trend) Values(figure int) []float64 {
	if t == nil {
		return nil
	}
	list := make([]float64, len(t.moments))
	for i := range list {
		list[i] = t.moments[i][figure]
	}
	return list
}

// Last is the newest moment.
func (t *Trend) Last() Moment {
	if t == nil || len(t.moments) == 0 {
		return Nothing()
	}
	return t.moments[len(t.moments)-1]
}
