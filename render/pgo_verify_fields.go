package render

import "kitescope/profile/pgo"

// writeVerificationHead writes what stands before the calls.
func writeVerificationHead(e encoder, v *pgo.Verification) {
	s := v.Subject
	e.key("program")
	e.text(s.Name)
	e.key("effect")
	e.text(v.Effect.String())
	e.key("reason")
	e.text(v.Reason)
	if v.Hint != "" {
		e.key("hint")
		e.text(v.Hint)
	}
	writeNames(e, "notes", v.Notes)
	if s.Build != nil {
		writeBuild(e, s.Build)
	}
	if s.Given != nil {
		writeGivenProfile(e, v)
	}
	names, list := witnessesOf(v)
	e.key("witnesses")
	e.beginList()
	for i, w := range list {
		writeWitness(e, names[i], w)
	}
	e.endList()
	e.key("only_with_pgo")
	e.beginList()
	for i := range v.Own {
		b := &v.Own[i]
		e.beginObject()
		e.key("function")
		e.text(b.Function)
		e.key("lines_with_calls")
		e.integer(int64(b.Calls))
		e.key("other_lines")
		e.integer(int64(b.Lines))
		e.key("least_cost")
		e.integer(int64(b.Cost))
		e.endObject()
	}
	e.endList()
}

func writeBuild(e encoder, b *pgo.Build) {
	e.key("build")
	e.beginObject()
	for _, x := range []struct{ key, text string }{
		{"main", b.Main}, {"go_version", b.GoVersion}, {"build_id", b.BuildID}, {"pgo", b.PGO}, {"pgo_hash", b.Hash},
	} {
		if x.text != "" {
			e.key(x.key)
			e.text(x.text)
		}
	}
	e.key("settings_recorded")
	e.boolean(b.Recorded)
	e.key("stripped")
	e.boolean(b.Stripped)
	e.endObject()
}

func writeGivenProfile(e encoder, v *pgo.Verification) {
	g := v.Subject.Given
	e.key("profile")
	e.beginObject()
	e.key("name")
	e.text(g.Name)
	e.key("sha256")
	e.text(g.SHA256)
	e.key("same")
	e.text(v.Match.String())
	e.key("assumed")
	e.boolean(g.Assumed)
	if g.Err != nil {
		e.key("error")
		e.text(g.Err.Error())
	}
	if m := g.Manifest; m != nil {
		e.key("manifest")
		e.text(v.Manifest)
		e.key("sources")
		e.integer(int64(len(m.Sources)))
		writeNames(e, "nodes", m.Nodes)
		writeNames(e, "go_versions", m.GoVersions)
		writeNames(e, "build_ids", m.BuildIDs)
	}
	e.endObject()
}

func writeWitness(e encoder, name string, w *pgo.Witness) {
	e.beginObject()
	e.key("in")
	e.text(name)
	e.key("effect")
	e.text(w.Effect.String())
	e.key("reason")
	e.text(w.Reason)
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
		e.key(x.key)
		e.integer(int64(x.n))
	}
	e.key("percent")
	e.number(100 * w.Share)
	if len(w.Calls) > 0 {
		e.key("chance")
		e.exact(w.Chance)
	}
	e.endObject()
}
