package tui

import (
	"math"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/tui/trend"
)

// Times is where requests spend their time by what processes said last, and how that was since the UI was opened.
type Times struct {
	latency *latency.Latency // nil until the first
	of      *model.Runtime   // what it was worked out of
	busy    bool             // it is being worked out
	trends  map[BudgetKey]*trend.Trend
}

// BudgetKey is what a budget has in common with that of the round before.
type BudgetKey struct {
	Request        latency.Request
	Database, Name string
}

// KeyOfBudget is the key of a budget.
func KeyOfBudget(b *latency.Budget) BudgetKey { return BudgetKey{b.Request, b.Database, b.Name} }

// measure works out where requests spend their time, off the loop, once for all that processes said in a round.
func (m *Model) measure() Cmd {
	t := &m.data.times
	c := m.data.cluster
	if c == nil || t.busy || t.latency != nil && t.of == c.Runtime {
		return nil
	}
	t.busy = true
	return account(m.data.judged.judge, c)
}

// accountedMsg brings what was worked out.
type accountedMsg struct {
	by      *check.Judge
	of      *model.Runtime
	latency *latency.Latency
}

func (a accountedMsg) Apply(m *Model) Cmd {
	if a.by != m.data.judged.judge {
		return nil
	}
	t := &m.data.times
	t.latency, t.of, t.busy = a.latency, a.of, false
	if !m.data.past.away { // what was is no round since the UI was opened
		t.remember()
	}
	return Batch(m.Refresh(), m.measure())
}

// Latency is what was worked out last, nil before the first.
func (t *Times) Latency() *latency.Latency { return t.latency }

// Trend is how a budget was, nil if nothing is remembered of it.
func (t *Times) Trend(key BudgetKey) *trend.Trend { return t.trends[key] }

// Moved reports whether any budget has more than one moment to draw.
func (t *Times) Moved() bool {
	for _, x := range t.trends {
		if x.Moved(MomentRate) {
			return true
		}
	}
	return false
}

// Find is the budget that was shown before, nil if none of its requests ended since.
func (t *Times) Find(key BudgetKey) *latency.Budget {
	if t.latency == nil {
		return nil
	}
	for _, b := range t.latency.Budgets {
		if KeyOfBudget(b) == key {
			return b
		}
	}
	return nil
}

// mostTrends is of how many budgets it is remembered how they were.
const mostTrends = 200

// remember takes what was worked out into the trends. Since the start of a process is no round.
func (t *Times) remember() {
	if t.trends == nil {
		t.trends = map[BudgetKey]*trend.Trend{}
	}
	now := map[BudgetKey]trend.Moment{}
	for _, b := range t.latency.Budgets {
		now[KeyOfBudget(b)] = momentOf(b, t.latency)
		if key := KeyOfBudget(b); t.trends[key] == nil && len(t.trends) < mostTrends {
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
	MomentP50 = iota
	MomentP99
	MomentRate
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
		at[MomentRate] = b.PerSecond.Value
	}
	return at
}
