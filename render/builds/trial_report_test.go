package builds

import (
	"io"
	"strings"
	"testing"
	"time"

	"kitescope/profile/bench"
	"kitescope/profile/trial"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// trials returns a report of each kind.
func trials() map[string]*trial.Report {
	began := time.Date(2026, 11, 20, 19, 10, 0, 0, time.UTC)
	machine := trial.Machine{
		OS: "linux", Arch: "amd64", CPU: "Some CPU @ 2.40GHz", Cores: 4,
		Load: []float64{0.31, 0.2, 0.15},
	}
	measured := func(n, pair int, side, failed string) trial.Measured {
		return trial.Measured{
			Number: n, Pair: pair, Side: side, Began: began.Add(time.Duration(n) * time.Second),
			Wall:   1234 * time.Millisecond,
			Failed: failed, Output: "runs/000" + side + ".out",
		}
	}
	full := &trial.Report{
		Plan: trial.Plan{
			Load:        "{bin} --token '<redacted>' '" + rendertest.HostileName + "' | cat `id`",
			ProfileLoad: "{bin} -cpuprofile {profile}",
			Pairs:       24, Control: 24, Warmup: 1, Rounds: 20, Build: "go build -o {bin} {pgo} .", Serve: "{bin} -a",
			Ready: "127.0.0.1:80", PProf: "http://127.0.0.1:80",
		},
		Seed: 1 << 63, Folder: "/home/me/trial", Repeat: "kitescope pgo trial --load='{bin} ```'",
		Sessions: []trial.Session{
			{Began: began, Ended: began.Add(time.Minute), Machine: machine, LoadAfter: []float64{1.5, 0.9, 0.4}},
		},
		Took: [9]time.Duration{
			0, 50 * time.Millisecond, 12 * time.Second, time.Minute, 0, 0, 31 * time.Second, 55 * time.Second,
			20 * time.Second,
		},
		Module: trial.Module{
			Path: "example.com/x", Package: "example.com/x/cmd/" + rendertest.HostileName, GoVersion: "go1.26.8",
			HasDefaultPGO: true,
		},
		Plain: &trial.Build{
			Side: "a", GoVersion: "go1.26.8", BuildID: "a/b_c/d", SHA256: strings.Repeat("0a", 32), Size: 2918588,
			Took: 12 * time.Second,
		},
		Packed: &trial.Build{
			Side: "b", GoVersion: "go1.26.8", PGO: "/home/me/trial/default.pgo", SHA256: strings.Repeat("0b", 32),
			Size: 3018506, Took: 31 * time.Second,
		},
		Rounds: []trial.Round{
			{Side: "a", File: "profiles/profile-01-a.pb.gz", Events: 1200},
			{Side: "a", File: "profiles/profile-02-a.pb.gz", Events: 1100},
		},
		Judgement: recommendedJudgement(), Pack: &trial.Pack{SHA256: strings.Repeat("0c", 32), Size: 45678, Edges: 911},
		Runs: []trial.Measured{
			measured(1, 1, "b", ""), measured(2, 1, "a", ""),
			measured(3, 2, "a", "exit status 1: "+rendertest.HostileName), measured(4, 2, "b", ""),
		},
		Comparison: pairedComparison(),
		Primary:    []string{"search k=10: QPS", "max RSS"},
		Cautions:   []string{"2 runs failed", rendertest.HostileName},
	}
	quiet := &trial.Report{
		Plan: trial.Plan{Load: "{bin}", Pairs: 24, Warmup: 2, Profiles: []string{"/p/cpu.pb.gz"}}, Seed: 7,
		Folder: `C:\trial`,
		Repeat: "kitescope pgo trial --bench=.", Sessions: full.Sessions[:1],
		Module: trial.Module{Path: "example.com/codec", Package: "./json"},
		Plain:  full.Plain, Packed: &trial.Build{Side: "b", Size: 2900000}, Judgement: littleJudgement(),
		Pack:       full.Pack,
		Comparison: goComparison(),
	}
	for i := range quiet.Comparison.Lines {
		quiet.Comparison.Lines[i].Verdict = bench.NoDifference
		quiet.Primary = append(quiet.Primary, quiet.Comparison.Lines[i].Metric.String())
	}
	return map[string]*trial.Report{"full": full, "quiet": quiet}
}

func TestGoldenTrial(t *testing.T) {
	copied := func(line string) bool { return strings.Contains(line, "again: ") }
	for name, r := range trials() {
		rendertest.Report(t, "trial/"+name, TrialFormats().Names(), map[string]rendertest.Variant{
			"80-ascii": {Width: 80, ASCII: true}, "markdown": {}, "json": {}, "html": {},
		}, copied, func(w io.Writer, l rendertest.Variant) error {
			return WriteTrial(w, r, rendertest.Format(t, TrialFormats(), l.Word), render.Options{
				Width: l.Width, ASCII: l.ASCII,
			})
		})
	}
}

// TestTrialSentence checks that the sentence only claims significant changes.
func TestTrialSentence(t *testing.T) {
	line := func(name string, v bench.Verdict, ratio float64) bench.Line {
		return bench.Line{
			Metric: bench.Metric{Name: name, Unit: "s"}, Verdict: v, Ratio: ratio, Low: ratio - 0.02,
			High: ratio + 0.02,
		}
	}
	for _, x := range []struct {
		lines   []bench.Line
		want    string
		verdict bench.Verdict
	}{
		{nil, "Nothing was measured on both sides.", bench.TooFew},
		{[]bench.Line{line("cpu", bench.TooFew, 0.5)}, "There are too few runs to show anything.", bench.TooFew},
		{
			[]bench.Line{line("cpu", bench.NoDifference, 0.99), line("wall", bench.NoDifference, 1)},
			"No difference is shown.", bench.NoDifference,
		},
		{
			[]bench.Line{line("cpu", bench.Better, 0.9), line("wall", bench.NoDifference, 0.9)},
			"With PGO cpu is 10.0% lower (-12.0 to -8.0%) (better); no difference is shown in 1 of 2 primary metrics.",
			bench.Better,
		},
		{
			[]bench.Line{line("cpu", bench.Better, 0.9), line("wall", bench.Worse, 1.078)},
			"With PGO cpu is 10.0% lower (-12.0 to -8.0%) (better); wall is 7.8% higher (+5.8 to +9.8%) (worse).",
			bench.Worse,
		},
	} {
		r := &trial.Report{Comparison: &bench.Comparison{Lines: x.lines}}
		for i := range x.lines {
			r.Primary = append(r.Primary, x.lines[i].Metric.String())
		}
		if got := TrialSentence(r); got != x.want {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
		if got := r.Verdict(); got != x.verdict {
			t.Errorf("%s: %v, want %v", x.want, got, x.verdict)
		}
	}
}
