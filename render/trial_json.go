package render

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/profile/pgo"
	"kitescope/profile/trial"
)

func writeTrialJSON(w io.Writer, r *trial.Report, o *Options) error {
	e := newJSON(w, everything)
	writeTrial(e, r, o)
	return e.flush()
}

func writeTrialYAML(w io.Writer, r *trial.Report, o *Options) error {
	e := newYAML(w)
	writeTrial(e, r, o)
	return e.flush()
}

func writeTrial(e encoder, r *trial.Report, o *Options) {
	e.beginObject()
	writeText(e, "apiVersion", APIVersion)
	writeText(e, "kind", "PGOTrial")
	writeText(e, "verdict", strings.ReplaceAll(r.Verdict().String(), " ", "_"))
	writeText(e, "summary", TrialSentence(r))
	writeNames(e, "cautions", r.Cautions)
	writeNames(e, "primary", r.Primary)
	writeTrialPlan(e, r)
	writeText(e, "module", r.Module.Path)
	writeText(e, "package", r.Module.Package)
	if r.Written != "" {
		writeText(e, "written", r.Written)
	}
	if r.NotWritten != "" {
		writeText(e, "not_written", r.NotWritten)
	}
	e.key("steps")
	e.beginList()
	for i, text := range trialSteps(r) {
		e.beginObject()
		writeText(e, "step", text)
		e.key("seconds")
		e.seconds(int64(r.Took[i+1]))
		e.endObject()
	}
	e.endList()
	for _, b := range []struct {
		key string
		b   *trial.Build
	}{{"without_pgo", r.Plain}, {"with_pgo", r.Packed}} {
		e.key(b.key)
		writeTrialBuild(e, b.b)
	}
	e.key("pack")
	e.beginObject()
	writeText(e, "sha256", r.Pack.SHA256)
	writeCount(e, "bytes", int64(r.Pack.Size))
	writeCount(e, "calls", int64(r.Pack.Edges))
	e.endObject()
	e.key("judgement")
	newJudgementSheet(r.Judgement, &ReportOptions{Options: *o, Limit: 10}).document(e)
	e.key("comparison")
	newComparisonSheet(r.Comparison, false, &ReportOptions{Options: *o}).document(e)
	writeTrialWitnesses(e, r)
	writeTrialRounds(e, r)
	writeTrialRuns(e, "runs", r.Runs)
	writeTrialRuns(e, "discarded", r.Discarded)
	writeTrialSessions(e, r)
	e.endObject()
}

func writeTrialPlan(e encoder, r *trial.Report) {
	p := &r.Plan
	e.key("plan")
	e.beginObject()
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
			writeText(e, x.key, x.text)
		}
	}
	writeNames(e, "profiles", p.Profiles)
	for _, x := range []struct {
		key string
		n   int
	}{{"pairs", p.Pairs}, {"control_pairs", p.Control}, {"warmup", p.Warmup}, {"rounds", p.Rounds}} {
		e.key(x.key)
		e.integer(int64(x.n))
	}
	e.key("seed")
	e.id(int64(r.Seed)) //nolint:gosec // all bits of it, as an id
	e.endObject()
}

func writeTrialBuild(e encoder, b *trial.Build) {
	e.beginObject()
	writeCount(e, "bytes", b.Size)
	writeText(e, "sha256", b.SHA256)
	e.key("build_seconds")
	e.seconds(int64(b.Took))
	for _, x := range []struct{ key, text string }{{"go_version", b.GoVersion}, {"build_id", b.BuildID}, {"pgo", b.PGO}} {
		if x.text != "" {
			writeText(e, x.key, x.text)
		}
	}
	e.endObject()
}

func writeTrialWitnesses(e encoder, r *trial.Report) {
	writeText(e, "effect", r.Effect().String())
	e.key("witnesses")
	e.beginList()
	for _, x := range []struct {
		in string
		w  *pgo.Witness
	}{{"binary", r.BinaryWitness}, {"profile", r.Witness}, {"profile of the program without PGO", r.WitnessControl}} {
		if x.w != nil {
			writeWitness(e, x.in, x.w)
		}
	}
	e.endList()
	for _, x := range []struct{ key, text string }{{"no_binary_witness", r.NoBinaryWitness}, {"no_profile_witness", r.NoWitness}} {
		if x.text != "" {
			writeText(e, x.key, x.text)
		}
	}
}

func writeTrialRounds(e encoder, r *trial.Report) {
	e.key("profiles")
	e.beginList()
	for _, x := range r.Rounds {
		e.beginObject()
		writeText(e, "side", trialSide(x.Side))
		writeText(e, "file", x.File)
		if x.Events >= 0 {
			e.key("samples")
			e.integer(x.Events)
		}
		e.key("after_measuring")
		e.boolean(x.After)
		e.endObject()
	}
	e.endList()
}

// writeTrialRuns writes runs in the order in which they were made; their values are in runs.jsonl and in the comparison.
func writeTrialRuns(e encoder, key string, runs []trial.Measured) {
	e.key(key)
	e.beginList()
	for i := range runs {
		r := &runs[i]
		e.beginObject()
		e.key("run")
		e.integer(int64(r.Number))
		e.key("pair")
		e.integer(int64(r.Pair))
		e.key("control")
		e.boolean(r.Control)
		writeText(e, "side", trialSide(r.Side))
		e.key("began")
		e.time(r.Began.UnixNano())
		e.key("wall_seconds")
		e.exact(r.Wall.Seconds())
		if r.Left {
			e.key("left_processes")
			e.boolean(true)
		}
		if r.Failed != "" {
			writeText(e, "failed", r.Failed)
			writeText(e, "output", r.Output)
		}
		e.endObject()
	}
	e.endList()
}

func writeTrialSessions(e encoder, r *trial.Report) {
	e.key("sessions")
	e.beginList()
	for i := range r.Sessions {
		s := &r.Sessions[i]
		e.beginObject()
		for _, x := range []struct {
			key string
			at  time.Time
		}{{"began", s.Began}, {"ended", s.Ended}} {
			if !x.at.IsZero() {
				e.key(x.key)
				e.time(x.at.UnixNano())
			}
		}
		for _, x := range []struct{ key, text string }{
			{"cpu", s.Machine.CPU}, {"os", s.Machine.OS}, {"arch", s.Machine.Arch}, {"kernel", s.Machine.Kernel}, {"governor", s.Machine.Governor},
		} {
			if x.text != "" {
				writeText(e, x.key, x.text)
			}
		}
		if len(s.Machine.Go) > 0 {
			e.key("go")
			e.beginObject()
			for _, name := range slices.Sorted(maps.Keys(s.Machine.Go)) {
				writeText(e, name, s.Machine.Go[name])
			}
			e.endObject()
		}
		e.key("cores")
		e.integer(int64(s.Machine.Cores))
		for _, x := range []struct {
			key  string
			load []float64
		}{{"load_average_before", s.Machine.Load}, {"load_average_after", s.LoadAfter}} {
			if len(x.load) == 0 {
				continue
			}
			e.key(x.key)
			e.beginList()
			for _, v := range x.load {
				e.number(v)
			}
			e.endList()
		}
		e.endObject()
	}
	e.endList()
}
