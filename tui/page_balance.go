package tui

import (
	"errors"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/paste"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/words"
)

// balancePage is how evenly query nodes share the work: of all replicas, or of one with
// the plan that would even it out.
type balancePage struct {
	of     *model.Ref // one replica, or what nodes serve of a collection without one; nil is all
	word   string     // the collection as commands name it, "" for all
	label  string
	by     balance.Measure
	heat   bool
	env    *view.Env // weighed was made from it
	busy   bool      // a survey is on its way; a refresh waits for it
	madeBy balance.Measure
	// weighed is the survey with its plans; nil until the first.
	weighed *render.Balance

	Stops
	lines   []balanceLine
	madeFor int // the width that lines were laid out for
}

// balanceLine is a line of the page.
type balanceLine struct {
	text  string // plain
	look  LineLook
	ref   model.Ref      // what it is about; no Resource: nothing
	group *balance.Group // that enter opens
}

func balanceKind() PageKind {
	return PageKind{Name: "balance", Aliases: []string{"b"}, Doc: "How evenly query nodes share the work, and what would even it out.", Open: newBalancePage}
}

func newBalancePage(m *Model, words []string) (Page, error) {
	if len(words) == 0 {
		return &balancePage{label: "balance"}, nil
	}
	if m.data.cluster == nil {
		return nil, errors.New("no data yet: balance NAME needs to know the collections")
	}
	for _, r := range m.data.cluster.Replicas {
		c := m.data.cluster.Collection(r.Collection)
		if c == nil {
			continue
		}
		name := m.data.cluster.DatabaseName(c.Database) + "." + c.Name
		if words[0] == c.Name || words[0] == name || words[0] == c.ID.String() || words[0] == r.ID.String() {
			return groupBalance(model.Ref{Resource: "replicas", ID: r.ID.String()}, c.ID.String(), c.Name), nil
		}
	}
	return nil, errors.New("no loaded collection is called " + words[0] + ": balance alone lists them")
}

// groupBalance is the page of one replica.
func groupBalance(ref model.Ref, word, name string) *balancePage {
	return &balancePage{of: &ref, word: word, label: words.Harmless(name)}
}

func (p *balancePage) Scope() Scope  { return InBalance }
func (p *balancePage) Crumb() string { return draw.Cut(p.label, 40) }

// Note says how even it is, by which measure, and what is aimed at.
func (p *balancePage) Note(*Model) string {
	if p.weighed == nil || !p.weighed.Report.Survey.Asked {
		return ""
	}
	r := p.weighed.Report
	spread := &r.Survey.Spread
	if p.of != nil && len(r.Groups) == 1 {
		spread = &r.Groups[0].Spread
	}
	text := "max/mean " + figure(p.madeBy.Of(spread))
	if cv, ok := p.madeBy.CV(spread); ok {
		text += " · CV " + figure(cv)
	}
	return text + " · by " + p.madeBy.String() + " · goal ≤ " + figure(balance.DefaultGoal)
}

func (p *balancePage) Command(*Model) string {
	c := paste.Shell("balance")
	if p.word != "" {
		c = c.Arg(p.word)
	}
	c = c.Word("--plan")
	if p.by != balance.ByCost {
		c = c.Flag("--by", p.by.String())
	}
	return c.String()
}

func (p *balancePage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || p.busy || p.env == m.data.env && p.madeBy == p.by {
		return nil
	}
	p.busy = true
	return weigh(balanceQuery{p, m.data.env, p.by})
}

// balanceQuery is what it takes to survey and plan off the loop.
type balanceQuery struct {
	page *balancePage
	env  *view.Env
	by   balance.Measure
}

func (q *balanceQuery) run() *render.Balance {
	s := balance.Take(q.env.Cluster)
	var groups []*balance.Group
	if of := q.page.of; of != nil {
		groups = []*balance.Group{}
		for _, g := range s.Groups {
			if ref := g.Ref(); ref.Resource == of.Resource && ref.ID == of.ID {
				groups = append(groups, g)
			}
		}
	}
	return &render.Balance{Env: q.env, Report: s.Report(groups, balance.Options{By: q.by}, true)}
}

// weighedMsg brings a survey that was asked for.
type weighedMsg struct {
	query   balanceQuery
	weighed *render.Balance
}

func (w weighedMsg) Apply(m *Model) Cmd {
	p := w.query.page
	p.busy = false
	at, had := p.object(m)
	p.env, p.madeBy, p.weighed = w.query.env, w.query.by, w.weighed
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

func (p *balancePage) Body(m *Model, w, h int) []string {
	p.Height = h
	switch {
	case p.weighed == nil:
		return []string{"", "   " + m.Styles.Dim.On("…")}
	case !p.weighed.Report.Survey.Asked:
		return append([]string{""}, draw.Sentence(m.Styles, "the nodes were not asked, so that it is unknown who serves what: open a live source with --live, a bundle that was saved with --live, or a file with --runtime FILE", w)...)
	case p.of != nil && len(p.weighed.Report.Groups) == 0:
		return append([]string{""}, draw.Sentence(m.Styles, p.label+": the replica is gone from the metadata", w)...)
	}
	if p.madeFor != w {
		p.layOut(w)
	}
	p.ScrollToEnd(len(p.lines), Alone)
	return p.Draw(m.Styles, len(p.lines), w, func(i int) string { return p.lines[i].text },
		func(i int) string { return LineStyle(m.Styles, p.lines[i].look).On(draw.Cut(p.lines[i].text, w-1)) })
}

func (p *balancePage) current() *balanceLine {
	if i := p.Line(); i >= 0 {
		return &p.lines[i]
	}
	return nil
}

func (p *balancePage) object(*Model) (ref model.Ref, ok bool) {
	l := p.current()
	if l == nil || l.ref.Resource == "" {
		return model.Ref{}, false
	}
	return l.ref, true
}

func (p *balancePage) Can(m *Model, a Action) string {
	_, ok := p.object(m)
	switch a {
	case ActOpen, ActDescribe, ActOwner, ActRelated, ActTree, ActCopyRow:
		if !ok {
			return "there is no row"
		}
	case ActExportPlan:
		if p.weighed == nil || p.weighed.Report.Moves() == 0 {
			return "there is no move to export"
		}
	case ActHeat:
		if p.of != nil {
			return "the map is on the page of all replicas"
		}
	}
	return ""
}

func (p *balancePage) Act(m *Model, a Action) Cmd {
	if p.Move(a) {
		return nil
	}
	l := p.current()
	switch a {
	case ActBack:
		return m.Back()
	case ActHeat:
		p.heat = !p.heat
		p.Cursor, p.Top = 0, 0
		p.layOut(m.Width)
	case ActBy:
		p.by = (p.by + 1) % (balance.ByMemory + 1)
		m.Say(ToneInfo, "balanced by "+p.by.String())
		return p.Refresh(m)
	case ActExportPlan:
		return Save(m, FileName("plan", p.word)+".py", textWriter(p.weighed.SavedPlan()))
	case ActCopyRow:
		return m.Copy(strings.TrimSpace(l.text), "the row")
	case ActOpen:
		if l.group != nil && p.of == nil {
			return m.Push(groupBalance(l.ref, l.group.ID.String(), l.group.Name()))
		}
		return actOnRef(m, a, l.ref)
	case ActDescribe, ActOwner, ActRelated, ActTree:
		return actOnRef(m, a, l.ref)
	}
	return nil
}

func (p *balancePage) Click(m *Model, _, y int) Cmd { return p.Clicked(m, p, y) }
