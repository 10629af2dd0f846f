package tui

import (
	"math"

	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/tui/trend"
)

// times is where requests spend their time by what processes said last, and how that was since the UI was opened.
type times struct {
	latency *latency.Latency // nil until the first
	of      *model.Runtime   // what it was worked out of
	busy    bool             // it is being worked out
	trends  map[budgetKey]*trend.Trend
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
		t.trends = map[budgetKey]*trend.Trend{}
	}
	now := map[budgetKey]trend.Moment{}
	for _, b := range t.latency.Budgets {
		now[keyOfBudget(b)] = momentOf(b, t.latency)
		if key := keyOfBudget(b); t.trends[key] == nil && len(t.trends) < mostTrends {
			t.trends[key] = &trend.Trend{}
		}
	}
	for key, x := range t.trends {
		at, ok := now[key]
		if !ok {
			at = trend.Nothing() // silent proxies, or no request: nothing was seen
		}
		x.Add(at)
		if x.Forgotten() {
			delete(t.trends, key)
		}
	}
}

// The figures of a trend.
const (
	momentP50 = iota
	momentP99
	momentRate
)

func momentOf(b *latency.Budget, l *latency.Latency) trend.Moment {
	at := trend.Nothing()
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
