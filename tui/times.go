package tui

import (
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Times is where requests spend their time by what processes said last.
type Times struct {
	latency *latency.Latency // nil until the first
	of      *model.Runtime   // what it was worked out of
	busy    bool             // it is being worked out
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
	of      *model.Runtime
	latency *latency.Latency
}

func (a accountedMsg) Apply(m *Model) Cmd {
	t := &m.data.times
	t.latency, t.of, t.busy = a.latency, a.of, false
	return Batch(m.Refresh(), m.measure())
}

// Latency is what was worked out last, nil before the first.
func (t *Times) Latency() *latency.Latency { return t.latency }

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
