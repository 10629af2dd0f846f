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

// Findings is the configuration of a page with its own checks. The page lists and opens findings as the diagnosis
// does.
type Findings struct {
	// Name is the palette input for the page, and Prints the command that prints the same, or "" if there is none.
	Name, Prints string
	// Checks returns the checks for a cluster. err is the reason, in one line, why they cannot judge it.
	Checks func(c *model.Cluster) (checks []*check.Check, err error)
	// About returns a line about the subject of the checks, shown above the findings.
	About func() string
	// Dress adds the subject of the checks to a report that is saved.
	Dress func(d *clusters.Diagnosis)
}

// NewFindingsPage returns a page that lists findings.
func NewFindingsPage(f *Findings) Page {
	return &findingsPage{judged: &judgement{own: f, judge: &check.Judge{}}}
}

// judgement is the result of checks on the current cluster.
type judgement struct {
	own    *Findings // the owner of the checks; nil for the diagnosis
	judge  *check.Judge
	hold   check.Hold      // of the diagnosis of a live cluster
	report *check.Report   // nil until the first report
	said   *view.Judgement // the part of the report that tables show
	env    *view.Env       // the environment of the report, whose time ages refer to
	why    error           // the reason why env could not be judged
	busy   bool            // checks are running or paused; the next cluster waits for them
}

// On a large live cluster that changes all the time, the checks pause after each run for restFactor times its
// duration, so that they take 1% of the time. The pause is at most restMost. There is no pause if it would be
// shorter than restLeast.
const (
	restFactor = 100
	restLeast  = time.Second
	restMost   = 5 * time.Second
)

// look runs the checks on the current cluster, off the event loop and one run at a time. Of the clusters that
// arrive during a run only the newest is judged.
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

// judge runs the diagnosis on the current cluster.
func judge(m *Model) Cmd { return m.data.judged.look(m) }

// judgedMsg delivers a requested report.
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

// restedMsg ends the pause of the checks.
type restedMsg struct{ to *judgement }

func (r restedMsg) Apply(m *Model) Cmd {
	r.to.busy = false
	return Batch(m.Refresh(), judge(m))
}

// about returns the findings about an object, none before the first report.
func (m *Model) about(ref model.Ref) []*check.Finding {
	if m.data.judged.report == nil {
		return nil
	}
	return m.data.judged.report.About(ref.Resource, ref.ID)
}

// command returns the command that prints the judgement.
func (j *judgement) command() string {
	if j.own != nil {
		return j.own.Prints
	}
	return "diagnose"
}

// named returns the base of the name of a saved file.
func (j *judgement) named() string {
	if j.own == nil {
		return "findings"
	}
	name, _, _ := strings.Cut(j.own.Name, " ")
	return name
}

// goFindings shows the findings about the current object, or all findings if it has none or they are already shown.
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

// findingLines returns the findings about an object, with their fixes, for the top of its details.
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
