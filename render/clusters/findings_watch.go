package clusters

import (
	"io"
	"time"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// Changes writes what has changed since a report before: for people a line each with the time, and
// for -o jsonl an object a line.
func Changes(w io.Writer, r *check.Report, at time.Time, changes []check.Change, blind []check.Blindness, f render.Format, o render.Options) error {
	if f.Structured() {
		return writeChangedFindings(w, r, at, changes, blind)
	}
	p := newPage(w, &o)
	clock := at.Format(time.TimeOnly)
	for i := range changes {
		c := &changes[i]
		role, glyph, word := changeLook(c, o.ASCII)
		first := clock + " " + glyph + " " + word
		p.after(first, role, 0, len(clock)+changeIn, render.RoleTitle, render.Harmless(c.Finding().Message))
		about := c.Finding().Check + "  " + ObjectText(c.Finding().Object)
		if cost := CostText(c.Finding()); cost != "" && c.After != nil {
			about += "  costs " + cost
		}
		p.put(len(clock)+changeIn, stepIn, render.RoleDim, about)
		if c.After != nil && c.Kind != check.Better {
			p.fix(len(clock)+changeIn-textIn, c.After)
		}
	}
	for _, b := range blind {
		text, role := b.Check.ID+" cannot run: "+render.Harmless(b.Why), render.RoleDim
		if b.Why == "" {
			text = b.Check.ID + " can run again"
		}
		p.after(clock+" "+words.UnknownMark, role, 0, len(clock)+changeIn, role, text)
	}
	return p.out.Flush()
}

// changeIn are the cells of glyph and word between the time and the message.
const changeIn = 12

// changeLook is how a change looks. What is gone is good news, whatever it was.
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

func writeChangedFindings(w io.Writer, r *check.Report, at time.Time, changes []check.Change, blind []check.Blindness) error {
	e := encode.JSON(w, 0)
	for i := range changes {
		writeFindingAt(e, r, changes[i].Finding(), &changes[i], at)
		e.Line()
	}
	for _, b := range blind {
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
