package builds

import (
	"strings"

	"kitescope/internal/encode"
	"kitescope/profile/trial"
	"kitescope/render"
)

func writeTrial(e *encode.Encoder, r *trial.Report, o *render.Options) {
	e.BeginObject()
	e.Entry("apiVersion", render.APIVersion)
	e.Entry("kind", "PGOTrial")
	e.Entry("verdict", strings.ReplaceAll(r.Verdict().String(), " ", "_"))
	e.Entry("summary", TrialSentence(r))
	e.NonZero("cautions", r.Cautions)
	e.NonZero("primary", r.Primary)
	writeTrialPlan(e, r)
	e.Entry("module", r.Module.Path)
	e.Entry("package", r.Module.Package)
	e.Key("steps")
	e.BeginList()
	for i, text := range trialSteps(r) {
		e.BeginObject()
		e.Entry("step", text)
		e.Entry("seconds", r.Took[i+1])
		e.EndObject()
	}
	e.EndList()
	for _, b := range []struct {
		key string
		b   *trial.Build
	}{{"without_pgo", r.Plain}, {"with_pgo", r.Packed}} {
		e.Key(b.key)
		writeTrialBuild(e, b.b)
	}
	e.Key("pack")
	e.BeginObject()
	e.Entry("sha256", r.Pack.SHA256)
	writeCount(e, "bytes", int64(r.Pack.Size))
	writeCount(e, "calls", int64(r.Pack.Edges))
	e.EndObject()
	e.Key("judgement")
	newJudgementSheet(r.Judgement, &render.ReportOptions{Options: *o, Limit: 10}).Document(e)
	e.Key("comparison")
	newComparisonSheet(r.Comparison, &render.ReportOptions{Options: *o}).Document(e)
	e.Entry("effect", r.Effect().String())
	writeTrialRounds(e, r)
	writeTrialRuns(e, r.Runs)
	e.Entry("sessions", r.Sessions)
	e.EndObject()
}

func writeTrialPlan(e *encode.Encoder, r *trial.Report) {
	p := &r.Plan
	e.Key("plan")
	e.BeginObject()
	e.NonZero("build", p.Build)
	e.NonZero("load", p.Load)
	e.NonZero("profile_load", p.ProfileLoad)
	e.NonZero("serve", p.Serve)
	e.NonZero("ready", p.Ready)
	e.NonZero("pprof", p.PProf)
	e.NonZero("command", r.Repeat)
	e.NonZero("profiles", p.Profiles)
	e.Entry("pairs", p.Pairs)
	e.Entry("control_pairs", p.Control)
	e.Entry("warmup", p.Warmup)
	e.Entry("rounds", p.Rounds)
	e.Key("seed")
	e.ID(int64(r.Seed)) //nolint:gosec // all bits of it, as an id
	e.EndObject()
}

func writeTrialBuild(e *encode.Encoder, b *trial.Build) {
	e.BeginObject()
	writeCount(e, "bytes", b.Size)
	e.Entry("sha256", b.SHA256)
	e.Entry("build_seconds", b.Took)
	e.NonZero("go_version", b.GoVersion)
	e.NonZero("build_id", b.BuildID)
	e.NonZero("pgo", b.PGO)
	e.EndObject()
}

func writeTrialRounds(e *encode.Encoder, r *trial.Report) {
	e.Key("profiles")
	e.BeginList()
	for _, x := range r.Rounds {
		e.BeginObject()
		e.Entry("side", trialSide(x.Side))
		e.Entry("file", x.File)
		if x.Events >= 0 {
			e.Entry("samples", x.Events)
		}
		e.EndObject()
	}
	e.EndList()
}

// writeTrialRuns writes runs in order of execution. Their values are in runs.jsonl and in the comparison.
func writeTrialRuns(e *encode.Encoder, runs []trial.Measured) {
	e.Key("runs")
	e.BeginList()
	for i := range runs {
		r := &runs[i]
		e.BeginObject()
		e.Entry("run", r.Number)
		e.Entry("pair", r.Pair)
		e.Entry("control", r.Control)
		e.Entry("side", trialSide(r.Side))
		e.Entry("began", r.Began)
		e.Entry("wall_seconds", encode.Exact(r.Wall.Seconds()))
		if r.Failed != "" {
			e.Entry("failed", r.Failed)
			e.Entry("output", r.Output)
		}
		e.EndObject()
	}
	e.EndList()
}
