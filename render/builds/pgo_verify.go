package builds

import (
	"io"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// WriteVerification writes whether a program was built with a profile.
func WriteVerification(w io.Writer, v *pgo.Verification, f render.Format, o render.ReportOptions) error {
	s := &render.Sheet{
		Kind: "PGOVerification", Options: &o, Head: verificationHead(v, o.ASCII),
		Parts:    []render.Part{factsPart(verificationFacts(v))},
		Items:    render.Select(&o, verificationTable(v), nil).Items,
		WriteAll: func(e *encode.Encoder) { writeVerification(e, v) },
	}
	return s.Write(w, f)
}

// EffectLook returns the mark and role of an effect. The mark makes the effect clear without color.
func EffectLook(e pgo.Effect, ascii bool) (mark string, role render.Role) {
	switch e {
	case pgo.Used:
		role = render.RoleGood
	case pgo.NotUsed:
		role = render.RoleBad
	case pgo.EffectUnknown:
		role = render.RoleWarn
	}
	return render.Glyph(role, ascii), role
}

func verificationHead(v *pgo.Verification, ascii bool) []render.Line {
	mark, role := EffectLook(v.Effect, ascii)
	lines := []render.Line{
		{
			Role: role, Text: mark + " " + v.Effect.String(),
			After: []render.Piece{{Role: render.RolePlain, Text: ": " + render.Harmless(v.Reason)}},
		},
	}
	if v.Hint != "" {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: render.Harmless(v.Hint)})
	}
	for _, n := range v.Notes {
		lines = append(lines, render.Line{
			Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, ascii) + " ",
			After: []render.Piece{{Role: render.RolePlain, Text: render.Harmless(n)}},
		})
	}
	return lines
}

// verificationFact is a fact about the build.
type verificationFact struct{ name, value string }

func verificationFacts(v *pgo.Verification) []verificationFact {
	b := v.Build
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
	facts := []verificationFact{
		{"program", render.Harmless(v.Name)},
		{"main package", render.OrUnknown(b.Main)},
		{"Go", render.OrUnknown(b.GoVersion)},
		{"built with", with},
	}
	if g := v.Given; g != nil {
		facts = append(facts,
			verificationFact{"compared with", render.Harmless(g.Name) + ", hash " + hashText(g.SHA256)},
			verificationFact{"the same", v.Match.String()})
		if m := g.Manifest; m != nil {
			text := v.Manifest + ": " + words.Plural(len(m.Sources), "profile")
			if len(m.Nodes) > 0 {
				text += " of " + words.Plural(len(m.Nodes), "node")
			}
			facts = append(facts, verificationFact{"manifest", text})
		}
	}
	return facts
}

func factsPart(facts []verificationFact) render.Part {
	return render.Part{List: render.PositionGrid(len(facts), []table.ColumnOf[int]{
		{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return facts[i].name }},
		{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return facts[i].value }},
	})}
}

// verificationTable returns the verification as a single row, for CSV and JSON lines.
func verificationTable(v *pgo.Verification) *table.Rows[*pgo.Verification] {
	return table.New(table.Schema{Name: "verifications", Singular: "verification", Sparse: true},
		[]*pgo.Verification{v}, []table.ColumnOf[*pgo.Verification]{
			render.TextKey("program", func(v *pgo.Verification) string { return v.Name }),
			render.TextKey("effect", func(v *pgo.Verification) string { return v.Effect.String() }),
			render.TextKey("reason", func(v *pgo.Verification) string { return v.Reason }),
			render.TextKey("pgo", func(v *pgo.Verification) string { return v.Build.PGO }),
			render.TextKey("same", func(v *pgo.Verification) string { return v.Match.String() }),
		})
}

func writeVerification(e *encode.Encoder, v *pgo.Verification) {
	e.BeginObject()
	e.Entry("apiVersion", render.APIVersion)
	e.Entry("kind", "PGOVerification")
	e.Entry("program", v.Name)
	e.Entry("effect", v.Effect.String())
	e.Entry("reason", v.Reason)
	e.NonZero("hint", v.Hint)
	e.NonZero("notes", v.Notes)
	e.Key("build")
	e.BeginObject()
	e.NonZero("main", v.Build.Main)
	e.NonZero("go_version", v.Build.GoVersion)
	e.NonZero("build_id", v.Build.BuildID)
	e.NonZero("pgo", v.Build.PGO)
	e.NonZero("pgo_hash", v.Build.Hash)
	e.Entry("settings_recorded", v.Build.Recorded)
	e.EndObject()
	if v.Given != nil {
		writeGivenProfile(e, v)
	}
	e.EndObject()
}

func writeGivenProfile(e *encode.Encoder, v *pgo.Verification) {
	g := v.Given
	e.Key("profile")
	e.BeginObject()
	e.Entry("name", g.Name)
	e.Entry("sha256", g.SHA256)
	e.Entry("same", v.Match.String())
	e.Entry("assumed", g.Assumed)
	if g.Err != nil {
		e.Entry("error", g.Err.Error())
	}
	if m := g.Manifest; m != nil {
		e.Entry("manifest", v.Manifest)
		e.Entry("sources", len(m.Sources))
		e.NonZero("nodes", m.Nodes)
		e.NonZero("go_versions", m.GoVersions)
		e.NonZero("build_ids", m.BuildIDs)
	}
	e.EndObject()
}
