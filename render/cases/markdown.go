package cases

import (
	"io"

	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	show "kitescope/render/latency"
	"kitescope/render/replays"
)

// writeMarkdown writes the case for a ticket. It begins with the conclusion and the fix, and has no pictures.
func (c *Case) writeMarkdown(w io.Writer) error {
	m := &render.Markdown{Out: encode.NewOutput(w, encode.Pieces)}
	d, x := c.Diagnosis, c.conclusion()
	m.Line("# " + render.MarkdownText(x.Headline))
	for _, text := range d.Under() {
		m.Line("", render.MarkdownText(text))
	}
	if x.Finding != nil {
		m.Lines(clusters.FixLines(x.Finding, 0))
	}
	m.Line("")
	for _, f := range x.Facts {
		m.Line("- **" + render.MarkdownText(words.Sentence(f.Name)) + "**: " + render.MarkdownText(f.Value))
	}
	if c.Why != nil && len(c.Why.Answers) > 0 {
		m.Line("", "## Where the time goes")
		m.Sheet(show.WhySheet(c.Why))
	}
	m.Line("", "## Findings")
	m.Tables(d.Parts(false, true, false))
	if b := c.Balance; b != nil && b.Report.Plans != nil && b.Report.Moves() > 0 {
		m.Line("", "## Balance", "", words.Plural(b.Report.Moves(), "move")+" of segments would even it out:")
		m.Fence(b.SavedPlan(), "python")
	}
	if b := c.Busiest; b != nil {
		if text := cores(b); text != "" {
			m.Line("", "## CPU time", "", render.MarkdownText(text))
		}
	}
	if c.History != nil {
		m.Line("", "## What happened")
		m.Sheet(clusters.HistorySheet(c.History))
	}
	if len(c.Replays) > 0 || c.WhatIf != nil {
		m.Line("", "## Replay", "", render.MarkdownText(replays.Conclude(c.Replays, c.WhatIf)))
	}
	m.Line("", "## Checks")
	m.Lines(d.Summary(false, false))
	if len(c.Notes) > 0 {
		m.Line("", "## Notes", "")
	}
	for _, n := range c.Notes {
		m.Line("- " + render.MarkdownText(n))
	}
	m.Line("", "Written by kitescope "+render.MarkdownText(c.Version)+".")
	return m.Out.Flush()
}
