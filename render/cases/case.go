// Package cases writes what is known of one case as one document, to be mailed or put into a ticket. What enters is a Case: the
// diagnosis of a cluster and whatever else there is of it; what leaves is a page of HTML or Markdown, which begins with the conclusion:
//
//  1. what is wrong, what it costs, since when, what to do, and what that gives;
//  2. where the time of requests goes, the findings, the balance, the processor time of the busiest process, what happened, the replay;
//  3. the cluster, how the checks ended, and the notes.
//
// What there is nothing of is left out, and the notes say why.
package cases

import (
	"cmp"
	"io"
	"slices"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/view"
	"kitescope/inspect/why"
	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/render"
	"kitescope/render/clusters"
	show "kitescope/render/latency"
	"kitescope/render/replays"
	"kitescope/render/webpage"
	"kitescope/replay/whatif"
)

// Case is what is known. All but the Diagnosis may be nil.
type Case struct {
	Diagnosis *clusters.Diagnosis
	Why       *show.Because
	Balance   *clusters.Balance
	Busiest   *Busiest
	History   *clusters.HistoryReport
	// Replays are results, the first one what the others are compared with; WhatIf is a prediction.
	Replays []replays.Series
	WhatIf  *whatif.Report
	// Notes say what is not in it, and why.
	Notes []string
	// Where is the cluster, Version kitescope's.
	Where, Version string
}

// Measure adds to a Case with a Diagnosis why requests take as long as they do, where metrics tell, and the balance.
func (c *Case) Measure(env *view.Env, l *latency.Latency) {
	survey := balance.Take(env.Cluster)
	c.Balance = &clusters.Balance{Env: env, Report: survey.Report(nil, balance.Options{Goal: balance.DefaultGoal}, survey.Asked)}
	answers := why.Of(l.Budgets, c.Diagnosis.Report)
	if len(answers) == 0 {
		c.Notes = append(c.Notes, "No latency: "+show.Nothing(l)+".")
		return
	}
	slices.SortStableFunc(answers, func(x, y *why.Answer) int { return cmp.Compare(y.Weight, x.Weight) })
	c.Why = &show.Because{Latency: l, Answers: answers, Where: c.Where, Version: c.Version, At: l.Window.To}
}

// Busiest is the process that spends most processor time, with the flame graph of it.
type Busiest struct {
	Process string
	// Cores is its processor time per time.
	Cores float64
	Tree  *flame.Tree
}

// writes are the formats of a case.
func writes() map[string]func(*Case, io.Writer) error {
	return map[string]func(*Case, io.Writer) error{"html": (*Case).writeHTML, "markdown": (*Case).writeMarkdown}
}

// Formats are the formats of a case: a page to keep, mail and print, and Markdown for tickets.
func Formats() render.Formats { return render.FormatsBy(writes()) }

// Write writes a case.
func Write(w io.Writer, c *Case, f render.Format) error { return writes()[f.Name()](c, w) }

func (c *Case) writeHTML(w io.Writer) error {
	p, err := c.page()
	if err != nil {
		return err
	}
	return render.WritePage(w, p)
}

// conclusion is that of the diagnosis, with what the other parts know of the same.
func (c *Case) conclusion() clusters.Conclusion {
	x := c.Diagnosis.Conclude()
	add := func(name, value string) {
		if value != "" {
			x.Facts = append(x.Facts, webpage.Fact{Name: name, Value: value})
		}
	}
	if c.Why != nil && len(c.Why.Answers) > 0 {
		add("Requests", c.Why.Answers[0].Verdict())
		add("Gain", gain(c.Why.Answers, x.Finding))
	}
	if c.Balance != nil && c.Balance.Report.Plans != nil {
		if n := c.Balance.Report.Moves(); n > 0 {
			by := c.Balance.Report.Options.By
			add("Balance", words.Plural(n, "move")+" of segments: the busiest query node has "+render.Ratio(by.Of(&c.Balance.Report.Survey.Spread))+
				" times the mean work, then "+render.Ratio(by.Of(&c.Balance.Report.After)))
		}
	}
	if len(c.Replays) > 0 || c.WhatIf != nil {
		add("Replay", replays.Conclude(c.Replays, c.WhatIf))
	}
	return x
}

// gain is what the cure of a finding gives, by the first request that it helps: "search: 9.1 to 10 ms of 12.3 ms less". The answers stand
// as they matter: that which takes most of the time first.
func gain(answers []*why.Answer, f *check.Finding) string {
	if f == nil {
		return ""
	}
	for _, a := range answers {
		for i := range a.Reasons {
			r := &a.Reasons[i]
			if r.Finding == nil || r.Finding.Key() != f.Key() || r.Bound || r.Gain.High <= 0 {
				continue
			}
			text := string(a.Budget.Request)
			if a.Budget.Name != "" {
				text += " of " + a.Budget.Name
			}
			return text + ": " + show.GainText(r) + " of " + latency.Milliseconds(a.Budget.Ms) + " less"
		}
	}
	return ""
}
