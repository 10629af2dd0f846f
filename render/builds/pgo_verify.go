package builds

import (
	"fmt"
	"io"
	"strconv"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// WriteVerification writes whether a program was built with a profile, and whether that took effect.
func WriteVerification(w io.Writer, v *pgo.Verification, f render.Format, o render.ReportOptions) error {
	return newVerificationSheet(v, &o).Write(w, f)
}

// EffectLook is how an effect looks. The mark says the same without colour.
func EffectLook(e pgo.Effect, ascii bool) (mark string, role render.Role) {
	switch e {
	case pgo.TookEffect:
		role = render.RoleGood
	case pgo.NoSign:
		role = render.RoleBad
	case pgo.CannotTell:
		role = render.RoleWarn
	}
	return render.Glyph(role, ascii), role
}

// witnessed is a call that was looked at, and where.
type witnessed struct {
	*pgo.WitnessCall
	in string
}

// witnessesOf are the comparisons that were made, with what they are called.
func witnessesOf(v *pgo.Verification) (names []string, list []*pgo.Witness) {
	if v.InBinary != nil {
		names, list = append(names, "binary"), append(list, v.InBinary)
	}
	if v.InProfile != nil {
		names, list = append(names, "profile"), append(list, v.InProfile)
	}
	return names, list
}

func newVerificationSheet(v *pgo.Verification, o *render.ReportOptions) *render.Sheet {
	var calls []witnessed
	names, list := witnessesOf(v)
	for i, w := range list {
		for j := range w.Calls {
			calls = append(calls, witnessed{&w.Calls[j], names[i]})
		}
	}
	asked := render.Ask(o, verificationTable(calls, len(list) > 1), nil)
	s := &render.Sheet{
		Kind: "PGOVerification", Options: o, Head: verificationHead(v, o),
		About: func(e *encode.Encoder) { writeVerificationHead(e, v) },
		Items: asked.Items,
	}
	if facts := verificationFacts(v); len(facts) > 0 {
		s.Parts = append(s.Parts, factsPart(facts))
	}
	if len(calls) > 0 || o.Asks() {
		s.Parts = append(s.Parts, asked.List("there are no calls to look at"))
		s.Foot = asked.More(o)
	}
	return s
}

// VerificationSchema is what can be asked of the calls that WriteVerification writes.
func VerificationSchema(render.ReportOptions) *table.Schema {
	return verificationTable(nil, true).Schema()
}

func verificationHead(v *pgo.Verification, o *render.ReportOptions) []render.Line {
	mark, role := EffectLook(v.Effect, o.ASCII)
	lines := []render.Line{{Role: role, Text: mark + " " + v.Effect.String(), After: []render.Piece{{Role: render.RolePlain, Text: ": " + render.Harmless(v.Reason)}}}}
	if v.Hint != "" {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: render.Harmless(v.Hint)})
	}
	for _, n := range v.Notes {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, o.ASCII) + " ", After: []render.Piece{{Role: render.RolePlain, Text: render.Harmless(n)}}})
	}
	return lines
}

// verificationFact is a line of what is known.
type verificationFact struct{ name, value string }

func verificationFacts(v *pgo.Verification) []verificationFact {
	s := v.Subject
	facts := []verificationFact{{"program", render.Harmless(s.Name)}}
	if b := s.Build; b != nil {
		with := render.Harmless(b.PGO)
		switch {
		case with == "" && b.Recorded:
			with = "no profile"
		case with == "":
			with = words.UnknownMark
		case b.Hash != "":
			with += ", hash " + hashText(b.Hash)
		default:
			with += ", no hash"
		}
		facts = append(facts, verificationFact{"main package", render.OrUnknown(b.Main)}, verificationFact{"Go", render.OrUnknown(b.GoVersion)}, verificationFact{"built with", with})
	}
	if g := s.Given; g != nil {
		facts = append(facts, verificationFact{"held against", render.Harmless(g.Name) + ", hash " + hashText(g.SHA256)}, verificationFact{"the same", v.Match.String()})
		if m := g.Manifest; m != nil {
			text := v.Manifest + ": " + words.Plural(len(m.Sources), "profile")
			if len(m.Nodes) > 0 {
				text += " of " + words.Plural(len(m.Nodes), "node")
			}
			facts = append(facts, verificationFact{"manifest", text})
		}
	}
	names, list := witnessesOf(v)
	for i, w := range list {
		facts = append(facts, verificationFact{"in the " + names[i], tallyText(w.Inlined, len(w.Calls)) + " hot calls inlined now, " +
			tallyText(w.Control.Inlined, w.Control.Of) + " others, by chance " + chanceCell(w)})
	}
	for i := range v.Own {
		b := &v.Own[i]
		facts = append(facts, verificationFact{"only with PGO", fmt.Sprintf("%s: cost at least %d", render.Harmless(b.Function), b.Cost)})
	}
	return facts
}

func tallyText(inlined, of int) string { return strconv.Itoa(inlined) + " of " + strconv.Itoa(of) }

func chanceCell(w *pgo.Witness) string {
	if len(w.Calls) == 0 {
		return words.UnknownMark
	}
	return strconv.FormatFloat(w.Chance, 'g', 2, 64)
}

func factsPart(facts []verificationFact) render.Part {
	return render.Part{List: render.Places(len(facts), []table.ColumnOf[int]{
		{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return facts[i].name }},
		{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return facts[i].value }},
	})}
}

// verificationTable are the calls; which comparison they are of is shown where there are several.
func verificationTable(calls []witnessed, several bool) *table.Rows[*witnessed] {
	caller := render.TextKey("caller", func(c *witnessed) string { return c.Caller }).
		Titled("CALLER +LINE", 0, func(c *witnessed) string { return callerLine(&c.Edge) })
	callee := render.TextKey("callee", func(c *witnessed) string { return c.Callee }).Titled("CALLEE", 0, func(c *witnessed) string { return render.Harmless(c.Callee) })
	caller.Shorten, callee.Shorten = true, true
	in := render.TextKey("in", func(c *witnessed) string { return c.in }).Word()
	if several {
		in = in.Titled("IN", 0, func(c *witnessed) string { return c.in })
	}
	return table.New(table.Schema{
		Name: "calls", Singular: "call", Names: []string{"caller", "callee"}, Sparse: true, Order: []string{"percent", "inlined", "in", "caller", "callee"},
	}, render.Pointers(calls), []table.ColumnOf[*witnessed]{
		caller, callee,
		render.Key("line_offset", table.Int, func(c *witnessed) table.Cell { return table.OfInt(int64(c.Offset)) }),
		render.Key("percent", table.Number, func(c *witnessed) table.Cell { return table.OfFloat(100 * c.Share) }).
			Titled("SHARE", 0, func(c *witnessed) string { return shareCell(c.Share) }),
		render.Key("inlined", table.Bool, func(c *witnessed) table.Cell { return table.OfBool(c.Inlined) }).
			Titled("NOW", 0, callNow).Looking(func(c *witnessed) render.Role {
			return []render.Role{render.RolePlain, render.RoleGood}[render.BoolInt(c.Inlined)]
		}),
		render.Key("made", table.Bool, func(c *witnessed) table.Cell {
			if c.in == "binary" && c.Inlined {
				return table.OfUnknown() // a binary lists what is inlined
			}
			return table.OfBool(c.Made)
		}),
		in,
	})
}

// callNow is what became of a call.
func callNow(c *witnessed) string {
	switch {
	case c.Inlined && c.Made:
		return "partly inlined"
	case c.Inlined:
		return "inlined"
	}
	return "a call"
}
