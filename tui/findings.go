package tui

import (
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// Findings are what a page finds by checks of its own: it lists and opens them as the diagnosis is listed and opened.
type Findings struct {
	// Name is how the palette opens the page, Prints the command that prints the same; "" if there is none.
	Name, Prints string
	// Checks are those for a cluster; err says, in one line, why it cannot be judged by them.
	Checks func(c *model.Cluster) (checks []*check.Check, err error)
	// About says what was judged by them, above the findings.
	About func() string
	// Dress tells a report that is saved what was judged.
	Dress func(d *clusters.Diagnosis)
}

// NewFindingsPage lists findings.
func NewFindingsPage(f *Findings) Page {
	return &findingsPage{judged: &judgement{own: f, judge: &check.Judge{}}}
}

// judgement is what checks say about the cluster that is shown.
type judgement struct {
	own    *Findings // whose checks those are; nil: the diagnosis
	judge  *check.Judge
	hold   check.Hold      // of the diagnosis of a live cluster
	report *check.Report   // nil until the first
	said   *view.Judgement // what of it tables show
	env    *view.Env       // that it was made for: ages count to its time
	why    error           // why that has no report
	busy   bool            // checks are running or rest; the next cluster waits for them
}

// Of a large cluster that changes all the time the checks rest after each run, restFactor times as long as it took, so that they
// take a hundredth of the time; at most restMost, and never where the rest would be shorter than restLeast.
const (
	restFactor = 100
	restLeast  = time.Second
	restMost   = 5 * time.Second
)

// look lets the checks look at what is shown, off the loop and one at a time: of the
// clusters that come meanwhile only the newest is judged.
func (j *judgement) look(m *Model) Cmd {
	d := &m.data
	if d.cluster == nil || j.busy || j.env == d.env {
		return nil
	}
	checks := m.Config.Checks
	if j.own != nil {
		if checks, j.why = j.own.Checks(d.cluster); j.why != nil {
			j.env, j.report = d.env, nil
			return nil
		}
	}
	j.busy = true
	return runChecks(j, d.env, checks, j.own == nil && d.live && !d.past.away, m.Config.Now)
}

// judge has the diagnosis look at what is shown.
func judge(m *Model) Cmd { return m.data.judged.look(m) }

// judgedMsg brings a report that was asked for.
type judgedMsg struct {
	to     *judgement
	env    *view.Env
	report *check.Report
	said   *view.Judgement
	took   time.Duration
}

func (j judgedMsg) Apply(m *Model) Cmd {
	d, to := &m.data, j.to
	to.report, to.said, to.env, to.busy = j.report, j.said, j.env, false
	if rest := restFactor * j.took; d.live && rest >= restLeast {
		to.busy = true
		return Batch(m.Refresh(), m.After(min(rest, restMost), restedMsg{to}))
	}
	return Batch(m.Refresh(), judge(m))
}

// restedMsg lets the checks look again.
type restedMsg struct{ to *judgement }

func (r restedMsg) Apply(m *Model) Cmd {
	r.to.busy = false
	return Batch(m.Refresh(), judge(m))
}

// about are the findings about an object, none as long as nothing was judged.
func (m *Model) about(ref model.Ref) []*check.Finding {
	if m.data.judged.report == nil {
		return nil
	}
	return m.data.judged.report.About(ref.Resource, ref.ID)
}

// command is the one that prints it.
func (j *judgement) command() string {
	if j.own != nil {
		return j.own.Prints
	}
	return "diagnose"
}

// named is what a file of it is called.
func (j *judgement) named() string {
	if j.own == nil {
		return "findings"
	}
	name, _, _ := strings.Cut(j.own.Name, " ")
	return name
}

// goFindings shows the findings about the object of a page, all where there are none about it or they are shown already.
func (m *Model) goFindings() Cmd {
	if p, ok := m.Top().(*findingsPage); ok && p.judged.own == nil {
		p.of = nil
		p.choose()
		return nil
	}
	p := &findingsPage{judged: m.data.judged}
	if s, ok := m.Top().(Pointer); ok {
		if ref, ok := s.Object(m); ok && len(m.about(ref)) > 0 {
			p.of = &ref
		}
	}
	return m.Push(p)
}

// findingLines are the findings about an object on top of its details: what is wrong, and the fix.
func findingLines(m *Model, list []*check.Finding, w int) []draw.TextLine {
	if len(list) == 0 {
		return nil
	}
	lines := []draw.TextLine{{Text: "FINDINGS  " + words.Number(len(list)), Look: draw.LookTitle}}
	for _, f := range list {
		o := &openedFinding{Finding: f}
		_, o.Began = m.data.judged.began(m, f)
		for _, line := range o.Short(w - 2) {
			lines = append(lines, draw.TextLine{Text: line.Plain(), Drawn: line})
		}
	}
	return append(lines, draw.TextLine{})
}
