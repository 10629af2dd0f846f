package cases

import (
	"bytes"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/render/flame"
	show "kitescope/render/latency"
	"kitescope/render/replays"
	"kitescope/render/webpage"
)

// page returns the case as a page.
func (c *Case) page() (*webpage.Page, error) {
	d := c.Diagnosis
	x := c.conclusion()
	where, _ := d.Headline()
	p := &webpage.Page{
		Window: "Report on " + where, Headline: x.Headline, Tone: x.Tone, Under: d.SubheadLines(),
		Facts: x.Facts, Commands: x.Commands, FixFirst: true, Version: c.Version,
	}
	c.addLatency(p)
	d.AddFindings(p)
	if c.Balance != nil {
		c.Balance.AddPlan(p)
	}
	if err := c.addFlame(p); err != nil {
		return nil, err
	}
	c.addHistory(p)
	if len(c.Replays) > 0 || c.WhatIf != nil {
		if err := replays.AddTo(p, c.Replays, c.WhatIf); err != nil {
			return nil, err
		}
	}
	d.AddCluster(p)
	d.AddChecks(p)
	p.Notes = append(p.Notes, c.Notes...)
	return p, nil
}

// addLatency adds the latency budgets of the analyzed requests, with explanations of their phases.
func (c *Case) addLatency(p *webpage.Page) {
	if c.Why == nil || len(c.Why.Answers) == 0 {
		return
	}
	r := &show.Report{Latency: c.Why.Latency, Where: c.Where, At: c.Why.At, Version: c.Version}
	for _, a := range c.Why.Answers[:min(len(c.Why.Answers), shownBudgets)] {
		r.Budgets = append(r.Budgets, a.Budget)
	}
	r.AddTo(p)
	if n := len(c.Why.Answers) - shownBudgets; n > 0 {
		p.Notes = append(p.Notes,
			words.Plural(n, "kind")+" of requests with less time are left out: see kitescope latency")
	}
}

// shownBudgets is the maximum number of request kinds with a waterfall.
const shownBudgets = 4

// Dimensions of the flame graph in pixels. The caller omits frames below 0.5% of the total, which are irrelevant
// for the conclusion.
const (
	flameWidth  = 1160
	flameHeight = 900
)

// addFlame adds the flame graph of the busiest process.
func (c *Case) addFlame(p *webpage.Page) error {
	b := c.Busiest
	if b == nil {
		return nil
	}
	var drawn [2]webpage.Block
	for i := range drawn {
		var svg bytes.Buffer
		if err := flame.SVG(&svg, b.Tree, flame.Options{
			Title: b.Process, Width: flameWidth, MaxHeight: flameHeight, Dark: i == 1,
		}); err != nil {
			return err
		}
		drawn[i] = webpage.Inline(svg.String())
	}
	title := "CPU time of " + b.Process
	p.Add(title, webpage.Prose(cores(b)),
		webpage.WideFigure("Flame graph of "+b.Process+": the widest frames take most CPU time", drawn[0], drawn[1]))
	return nil
}

func cores(b *Busiest) string {
	if !(b.Cores > 0) {
		return ""
	}
	return b.Process + " uses " + words.ThreeDigits(b.Cores) + " cores of CPU, more than any other profiled process."
}

// addHistory adds the events of the cluster, newest last.
func (c *Case) addHistory(p *webpage.Page) {
	if c.History == nil {
		return
	}
	s := clusters.HistorySheet(c.History)
	p.Add("What happened", s.Blocks()...)
	for _, l := range render.PageLines(s.Foot) {
		p.Notes = append(p.Notes, l.Text)
	}
}
