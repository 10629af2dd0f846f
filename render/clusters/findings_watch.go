package clusters

import (
	"io"
	"strings"
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
	clock := at.Format(time.TimeOnly)
	in := len(clock) + changeIn
	var lines []render.Line
	for i := range changes {
		c := &changes[i]
		role, glyph, word := changeLook(c, o.ASCII)
		about := c.Finding().Check + "  " + ObjectText(c.Finding().Object)
		if cost := CostText(c.Finding()); cost != "" && c.After != nil {
			about += "  costs " + cost
		}
		lines = append(lines,
			render.Line{Role: role, Text: render.Padded(clock+" "+glyph+" "+word, in), After: []render.Piece{{Role: render.RoleTitle, Text: c.Finding().Message}}},
			render.Line{Role: render.RoleDim, Text: strings.Repeat(" ", in) + about})
		if c.After != nil && c.Kind != check.Better {
			lines = append(lines, FixLines(c.After, in)...)
		}
	}
	for _, b := range blind {
		text := b.Check.ID + " cannot run: " + b.Why
		if b.Why == "" {
			text = b.Check.ID + " can run again"
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: render.Padded(clock+" "+words.UnknownMark, in), After: []render.Piece{{Role: render.RoleDim, Text: text}}})
	}
	out := encode.NewOutput(w, encode.Pieces)
	render.WriteLines(&out, lines, &o)
	return out.Flush()
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
