package tui

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// findingPage shows one finding in full: message, fix, cost, causes and effects, evidence, and the
// documentation of its check.
type findingPage struct {
	Pane
	judged     *judgement
	finding    *check.Finding // its last known version
	report     *check.Report  // the report that the lines were built from
	goneReason string         // the reason why the finding is no longer reported, or "" if it still is
}

func newFindingPage(j *judgement, f *check.Finding) *findingPage {
	return &findingPage{judged: j, finding: f}
}

func (p *findingPage) Scope() Scope  { return InFinding }
func (p *findingPage) Crumb() string { return p.finding.Check }

func (p *findingPage) Command(*Model) string {
	return p.judged.command() + " " + shellquote.Word(p.finding.Check)
}

// Refresh looks up the finding in the newest report.
func (p *findingPage) Refresh(m *Model) Cmd {
	p.madeFor = 0 // more may be known about a past state
	cmd := p.judged.run(m)
	r := p.judged.report
	if r == nil && p.judged.err != nil {
		p.report, p.goneReason = nil, "unknown whether this still holds: "+words.Sanitize(p.judged.err.Error())
	}
	if r == nil || r == p.report {
		return cmd
	}
	p.report = r
	i := slices.IndexFunc(r.Findings, func(f *check.Finding) bool { return f.Key() == p.finding.Key() })
	all, why := r.Judged(p.finding.Check)
	switch {
	case i >= 0:
		p.finding, p.goneReason = r.Findings[i], ""
	case all:
		p.goneReason = "no longer found"
	default:
		p.goneReason = "unknown whether this still holds: " + words.Sanitize(why)
	}
	return cmd
}

func (p *findingPage) Object(*Model) (model.Ref, bool) {
	return p.finding.Object, p.finding.Object.Resource != ""
}

func (p *findingPage) Can(m *Model, a Action) string {
	return cmp.Or(p.Pane.Can(m, a), canFinding(m, a, p.finding, model.Ref{}))
}

func (p *findingPage) Act(m *Model, a Action) Cmd {
	switch a {
	case ActOpen, ActExplain, ActCopyRow, ActOwner, ActRelated:
		return p.judged.act(m, a, p.finding)
	}
	return p.Pane.Act(m, a)
}

func (p *findingPage) Body(m *Model, w, h int) []string {
	if p.madeFor != w {
		p.set(p.text(m, min(w-2, proseWidth)), w)
	}
	return p.draw(m.Styles, w, h)
}

func (p *findingPage) text(m *Model, w int) []draw.TextLine {
	var lines []draw.TextLine
	if p.goneReason != "" {
		lines = append(lines, draw.TextLine{Text: p.goneReason, Look: draw.LookHead}, draw.TextLine{})
	}
	for _, line := range opened(m, p.judged, p.finding).Lines(w, false) {
		lines = append(lines, draw.TextLine{Text: line.Plain(), Pieces: line})
	}
	all := documentedChecks(m)
	x := check.Find(all, p.finding.Check)
	if x == nil {
		return lines
	}
	title := draw.TextLine{Text: "CHECK  " + words.Sanitize(x.Title), Look: draw.LookTitle}
	lines = append(lines, draw.TextLine{}, title)
	return append(lines, explanation(x, all, w)...)
}

func (p *findingPage) copies(*Model) []MenuItem { return findingCopies(p.finding) }

// explanation formats the documentation of a check.
func explanation(x *check.Check, all []*check.Check, w int) []draw.TextLine {
	var lines []draw.TextLine
	for _, part := range clusters.Explanation(x, all, w) {
		lines = append(lines, draw.TextLine{})
		if part.Title != "" {
			lines = append(lines, draw.TextLine{Text: strings.ToUpper(part.Title), Look: draw.LookTitle})
		}
		for _, text := range part.Lines {
			lines = append(lines, draw.TextLine{Text: text})
		}
	}
	return lines
}

// copier is a page that offers several formats for copying its content.
type copier interface {
	copies(m *Model) []MenuItem
}

// findingCopies returns the menu items for copying a finding: the commands of its fix, and the whole finding as
// text.
func findingCopies(f *check.Finding) []MenuItem {
	if f == nil {
		return nil
	}
	var list []MenuItem
	for _, s := range f.Steps() {
		if s.Command == "" {
			continue
		}
		item := MenuItem{
			Text: "fix: " + draw.Cut(words.Sanitize(string(s.Command)), 50),
			Run:  func(m *Model, _ *Menu) Cmd { return copyFix(m, s) },
		}
		if s.Changes {
			item.Note = check.ChangesCluster
		}
		list = append(list, item)
	}
	return append(list,
		MenuItem{
			Text: "the finding as text", Run: func(m *Model, _ *Menu) Cmd { return m.Copy(findingText(f), "finding") },
		})
}

// canFinding returns the reason why an action on a finding is unavailable, or "" if it is available. f is nil
// if the cursor is not on a finding; object is then the object under the cursor, if any.
func canFinding(m *Model, a Action, f *check.Finding, object model.Ref) string {
	switch a {
	case ActExplain, ActRelated, ActOwner, ActCopyRow, ActOpen:
	default:
		return ""
	}
	if f == nil {
		if object.Resource != "" && (a == ActOwner || a == ActCopyRow || a == ActOpen) {
			return ""
		}
		if m.data.cluster == nil {
			return words.Sanitize(m.missing())
		}
		if m.data.judged.report == nil {
			return "the checks are still running"
		}
		return "no finding selected"
	}
	if a == ActOwner || a == ActRelated {
		switch {
		case f.Object.Resource == "":
			return "the finding is about the whole cluster"
		case m.resource(f.Object.Resource) == nil:
			return "no page for " + f.Object.Resource
		}
	}
	return ""
}

// act performs an action on a finding.
func (j *judgement) act(m *Model, a Action, f *check.Finding) Cmd {
	switch a {
	case ActOpen:
		return m.Push(newFindingPage(j, f))
	case ActExplain:
		return m.Push(newExplainPage(m, f.Check))
	case ActCopyRow:
		if s := f.Command(); s != nil {
			return copyFix(m, *s)
		}
		if f.Advice() != "" {
			return m.Copy(f.Advice(), "advice: the fix has no command")
		}
		m.Notify(ToneWarn, "no fix is known: "+KeyOf(m, ActExplain)+" explains the check")
	case ActOwner:
		return m.Push(newDetailPage(f.Object))
	case ActRelated:
		return ActOnRef(m, a, f.Object)
	}
	return nil
}
