package tui

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/tui/fix"
	"kitescope/tui/pane"
	"kitescope/words"
)

// judgement is what the checks say about the cluster that is shown.
type judgement struct {
	report *check.Report   // nil until the first
	said   *view.Judgement // what of it tables show
	env    *view.Env       // that it was made for: ages count to its time
	busy   bool            // checks are running or rest; the next cluster waits for them
}

// Of a large cluster that changes all the time the checks rest after each run, restFactor times as long as it took, so that they
// take a hundredth of the time; at most restMost, and never where the rest would be shorter than restLeast.
const (
	restFactor = 100
	restLeast  = time.Second
	restMost   = 5 * time.Second
)

// judge lets the checks look at what is shown, off the loop and one at a time: of the
// clusters that come meanwhile only the newest is judged.
func (m *Model) judge() Cmd {
	d := &m.data
	if d.cluster == nil || d.judged.busy || d.judged.env == d.env {
		return nil
	}
	d.judged.busy = true
	return runChecks(d.judge, d.env, m.Config.Checks, d.judged.said, m.Config.Now)
}

// judgedMsg brings a report that was asked for.
type judgedMsg struct {
	by     *check.Judge
	env    *view.Env
	report *check.Report
	said   *view.Judgement
	took   time.Duration
}

func (j judgedMsg) Apply(m *Model) Cmd {
	d := &m.data
	if j.by != d.judge {
		return nil
	}
	d.judged = judgement{report: j.report, said: j.said, env: j.env}
	d.again.settle(m)
	if rest := restFactor * j.took; d.live && rest >= restLeast {
		d.judged.busy = true
		return Batch(m.Refresh(), m.After(min(rest, restMost), restedMsg{j.by}))
	}
	return Batch(m.Refresh(), m.judge())
}

// restedMsg lets the checks look again.
type restedMsg struct{ by *check.Judge }

func (r restedMsg) Apply(m *Model) Cmd {
	if r.by != m.data.judge {
		return nil
	}
	m.data.judged.busy = false
	return m.judge()
}

// about are the findings about an object, none as long as nothing was judged.
func (m *Model) about(ref model.Ref) []*check.Finding {
	if m.data.judged.report == nil {
		return nil
	}
	return m.data.judged.report.About(ref.Resource, ref.ID)
}

// goFindings shows the findings about the object of a page, all where there are none about it or they are shown already.
func (m *Model) goFindings() Cmd {
	if p, ok := m.Top().(*findingsPage); ok {
		p.of = nil
		p.choose()
		return nil
	}
	p := &findingsPage{}
	if s, ok := m.Top().(Pointer); ok {
		if ref, ok := s.Object(m); ok && len(m.about(ref)) > 0 {
			p.of = &ref
		}
	}
	return m.Push(p)
}

// findingLines are the findings about an object on top of its details: what is wrong, and the fix.
func findingLines(m *Model, list []*check.Finding, w int) []pane.Line {
	if len(list) == 0 {
		return nil
	}
	lines := []pane.Line{{Text: "FINDINGS  " + words.Number(len(list)), Look: pane.Title}}
	for _, f := range list {
		o := &fix.Opened{Finding: f}
		_, o.Began = began(m, f)
		for _, line := range o.Short(w - 2) {
			lines = append(lines, pane.Line{Text: line.Plain(), Drawn: line})
		}
	}
	return append(lines, pane.Line{})
}
