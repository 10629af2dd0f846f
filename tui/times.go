package tui

import (
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Times holds the latency budgets computed from the last process metrics.
type Times struct {
	latency *latency.Latency // nil before the first computation
	runtime *model.Runtime   // the input of latency
	busy    bool             // a computation is in flight
}

// BudgetKey identifies a budget across rounds.
type BudgetKey struct {
	Request        latency.Request
	Database, Name string
}

// KeyOfBudget returns the key of a budget.
func KeyOfBudget(b *latency.Budget) BudgetKey { return BudgetKey{b.Request, b.Database, b.Name} }

// measure computes the latency budgets outside the event loop, once for each round of process metrics.
func (m *Model) measure() Cmd {
	t := &m.data.times
	c := m.data.cluster
	if c == nil || t.busy || t.latency != nil && t.runtime == c.Runtime {
		return nil
	}
	t.busy = true
	return measureLatency(m.data.judged.judge, c)
}

// latencyMsg delivers the latency budgets.
type latencyMsg struct {
	runtime *model.Runtime
	latency *latency.Latency
}

func (a latencyMsg) Apply(m *Model) Cmd {
	t := &m.data.times
	t.latency, t.runtime, t.busy = a.latency, a.runtime, false
	return Batch(m.Refresh(), m.measure())
}

// Latency returns the last computed budgets, or nil before the first computation.
func (t *Times) Latency() *latency.Latency { return t.latency }

// Find returns the current budget with the given key, or nil if no such request ended since.
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
