package builds

import (
	"kitescope/internal/encode"
	"kitescope/profile/pgo"
)

// writeVerificationHead writes what stands before the calls.
func writeVerificationHead(e *encode.Encoder, v *pgo.Verification) {
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
	e.Entry("only_with_pgo", v.Own)
}

func writeBuild(e *encode.Encoder, b *pgo.Build) {
	e.Key("build")
	e.BeginObject()
	e.NonZero("main", b.Main)
	e.NonZero("go_version", b.GoVersion)
	e.NonZero("build_id", b.BuildID)
	e.NonZero("pgo", b.PGO)
	e.NonZero("pgo_hash", b.Hash)
	e.Entry("settings_recorded", b.Recorded)
	e.Entry("stripped", b.Stripped)
	e.EndObject()
}

func writeGivenProfile(e *encode.Encoder, v *pgo.Verification) {
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

func writeWitness(e *encode.Encoder, name string, w *pgo.Witness) {
	e.BeginObject()
	e.Entry("in", name)
	e.Entry("effect", w.Effect.String())
	e.Entry("reason", w.Reason)
	e.Entry("calls", len(w.Calls))
	e.Entry("inlined", w.Inlined)
	e.Entry("unseen", w.Unseen)
	e.Entry("control_calls", w.Control.Of)
	e.Entry("control_inlined", w.Control.Inlined)
	e.Entry("usual_calls", w.Usual.Of)
	e.Entry("usual_inlined", w.Usual.Inlined)
	e.Entry("percent", 100*w.Share)
	if len(w.Calls) > 0 {
		e.Entry("chance", encode.Exact(w.Chance))
	}
	e.EndObject()
}
