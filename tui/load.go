package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/diff"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// This file has the commands, which do all work off the event loop. A command does not change the model. Its result
// is a message, which the requesting page handles.

// Batch runs commands concurrently.
func Batch(cmds ...Cmd) Cmd { return tea.Batch(cmds...) }

// After sends a message once d has passed, unless the program ends before.
func (m *Model) After(d time.Duration, msg Message) Cmd {
	done := m.done
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-done:
			return nil
		}
	}
}

// Context returns a context that ends with the program. It may be called off the event loop.
func (m *Model) Context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if m.done != nil {
		go func() {
			select {
			case <-m.done:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// tickAge sets a timer for the next change of the age in the header, unless the header has no age that grows.
func (m *Model) tickAge() Cmd {
	since, ok := m.data.ageShown()
	if !ok {
		return nil
	}
	_, next := draw.Age(m.Config.Now().Sub(since))
	m.data.ageTick++
	return m.After(next, ageMsg{m.data.ageTick})
}

type ageMsg struct{ serial int }

func (t ageMsg) Apply(m *Model) Cmd {
	if t.serial != m.data.ageTick {
		return nil
	}
	return m.tickAge()
}

// tickClock sets a timer that updates the ages in cells while the source is live, so that the age of a checkpoint
// grows even if nothing else changes.
func (m *Model) tickClock() Cmd {
	if m.data.clock || !m.data.live {
		return nil
	}
	m.data.clock = true
	return m.After(clockEvery, clockMsg{})
}

type clockMsg struct{}

func (clockMsg) Apply(m *Model) Cmd {
	d := &m.data
	d.clock = false
	d.env = newEnv(m, d.cluster)
	return Batch(m.Refresh(), judge(m), m.tickClock())
}

// build makes the rows of a page: it binds, selects, sorts and filters them, and finds the object under the cursor.
func build(q gridQuery) Cmd {
	return func() tea.Msg { return builtMsg{q, q.Run()} }
}

// describe collects everything about an object, with its decoded records.
func describe(q describeQuery) Cmd {
	return func() tea.Msg { return describedMsg{q, q.run()} }
}

// buildTree makes a tree.
func buildTree(q treeQuery) Cmd {
	return func() tea.Msg {
		root, err := view.NewTree(q.env, q.word, q.options)
		return treeMsg{q, root, err}
	}
}

// survey makes an overview.
func survey(p *overviewPage, env *view.Env, collections *view.Resource) Cmd {
	return func() tea.Msg {
		var largest *view.Grid
		if collections != nil {
			q := view.Query{Sort: []string{"-rows"}, Limit: maxLargest, Omit: true}
			largest, _ = view.Select(collections.Table(env), q) // cannot fail: every collection, a known column
		}
		return surveyedMsg{p, env, view.NewOverview(env), largest}
	}
}

// runChecks judges a cluster and measures the duration with clock. It holds findings if hold is set. If the part
// that tables show is unchanged, it keeps the previous judgement, so that nothing is built again.
func runChecks(j *judgement, env *view.Env, checks []*check.Check, hold bool, clock func() time.Time) Cmd {
	by, before := j.judge, j.display
	return func() tea.Msg {
		began := clock()
		report := by.Run(env.Cluster, env.Now, checks)
		if hold {
			report, _ = j.hold.Next(report) // one run at a time
		}
		said := clusters.JudgementOf(report)
		if said.Equal(before) {
			said = before
		}
		return judgedMsg{j, env, report, said, clock().Sub(began)}
	}
}

// measureLatency computes where the requests of a cluster spend their time. It uses the same judge as the checks, which
// need the same data.
func measureLatency(judge *check.Judge, c *model.Cluster) Cmd {
	return func() tea.Msg { return latencyMsg{c.Runtime, judge.Latency(c)} }
}

// readHistory reads the history.
func readHistory(m *Model, source history.Past) Cmd {
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		h, err := source.History(ctx)
		if err != nil {
			return eventsMsg{source: source, err: err}
		}
		return eventsMsg{source: source, axis: history.NewAxis(h)}
	}
}

// readState reads the cluster at a moment, and the one to compare it with.
func readState(ctx context.Context, source history.Past, to instant) Cmd {
	return func() tea.Msg {
		r := stateMsg{source: source, to: to}
		revisions := []int64{to.revision}
		if to.base > 0 && to.base < to.revision {
			revisions = []int64{to.base, to.revision}
		}
		list, err := source.At(ctx, revisions...)
		if r.err = err; err == nil && len(list) == len(revisions) {
			r.cluster = list[len(list)-1]
			if len(list) > 1 {
				r.base = list[0]
			}
		}
		return r
	}
}

// findMoment finds the revision for an argument of --at.
func findMoment(m *Model, source history.Past, form string) Cmd {
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		revision, err := source.Find(ctx, form)
		return foundMsg{source, form, revision, err}
	}
}

// maxLargest is more than the number of lines of any screen.
const maxLargest = 200

// compare computes the changes between two clusters.
func compare(p *diffPage, old, now *model.Cluster) Cmd {
	return func() tea.Msg {
		return comparedMsg{p, old, now, diff.Compare(old, now, diff.Options{})}
	}
}
