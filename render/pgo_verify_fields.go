package render

import (
	"kitescope/doc"
	"kitescope/profile/pgo"
)

// writeVerificationHead writes what stands before the calls.
func writeVerificationHead(e *doc.Encoder, v *pgo.Verification) {
	s := v.Subject
	e.Entry("program", s.Name)
	e.Entry("effect", v.Effect.String())
	e.Entry("reason", v.Reason)
	e.NonZero("hint", v.Hint)
	e.NonZero("notes", v.Notes)
	if s.Build != nil {
		writeBuild(e, s.Build)
	}
	if s.Given != nil {
		writeGivenProfile(e, v)
	}
	names, list := witnessesOf(v)
	e.Key("witnesses")
	e.BeginList()
	for i, w := range list {
		writeWitness(e, names[i], w)
	}
	e.EndList()
	e.Key("only_with_pgo")
	e.BeginList()
	for i := range v.Own {
		b := &v.Own[i]
		e.BeginObject()
		e.Entry("function", b.Function)
		e.Entry("lines_with_calls", b.Calls)
		e.Entry("other_lines", b.Lines)
		e.Entry("least_cost", b.Cost)
		e.EndObject()
	}
	e.EndList()
}

func writeBuild(e *doc.Encoder, b *pgo.Build) {
	e.Key("build")
	e.BeginObject()
	for _, x := range []struct{ key, text string }{
		{"main", b.Main}, {"go_version", b.GoVersion}, {"build_id", b.BuildID}, {"pgo", b.PGO}, {"pgo_hash", b.Hash},
	} {
		if x.text != "" {
			e.Entry(x.key, x.text)
		}
	}
	e.Entry("settings_recorded", b.Recorded)
	e.Entry("stripped", b.Stripped)
	e.EndObject()
}

func writeGivenProfile(e *doc.Encoder, v *pgo.Verification) {
	g := v.Subject.Given
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

func writeWitness(e *doc.Encoder, name string, w *pgo.Witness) {
	e.BeginObject()
	e.Entry("in", name)
	e.Entry("effect", w.Effect.String())
	e.Entry("reason", w.Reason)
	for _, x := range []struct {
		key string
		n   int
	}{
		{"calls", len(w.Calls)},
		{"inlined", w.Inlined},
		{"unseen", w.Unseen},
		{"control_calls", w.Control.Of},
		{"control_inlined", w.Control.Inlined},
		{"usual_calls", w.Usual.Of},
		{"usual_inlined", w.Usual.Inlined},
	} {
		e.Entry(x.key, x.n)
	}
	e.Entry("percent", 100*w.Share)
	if len(w.Calls) > 0 {
		e.Entry("chance", doc.Exact(w.Chance))
	}
	e.EndObject()
}
