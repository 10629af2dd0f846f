package cluster

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// balancePage shows how evenly query nodes share the work: of all replicas, or of a single replica with its
// plan.
type balancePage struct {
	pending string     // a collection or replica to find once there are data; "" after it was found
	object  *model.Ref // one replica, or the segments of a collection that nodes serve without a replica; nil is all
	word    string     // the collection as command lines name it, "" for all
	label   string
	by      balance.Measure
	env     *view.Env // the environment that survey was made from
	busy    bool      // a survey is being made; a refresh waits for it
	madeBy  balance.Measure
	// survey is the survey with its plans, nil until the first one.
	survey *clusters.Balance

	tui.Stops
	lines   []balanceLine
	madeFor int // the width that lines were laid out for
}

// balanceLine is a line of the page.
type balanceLine struct {
	text  string // plain
	role  render.Role
	ref   model.Ref      // the object of the line; no Resource if there is none
	group *balance.Group // the group that enter opens
}

func openBalance(m *tui.Model, args []string) (tui.Page, error) {
	if len(args) == 0 {
		return &balancePage{label: "balance"}, nil
	}
	p := &balancePage{pending: args[0], label: words.Sanitize(draw.Cut(args[0], 40))}
	if m.Env() != nil && !p.find(m.Env().Cluster) {
		return nil, errors.New(p.notFoundText())
	}
	return p, nil
}

// find turns the page into the page of the requested replica. It reports whether that replica exists.
func (p *balancePage) find(cluster *model.Cluster) bool {
	for _, r := range cluster.Replicas {
		c := cluster.Collection(r.Collection)
		if c == nil {
			continue
		}
		name := cluster.DatabaseName(c.Database) + "." + c.Name
		if p.pending == c.Name || p.pending == name || p.pending == c.ID.String() || p.pending == r.ID.String() {
			*p = *newGroupPage(model.Ref{Resource: "replicas", ID: r.ID.String()}, c.ID.String(), c.Name)
			return true
		}
	}
	return false
}

func (p *balancePage) notFoundText() string {
	return "no loaded collection named " + words.Sanitize(p.pending) + ": run :balance to list them"
}

// newGroupPage returns the page of a single replica.
func newGroupPage(ref model.Ref, word, name string) *balancePage {
	return &balancePage{object: &ref, word: word, label: words.Sanitize(name)}
}

// Scope implements tui.Page.
func (p *balancePage) Scope() tui.Scope { return tui.InBalance }

// Crumb implements tui.Page.
func (p *balancePage) Crumb() string { return draw.Cut(p.label, 40) }

// Note implements tui.Page. It returns the imbalance, the measure and the goal.
func (p *balancePage) Note(*tui.Model) string {
	if p.survey == nil || !p.survey.Report.Survey.HasRuntime {
		return ""
	}
	r := p.survey.Report
	spread := &r.Survey.Spread
	if p.object != nil && len(r.Groups) == 1 {
		spread = &r.Groups[0].Spread
	}
	return "max/mean " + render.Ratio(p.madeBy.MaxMean(spread)) + " · by " + p.madeBy.String() + " · goal ≤ " +
		render.Ratio(balance.DefaultGoal)
}

// Command implements tui.Page.
func (p *balancePage) Command(*tui.Model) string {
	c := shellquote.Shell("balance")
	if p.word != "" {
		c = c.Arg(p.word)
	}
	c = c.Word("--plan")
	if p.by != balance.ByCost {
		c = c.Flag("--by", p.by.String())
	}
	return c.String()
}

// Refresh implements tui.Page.
func (p *balancePage) Refresh(m *tui.Model) tui.Cmd {
	if m.Env() == nil || p.busy || p.env == m.Env() && p.madeBy == p.by || p.pending != "" && !p.find(m.Env().Cluster) {
		return nil
	}
	p.busy = true
	return survey(balanceQuery{p, m.Env(), p.by})
}

// balanceQuery holds the data for a survey and its plans off the event loop.
type balanceQuery struct {
	page *balancePage
	env  *view.Env
	by   balance.Measure
}

func (q *balanceQuery) run() *clusters.Balance {
	s := balance.NewSurvey(q.env.Cluster)
	var groups []*balance.Group
	if of := q.page.object; of != nil {
		groups = []*balance.Group{}
		for _, g := range s.Groups {
			if ref := g.Ref(); ref.Resource == of.Resource && ref.ID == of.ID {
				groups = append(groups, g)
			}
		}
	}
	return &clusters.Balance{Env: q.env, Report: s.Report(groups, balance.Options{By: q.by}, true)}
}

// survey surveys the load of the query nodes and plans how to balance it.
func survey(q balanceQuery) tui.Cmd {
	return func() tea.Msg { return surveyMsg{q, q.run()} }
}

// surveyMsg delivers a requested survey.
type surveyMsg struct {
	query  balanceQuery
	survey *clusters.Balance
}

// Apply implements tui.Message.
func (w surveyMsg) Apply(m *tui.Model) tui.Cmd {
	p := w.query.page
	p.busy = false
	at, had := p.Object(m)
	p.env, p.madeBy, p.survey = w.query.env, w.query.by, w.survey
	p.layOut(m.Width)
	if had {
		p.goToRef(at)
	}
	return p.Refresh(m)
}

// goToRef puts the cursor on the first line about an object.
func (p *balancePage) goToRef(ref model.Ref) {
	p.Find(func(line int) bool {
		x := p.lines[line].ref
		return x.Resource == ref.Resource && x.ID == ref.ID
	})
}

// Body implements tui.Page.
func (p *balancePage) Body(m *tui.Model, w, h int) []string {
	p.Height = h
	switch {
	case p.pending != "" && m.Env() != nil:
		return append([]string{""}, draw.Sentence(m.Styles, p.notFoundText(), w)...)
	case p.survey == nil:
		return []string{"", "   " + m.Styles.Dim.On("…")}
	case !p.survey.Report.Survey.HasRuntime:
		return append([]string{""},
			draw.Sentence(m.Styles,
				"nodes not queried: which node serves what is unknown. Open a live source, a bundle saved with "+
					"--live, or a file with --runtime FILE", w)...)
	case p.object != nil && len(p.survey.Report.Groups) == 0:
		return append([]string{""}, draw.Sentence(m.Styles, p.label+": the replica is gone from the metadata", w)...)
	}
	if p.madeFor != w {
		p.layOut(w)
	}
	p.ScrollToEnd(len(p.lines), tui.SingleLine)
	return p.Draw(m.Styles, len(p.lines), w, func(i int) string { return p.lines[i].text }, func(i int) string {
		return m.Styles.Roles[p.lines[i].role].On(draw.Cut(p.lines[i].text, w-1))
	})
}

func (p *balancePage) current() *balanceLine {
	if i := p.Line(); i >= 0 {
		return &p.lines[i]
	}
	return nil
}

// Object implements tui.Pointer.
func (p *balancePage) Object(*tui.Model) (ref model.Ref, ok bool) {
	l := p.current()
	if l == nil || l.ref.Resource == "" {
		return model.Ref{}, false
	}
	return l.ref, true
}

// Can implements tui.Page.
func (p *balancePage) Can(m *tui.Model, a tui.Action) string {
	_, ok := p.Object(m)
	switch a {
	case tui.ActOpen, tui.ActDescribe, tui.ActOwner, tui.ActRelated, tui.ActTree, tui.ActCopyRow:
		if !ok {
			return "no row selected"
		}
	case tui.ActSave:
		if p.survey == nil || !p.survey.Report.Survey.HasRuntime {
			return "nothing to save: the nodes were not queried"
		}
	}
	return ""
}

// Act implements tui.Page.
func (p *balancePage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	if p.Move(a) {
		return nil
	}
	l := p.current()
	switch a {
	case tui.ActBack:
		return m.Back()
	case tui.ActBy:
		p.by = (p.by + 1) % (balance.ByMemory + 1)
		m.Notify(tui.ToneInfo, "balanced by "+p.by.String())
		return p.Refresh(m)
	case tui.ActSave:
		m.Menu = p.saveMenu()
	case tui.ActCopyRow:
		return m.Copy(strings.TrimSpace(l.text), "the row")
	case tui.ActOpen:
		if l.group != nil && p.object == nil {
			return m.Push(newGroupPage(l.ref, l.group.ID.String(), l.group.Name()))
		}
		return tui.ActOnRef(m, a, l.ref)
	case tui.ActDescribe, tui.ActOwner, tui.ActRelated, tui.ActTree:
		return tui.ActOnRef(m, a, l.ref)
	}
	return nil
}
