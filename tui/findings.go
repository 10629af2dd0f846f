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
	// Name is the palette input for the page, and CommandLine the command that prints the same, or "" if there is none.
	Name, CommandLine string
	// Checks returns the checks for a cluster. err is the reason, in one line, why they cannot judge it.
	Checks func(c *model.Cluster) (checks []*check.Check, err error)
	// About returns a line about the subject of the checks, shown above the findings.
	About func() string
	// Annotate adds the subject of the checks to a report that is saved.
	Annotate func(d *clusters.Diagnosis)
}

// NewFindingsPage returns a page that lists findings.
func NewFindingsPage(f *Findings) Page {
	return &findingsPage{judged: &judgement{config: f, judge: &check.Judge{}}}
}

// judgement is the result of checks on the current cluster.
type judgement struct {
	config  *Findings // the owner of the checks; nil for the diagnosis
	judge   *check.Judge
	hold    check.Hold      // of the diagnosis of a live cluster
	report  *check.Report   // nil until the first report
	display *view.Judgement // the part of the report that tables show
	env     *view.Env       // the environment of the report, whose time ages refer to
	err     error           // the reason why env could not be judged
	busy    bool            // checks are running or paused; the next cluster waits for them
}

// On a large live cluster that changes all the time, the checks pause after each run for pauseFactor times its
// duration, so that they take 1% of the time. The pause is at most maxPause. There is no pause if it would be
// shorter than minPause.
const (
	pauseFactor = 100
	minPause    = time.Second
	maxPause    = 5 * time.Second
)

// run runs the checks on the current cluster, off the event loop and one run at a time. Of the clusters that
// arrive during a run only the newest is judged.
func (j *judgement) run(m *Model) Cmd {
	d := &m.data
	if d.cluster == nil || j.busy || j.env == d.env {
		return nil
	}
	checks := m.Config.Checks
	if j.config != nil {
		if checks, j.err = j.config.Checks(d.cluster); j.err != nil {
			j.env, j.report = d.env, nil
			return nil
		}
	}
	j.busy = true
	return runChecks(j, d.env, checks, j.config == nil && d.live && !d.past.inPast, m.Config.Now)
}

// judge runs the diagnosis on the current cluster.
func judge(m *Model) Cmd { return m.data.judged.run(m) }

// judgedMsg delivers a requested report.
type judgedMsg struct {
	judgement *judgement
	env       *view.Env
	report    *check.Report
	display   *view.Judgement
	took      time.Duration
}

func (j judgedMsg) Apply(m *Model) Cmd {
	d, to := &m.data, j.judgement
	to.report, to.display, to.env, to.busy = j.report, j.display, j.env, false
	if rest := pauseFactor * j.took; d.live && rest >= minPause {
		to.busy = true
		return Batch(m.Refresh(), m.After(min(rest, maxPause), resumeMsg{to}))
	}
	return Batch(m.Refresh(), judge(m))
}

// resumeMsg ends the pause of the checks.
type resumeMsg struct{ judgement *judgement }

func (r resumeMsg) Apply(m *Model) Cmd {
	r.judgement.busy = false
	return Batch(m.Refresh(), judge(m))
}

// findingsAbout returns the findings about an object, none before the first report.
func (m *Model) findingsAbout(ref model.Ref) []*check.Finding {
	if m.data.judged.report == nil {
		return nil
	}
	return m.data.judged.report.About(ref.Resource, ref.ID)
}

// command returns the command that prints the judgement.
func (j *judgement) command() string {
	if j.config != nil {
		return j.config.CommandLine
	}
	return "diagnose"
}

// fileName returns the base of the name of a saved file.
func (j *judgement) fileName() string {
	if j.config == nil {
		return "findings"
	}
	name, _, _ := strings.Cut(j.config.Name, " ")
	return name
}

// goFindings shows the findings about the current object, or all findings if it has none or they are already shown.
func (m *Model) goFindings() Cmd {
	if p, ok := m.Top().(*findingsPage); ok && p.judged.config == nil {
		p.object = nil
		p.rebuildRows()
		return nil
	}
	p := &findingsPage{judged: m.data.judged}
	if s, ok := m.Top().(Pointer); ok {
		if ref, ok := s.Object(m); ok && len(m.findingsAbout(ref)) > 0 {
			p.object = &ref
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
			lines = append(lines, draw.TextLine{Text: line.Plain(), Pieces: line})
		}
	}
	return append(lines, draw.TextLine{})
}
