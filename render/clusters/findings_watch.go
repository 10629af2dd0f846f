package clusters

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// WatchReport holds the changes of a report since the previous one.
type WatchReport struct {
	Report  *check.Report
	Changes []check.Change
	// Blind holds the checks that can no longer run or can run again, for scripts. Unable groups the checks that
	// cannot run by reason, for people.
	Blind  []check.CoverageChange
	Unable []check.IncompleteChecks
	// Known holds the keys of findings whose fixes were already written. The text does not repeat these fixes.
	Known map[string]bool
}

// Changes writes the changes of a report. The text has the time in each line and leaves out infos unless the format
// is wide. Structured formats have one JSON object per line.
func Changes(w io.Writer, d *WatchReport, f render.Format, o render.Options) error {
	if f.Structured() {
		return writeChangedFindings(w, d)
	}
	clock := d.Report.Now.Format(time.TimeOnly)
	in := len(clock) + changeIndent
	var lines []render.Line
	for i := range d.Changes {
		c := &d.Changes[i]
		if c.Worst() == check.Info && f.Name() != "wide" {
			continue
		}
		role, glyph, word := changeLook(c, o.ASCII)
		about := c.Finding().Check + "  " + ObjectText(c.Finding().Object)
		if c.Finding().Requests != nil {
			about = c.Finding().Check + "  " + c.Finding().Impact
		}
		if cost := CostText(c.Finding()); cost != "" && c.After != nil {
			about += "  costs " + cost
		}
		cause, follows := causeOf(d.Report, c.After)
		if follows {
			about += "  follows from " + cause
		}
		lines = append(lines, render.Line{
			Role: role, Text: render.Padded(clock+" "+glyph+" "+word, in),
			After: []render.Piece{{Role: render.RoleTitle, Text: c.Finding().Message}},
		})
		if c.After == nil {
			continue
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: strings.Repeat(" ", in) + about})
		if c.Kind != check.Better && !follows && !d.Known[c.After.Key()] {
			lines = append(lines, FixLines(c.After, in)...)
		}
	}
	if text := unableText(d.Unable); text != "" {
		lines = append(lines, render.Line{
			Role: render.RoleDim, Text: render.Padded(clock+" "+words.UnknownMark, in),
			After: []render.Piece{{Role: render.RoleDim, Text: text}},
		})
	}
	out := encode.NewOutput(w, encode.Pieces)
	render.WriteLines(&out, lines, &o)
	return out.Flush()
}

// causeOf returns the check of the finding that caused f. ok is false if the report does not contain that
// finding.
func causeOf(r *check.Report, f *check.Finding) (id string, ok bool) {
	if f == nil {
		return "", false
	}
	i := slices.IndexFunc(r.Findings, func(x *check.Finding) bool { return x.Key() == f.Cause })
	if i < 0 {
		return "", false
	}
	return r.Findings[i].Check, true
}

// unableText returns the number of checks that cannot run and the reason, e.g. "9 checks cannot run:
// querynode-7: timed out", or "" if all can run.
func unableText(list []check.IncompleteChecks) string {
	var checks, reasons []string
	for _, u := range list {
		for _, x := range u.Checks {
			checks = append(checks, x.ID)
		}
		reasons = append(reasons, u.Why)
	}
	switch {
	case len(checks) == 0:
		return ""
	case len(checks) == 1:
		return checks[0] + " cannot run: " + reasons[0]
	case len(reasons) > 1:
		return fmt.Sprintf("%s checks cannot run: %s; and %s", words.Number(len(checks)), reasons[0],
			words.Plural(len(reasons)-1, "other reason"))
	}
	return words.Number(len(checks)) + " checks cannot run: " + reasons[0]
}

// changeIndent is the width in cells of the glyph and the word between the time and the message.
const changeIndent = 12

// changeLook returns the role, glyph and word of a change. A finding that is gone or better has the role and
// glyph of good, whatever its severity.
func changeLook(c *check.Change, ascii bool) (role render.Role, glyph, word string) {
	word = c.Kind.String()
	switch c.Kind {
	case check.Gone, check.Better:
		return render.RoleGood, render.Glyph(render.RoleGood, ascii), word
	case check.Unsure:
		word = "new?"
	default:
	}
	return SeverityRole(c.Finding().Severity), SeverityGlyph(c.Finding().Severity, ascii), word
}

func writeChangedFindings(w io.Writer, d *WatchReport) error {
	e := encode.JSON(w, 0)
	at := d.Report.Now
	for i := range d.Changes {
		c := &d.Changes[i]
		f := c.Finding()
		held := at.Sub(f.Held.Since)
		if c.Kind == check.Gone || c.Kind == check.Better {
			held = at.Sub(c.Before.Held.Seen)
		}
		e.BeginObject()
		e.Entry("at", at)
		e.Entry("since", f.Held.Since)
		e.Entry("seen", f.Held.Seen)
		e.Entry("held_seconds", held.Seconds())
		e.Entry("hold_seconds", f.Held.Hold.Seconds())
		writeFindingEntries(e, d.Report, f, c)
		e.EndObject()
		e.Line()
	}
	for _, b := range d.Blind {
		e.BeginObject()
		e.Entry("at", at)
		e.Key("change")
		if b.Why == "" {
			e.Text("seeing")
		} else {
			e.Text("blind")
		}
		e.Entry("check", b.Check.ID)
		e.Entry("reason", b.Why)
		e.EndObject()
		e.Line()
	}
	return e.Flush()
}
