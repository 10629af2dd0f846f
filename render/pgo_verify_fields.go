package render

import (
	"kitescope/doc"
	"kitescope/profile/pgo"
)

// writeVerificationHead writes what stands before the calls.
func writeVerificationHead(e *doc.Encoder, v *pgo.Verification) {
	s := v.Subject
	e.Key("program")
	e.Text(s.Name)
	e.Key("effect")
	e.Text(v.Effect.String())
	e.Key("reason")
	e.Text(v.Reason)
	if v.Hint != "" {
		e.Key("hint")
		e.Text(v.Hint)
	}
	writeNames(e, "notes", v.Notes)
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
		e.Key("function")
		e.Text(b.Function)
		e.Key("lines_with_calls")
		e.Int(int64(b.Calls))
		e.Key("other_lines")
		e.Int(int64(b.Lines))
		e.Key("least_cost")
		e.Int(int64(b.Cost))
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
			e.Key(x.key)
			e.Text(x.text)
		}
	}
	e.Key("settings_recorded")
	e.Bool(b.Recorded)
	e.Key("stripped")
	e.Bool(b.Stripped)
	e.EndObject()
}

func writeGivenProfile(e *doc.Encoder, v *pgo.Verification) {
	g := v.Subject.Given
	e.Key("profile")
	e.BeginObject()
	e.Key("name")
	e.Text(g.Name)
	e.Key("sha256")
	e.Text(g.SHA256)
	e.Key("same")
	e.Text(v.Match.String())
	e.Key("assumed")
	e.Bool(g.Assumed)
	if g.Err != nil {
		e.Key("error")
		e.Text(g.Err.Error())
	}
	if m := g.Manifest; m != nil {
		e.Key("manifest")
		e.Text(v.Manifest)
		e.Key("sources")
		e.Int(int64(len(m.Sources)))
		writeNames(e, "nodes", m.Nodes)
		writeNames(e, "go_versions", m.GoVersions)
		writeNames(e, "build_ids", m.BuildIDs)
	}
	e.EndObject()
}

func writeWitness(e *doc.Encoder, name string, w *pgo.Witness) {
	e.BeginObject()
	e.Key("in")
	e.Text(name)
	e.Key("effect")
	e.Text(w.Effect.String())
	e.Key("reason")
	e.Text(w.Reason)
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
		e.Key(x.key)
		e.Int(int64(x.n))
	}
	e.Key("percent")
	e.Number(100 * w.Share)
	if len(w.Calls) > 0 {
		e.Key("chance")
		e.Exact(w.Chance)
	}
	e.EndObject()
}
