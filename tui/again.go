package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/news"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render/clusters"
)

// again is a finding that is checked again: whether it is gone now.
type again struct {
	of     *check.Finding
	judged *judgement    // that has it
	before *check.Report // of then
	busy   bool
	still  bool      // the source does not change
	env    *view.Env // that has to be judged, or a newer one; nil as long as it is asked for
	result string    // what came of it
}

// againPatience is how long the answers are waited for: a round of questions, and one that was under way.
const againPatience = 40 * time.Second

// checkAgain has the cluster asked anew, where it is live, and judged.
func checkAgain(m *Model, j *judgement, f *check.Finding) Cmd {
	d := &m.data
	if d.again.busy {
		m.Say(ToneInfo, "still checking "+d.again.of.Check+"…")
		return nil
	}
	if why := held(m); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	d.again = again{of: f, judged: j, before: j.report, busy: true}
	m.Say(ToneInfo, "checking "+f.Check+" again…")
	asker, ok := m.Config.Feed.(news.Again)
	if !ok || !d.live {
		d.again.still = true
		return askedAgainMsg{by: d.judged}.Apply(m)
	}
	return askAgain(m, asker)
}

// held says why what is shown is not what the cluster says now, "" if it is.
func held(m *Model) string {
	switch d := &m.data; {
	case d.past.away:
		return "this is the past: " + KeyOf(m, ActLive) + " goes to now"
	case d.paused:
		return "the screen is paused: " + KeyOf(m, ActPause) + " goes on"
	}
	return ""
}

// askAgain waits for answers that come after now.
func askAgain(m *Model, asker news.Again) Cmd {
	by := m.data.judged
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, againPatience)
		defer cancel()
		return askedAgainMsg{by, asker.Again(ctx)}
	}
}

// askedAgainMsg says that the source was asked: what it said was shown before.
type askedAgainMsg struct {
	by  *judgement // the diagnosis of the source
	err error
}

func (a askedAgainMsg) Apply(m *Model) Cmd {
	d := &m.data
	if a.by != d.judged {
		return nil
	}
	if a.err != nil {
		d.again.busy = false
		m.Say(ToneBad, "could not ask again: "+a.err.Error())
		return nil
	}
	if why := held(m); why != "" { // the answers are not shown
		d.again.busy = false
		m.Say(ToneWarn, "not checked again: "+why)
		return nil
	}
	d.again.env = d.env
	if !d.again.judged.busy {
		d.again.judged.env = nil
	}
	return judge(m)
}

// settle says what came of checking again, once what was asked for is judged.
func (a *again) settle(m *Model) {
	j := a.judged
	if !a.busy || a.env == nil || j.env == nil || j.env.Now.Before(a.env.Now) { // a newer one answers as well
		return
	}
	a.busy = false
	if m.data.past.away { // what was judged is of then
		m.Say(ToneWarn, "not checked again: "+held(m))
		return
	}
	name := a.of.Check
	if a.of.Object.Resource != "" {
		name += " " + clusters.ObjectText(a.of.Object)
	}
	if j.report == nil {
		a.result = "cannot tell: " + words.Harmless(j.why.Error())
		m.Say(ToneWarn, name+": "+a.result)
		return
	}
	change := changeOf(check.Since(a.before, j.report), a.of)
	switch {
	case change == nil || change.Kind == check.Gone:
		a.result = "fixed: " + name + " is gone"
		m.Say(ToneGood, a.result)
	case change.Kind == check.Lost:
		a.result = "cannot tell: " + words.Harmless(change.Why)
		m.Say(ToneWarn, name+": "+a.result)
	default:
		a.of = change.After
		a.result = "still there"
		if short, _ := j.began(m, a.of); short != "" && short != words.UnknownMark {
			a.result += " since " + short
		}
		if change.Kind != check.Same {
			a.result += ", " + change.Kind.String()
		}
		if a.still {
			a.result += ": a file does not change; open live to check a fix"
		}
		m.Say(ToneWarn, name+": "+a.result)
	}
	a.result = m.Config.Now().Format(time.TimeOnly) + " " + a.result
}

// changeOf is what has become of a finding of the older report.
func changeOf(c *check.Comparison, f *check.Finding) *check.Change {
	for i := range c.Changes {
		if c.Changes[i].Before == f {
			return &c.Changes[i]
		}
	}
	return nil
}

// said is what came of checking a finding of a judgement again, "" if nobody did.
func (a *again) said(j *judgement, f *check.Finding) string {
	if a.of == nil || a.judged != j || a.of.Key() != f.Key() {
		return ""
	}
	return a.result
}
