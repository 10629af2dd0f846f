// Package cases writes all data about a case as a single document, to mail or attach to a ticket. A Case consists
// of the diagnosis of a cluster and further optional reports. The document is an HTML page or Markdown and begins
// with the conclusion:
//
//  1. the problem, its impact, its start, the fix, and the expected gain;
//  2. the phases of requests, the findings, the balance, the CPU time of the busiest process, the history, and
//     the replay;
//  3. the cluster, the results of the checks, and the notes.
//
// Sections without data are omitted, and the notes explain why.
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

// Case holds the data of a case. All fields except Diagnosis can be nil.
type Case struct {
	Diagnosis *clusters.Diagnosis
	Why       *show.WhyReport
	Balance   *clusters.Balance
	Busiest   *Busiest
	History   *clusters.HistoryReport
	// Replays are results; the first one is the baseline. WhatIf is a prediction.
	Replays []replays.Series
	WhatIf  *whatif.Report
	// Notes explain which sections are missing, and why.
	Notes []string
	// Where is the address of the cluster. Version is the version of kitescope.
	Where, Version string
}

// Measure adds the balance to a Case with a Diagnosis, and the causes of request latencies if the metrics show
// them.
func (c *Case) Measure(env *view.Env, l *latency.Latency) {
	survey := balance.NewSurvey(env.Cluster)
	c.Balance = &clusters.Balance{
		Env: env, Report: survey.Report(nil, balance.Options{Goal: balance.DefaultGoal}, survey.HasRuntime),
	}
	answers := why.Explain(l.Budgets, c.Diagnosis.Report)
	if len(answers) == 0 {
		c.Notes = append(c.Notes, "No latency: "+show.EmptyText(l)+".")
		return
	}
	slices.SortStableFunc(answers, func(x, y *why.Answer) int { return cmp.Compare(y.Weight, x.Weight) })
	c.Why = &show.WhyReport{Latency: l, Answers: answers, Where: c.Where, Version: c.Version, At: l.Window.To}
}

// Busiest is the process with the highest CPU usage, and its flame graph.
type Busiest struct {
	Process string
	// Cores is the CPU usage in cores.
	Cores float64
	Tree  *flame.Tree
}

// writes maps format names to functions that write a case.
func writes() map[string]func(*Case, io.Writer) error {
	return map[string]func(*Case, io.Writer) error{"html": (*Case).writeHTML, "markdown": (*Case).writeMarkdown}
}

// Formats returns the formats of a case: a page to keep, mail and print, and Markdown for tickets.
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

// conclusion returns the conclusion of the diagnosis, with facts from the other parts.
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
			add("Balance",
				words.Plural(n, "move")+" of segments: the busiest query node has "+
					render.Ratio(by.MaxMean(&c.Balance.Report.Survey.Spread))+
					" times the mean work, then "+render.Ratio(by.MaxMean(&c.Balance.Report.After)))
		}
	}
	if len(c.Replays) > 0 || c.WhatIf != nil {
		add("Replay", replays.Conclude(c.Replays, c.WhatIf))
	}
	return x
}

// gain returns the expected gain from fixing a finding, for the first request that the fix helps, e.g. "search:
// 9.1 to 10 ms of 12.3 ms less". The answers are sorted by weight, i.e. by their share of the time.
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
