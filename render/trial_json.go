package render

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/doc"
	"kitescope/profile/pgo"
	"kitescope/profile/trial"
)

func writeTrialJSON(w io.Writer, r *trial.Report, o *Options) error {
	e := doc.JSON(w, everything)
	writeTrial(e, r, o)
	return e.Flush()
}

func writeTrialYAML(w io.Writer, r *trial.Report, o *Options) error {
	e := doc.YAML(w)
	writeTrial(e, r, o)
	return e.Flush()
}

func writeTrial(e *doc.Encoder, r *trial.Report, o *Options) {
	e.BeginObject()
	e.Entry("apiVersion", APIVersion)
	e.Entry("kind", "PGOTrial")
	e.Entry("verdict", strings.ReplaceAll(r.Verdict().String(), " ", "_"))
	e.Entry("summary", TrialSentence(r))
	e.NonZero("cautions", r.Cautions)
	e.NonZero("primary", r.Primary)
	writeTrialPlan(e, r)
	e.Entry("module", r.Module.Path)
	e.Entry("package", r.Module.Package)
	e.NonZero("written", r.Written)
	e.NonZero("not_written", r.NotWritten)
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
	newJudgementSheet(r.Judgement, &ReportOptions{Options: *o, Limit: 10}).document(e)
	e.Key("comparison")
	newComparisonSheet(r.Comparison, false, &ReportOptions{Options: *o}).document(e)
	writeTrialWitnesses(e, r)
	writeTrialRounds(e, r)
	writeTrialRuns(e, "runs", r.Runs)
	writeTrialRuns(e, "discarded", r.Discarded)
	writeTrialSessions(e, r)
	e.EndObject()
}

func writeTrialPlan(e *doc.Encoder, r *trial.Report) {
	p := &r.Plan
	e.Key("plan")
	e.BeginObject()
	for _, x := range []struct{ key, text string }{
		{"build", p.Build},
		{"load", p.Load},
		{"profile_load", p.ProfileLoad},
		{"serve", p.Serve},
		{"ready", p.Ready},
		{"pprof", p.PProf},
		{"bench", p.Bench},
		{"benchtime", p.BenchTime},
		{"command", r.Repeat},
	} {
		if x.text != "" {
			e.Entry(x.key, x.text)
		}
	}
	e.NonZero("profiles", p.Profiles)
	for _, x := range []struct {
		key string
		n   int
	}{{"pairs", p.Pairs}, {"control_pairs", p.Control}, {"warmup", p.Warmup}, {"rounds", p.Rounds}} {
		e.Entry(x.key, x.n)
	}
	e.Key("seed")
	e.ID(int64(r.Seed)) //nolint:gosec // all bits of it, as an id
	e.EndObject()
}

func writeTrialBuild(e *doc.Encoder, b *trial.Build) {
	e.BeginObject()
	writeCount(e, "bytes", b.Size)
	e.Entry("sha256", b.SHA256)
	e.Entry("build_seconds", b.Took)
	for _, x := range []struct{ key, text string }{{"go_version", b.GoVersion}, {"build_id", b.BuildID}, {"pgo", b.PGO}} {
		if x.text != "" {
			e.Entry(x.key, x.text)
		}
	}
	e.EndObject()
}

func writeTrialWitnesses(e *doc.Encoder, r *trial.Report) {
	e.Entry("effect", r.Effect().String())
	e.Key("witnesses")
	e.BeginList()
	for _, x := range []struct {
		in string
		w  *pgo.Witness
	}{{"binary", r.BinaryWitness}, {"profile", r.Witness}, {"profile of the program without PGO", r.WitnessControl}} {
		if x.w != nil {
			writeWitness(e, x.in, x.w)
		}
	}
	e.EndList()
	for _, x := range []struct{ key, text string }{{"no_binary_witness", r.NoBinaryWitness}, {"no_profile_witness", r.NoWitness}} {
		if x.text != "" {
			e.Entry(x.key, x.text)
		}
	}
}

func writeTrialRounds(e *doc.Encoder, r *trial.Report) {
	e.Key("profiles")
	e.BeginList()
	for _, x := range r.Rounds {
		e.BeginObject()
		e.Entry("side", trialSide(x.Side))
		e.Entry("file", x.File)
		if x.Events >= 0 {
			e.Entry("samples", x.Events)
		}
		e.Entry("after_measuring", x.After)
		e.EndObject()
	}
	e.EndList()
}

// writeTrialRuns writes runs in the order in which they were made; their values are in runs.jsonl and in the comparison.
func writeTrialRuns(e *doc.Encoder, key string, runs []trial.Measured) {
	e.Key(key)
	e.BeginList()
	for i := range runs {
		r := &runs[i]
		e.BeginObject()
		e.Entry("run", r.Number)
		e.Entry("pair", r.Pair)
		e.Entry("control", r.Control)
		e.Entry("side", trialSide(r.Side))
		e.Entry("began", r.Began)
		e.Entry("wall_seconds", doc.Exact(r.Wall.Seconds()))
		if r.Left {
			e.Entry("left_processes", true)
		}
		if r.Failed != "" {
			e.Entry("failed", r.Failed)
			e.Entry("output", r.Output)
		}
		e.EndObject()
	}
	e.EndList()
}

func writeTrialSessions(e *doc.Encoder, r *trial.Report) {
	e.Key("sessions")
	e.BeginList()
	for i := range r.Sessions {
		s := &r.Sessions[i]
		e.BeginObject()
		for _, x := range []struct {
			key string
			at  time.Time
		}{{"began", s.Began}, {"ended", s.Ended}} {
			if !x.at.IsZero() {
				e.Entry(x.key, x.at)
			}
		}
		for _, x := range []struct{ key, text string }{
			{"cpu", s.Machine.CPU}, {"os", s.Machine.OS}, {"arch", s.Machine.Arch}, {"kernel", s.Machine.Kernel}, {"governor", s.Machine.Governor},
		} {
			if x.text != "" {
				e.Entry(x.key, x.text)
			}
		}
		if len(s.Machine.Go) > 0 {
			e.Key("go")
			e.BeginObject()
			for _, name := range slices.Sorted(maps.Keys(s.Machine.Go)) {
				e.Entry(name, s.Machine.Go[name])
			}
			e.EndObject()
		}
		e.Entry("cores", s.Machine.Cores)
		for _, x := range []struct {
			key  string
			load []float64
		}{{"load_average_before", s.Machine.Load}, {"load_average_after", s.LoadAfter}} {
			if len(x.load) == 0 {
				continue
			}
			e.Key(x.key)
			e.BeginList()
			for _, v := range x.load {
				e.Number(v)
			}
			e.EndList()
		}
		e.EndObject()
	}
	e.EndList()
}
