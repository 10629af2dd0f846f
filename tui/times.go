package tui

import (
	"math"

	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/render"
)

// times is where requests spend their time by what processes said last, and how that was since the UI was opened.
type times struct {
	latency *latency.Latency // nil until the first
	of      *model.Runtime   // what it was worked out of
	busy    bool             // it is being worked out
	trends  map[budgetKey]*trend
}

// budgetKey is what a budget has in common with that of the round before.
type budgetKey struct {
	request        latency.Request
	database, name string
}

func keyOfBudget(b *latency.Budget) budgetKey { return budgetKey{b.Request, b.Database, b.Name} }

// measure works out where requests spend their time, off the loop, once for all that processes said in a round.
func (m *Model) measure() Cmd {
	t := &m.data.times
	c := m.data.cluster
	if c == nil || t.busy || t.latency != nil && t.of == c.Runtime {
		return nil
	}
	t.busy = true
	return account(&m.data.judge, c)
}

// accountedMsg brings what was worked out.
type accountedMsg struct {
	of      *model.Runtime
	latency *latency.Latency
}

func (a accountedMsg) Apply(m *Model) Cmd {
	t := &m.data.times
	t.latency, t.of, t.busy = a.latency, a.of, false
	if !m.data.past.away { // what was is no round since the UI was opened
		t.remember()
	}
	return Batch(m.Refresh(), m.measure())
}

// find is the budget that was shown before, nil if none of its requests ended since.
func (t *times) find(key budgetKey) *latency.Budget {
	if t.latency == nil {
		return nil
	}
	for _, b := range t.latency.Budgets {
		if keyOfBudget(b) == key {
			return b
		}
	}
	return nil
}

// mostTrends is of how many budgets it is remembered how they were.
const mostTrends = 200

// remember takes what was worked out into the trends. Since the start of a process is no round.
func (t *times) remember() {
	if t.trends == nil {
		t.trends = map[budgetKey]*trend{}
	}
	now := map[budgetKey]moment{}
	for _, b := range t.latency.Budgets {
		now[keyOfBudget(b)] = momentOf(b, t.latency)
		if key := keyOfBudget(b); t.trends[key] == nil && len(t.trends) < mostTrends {
			t.trends[key] = &trend{}
		}
	}
	for key, x := range t.trends {
		at, ok := now[key]
		if !ok {
			at = moment{math.NaN(), math.NaN(), math.NaN()} // silent proxies, or no request: nothing was seen
		}
		x.add(at)
		if x.forgotten() {
			delete(t.trends, key)
		}
	}
}

// moment are p50, p99 and requests a second, NaN where unknown.
type moment [3]float64

// The places of a moment.
const (
	momentP50 = iota
	momentP99
	momentRate
)

func momentOf(b *latency.Budget, l *latency.Latency) moment {
	at := moment{math.NaN(), math.NaN(), math.NaN()}
	if l.Window.SinceStart {
		return at
	}
	for i, q := range []latency.Interval{b.P50, b.P99} {
		if q.High > 0 {
			at[i] = q.High
		}
		if math.IsInf(q.High, 1) {
			at[i] = q.Low
		}
	}
	if b.PerSecond.Known {
		at[momentRate] = b.PerSecond.Value
	}
	return at
}

// mostMoments is how many moments a trend has.
const mostMoments = 128

// trend is how a budget was since the UI was opened, in at most mostMoments moments: of a long time each is the mean of several
// rounds.
type trend struct {
	moments []moment
	counts  []moment // how many rounds have a value of each
	rounds  int
	step    int // rounds of a moment
}

func (t *trend) add(at moment) {
	t.step = max(1, t.step)
	if t.rounds%t.step == 0 {
		if len(t.moments) == mostMoments {
			t.halve()
		}
		nothing := moment{math.NaN(), math.NaN(), math.NaN()}
		t.moments, t.counts = append(t.moments, nothing), append(t.counts, moment{})
	}
	t.rounds++
	var one moment
	for i := range one {
		one[i] = 1
	}
	t.join(len(t.moments)-1, at, one)
}

// join adds values that so many rounds have to a moment.
func (t *trend) join(i int, at, counts moment) {
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
func (t *trend) halve() {
	n := len(t.moments) / 2
	for i := range n {
		t.moments[i], t.counts[i] = t.moments[2*i], t.counts[2*i]
		t.join(i, t.moments[2*i+1], t.counts[2*i+1])
	}
	t.moments, t.counts, t.step = t.moments[:n], t.counts[:n], 2*t.step
}

// forgotten reports whether nothing is known for as long as is remembered.
func (t *trend) forgotten() bool {
	for _, at := range t.moments {
		for _, v := range at {
			if !math.IsNaN(v) {
				return false
			}
		}
	}
	return t.rounds >= mostMoments
}

// moved reports whether more than one moment is known, so that there is something to draw.
func (t *trend) moved() bool {
	known := 0
	for _, v := range t.values(momentRate) {
		known += render.BoolInt(!math.IsNaN(v))
	}
	return known > 1
}

// values are those of one place.
func (t *trend) values(place int) []float64 {
	if t == nil {
		return nil
	}
	list := make([]float64, len(t.moments))
	for i := range list {
		list[i] = t.moments[i][place]
	}
	return list
}
