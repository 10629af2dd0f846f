package builds

import (
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/profile/trial"
	"kitescope/render"
)

// effectText says whether the program was built with the profile.
func effectText(r *trial.Report) string {
	text := "The build " + r.Effect().String()
	if r.Packed.PGO != "" {
		return text + ": Go recorded " + r.Packed.PGO + "."
	}
	return text + ": Go records no profile of tests."
}

func (m *trialReport) programs() {
	m.Line("", "## The programs", "", "| | without PGO | with PGO |", "|---|---|---|")
	row := func(name string, of func(b *trial.Build) string) {
		m.Line("| " + name + " | " + codeSpan(of(m.r.Plain)) + " | " + codeSpan(of(m.r.Packed)) + " |")
	}
	row("size", func(b *trial.Build) string { return strconv.FormatInt(b.Size, 10) + " B" })
	row("build time", func(b *trial.Build) string { return secondsText(b.Took) })
	row("Go", func(b *trial.Build) string { return b.GoVersion })
	row("-pgo, as Go recorded it", func(b *trial.Build) string {
		if b.PGO == "" {
			return "none"
		}
		return b.PGO
	})
	row("build id", func(b *trial.Build) string { return render.OrUnknown(b.BuildID) })
	row("sha256", func(b *trial.Build) string { return b.SHA256 })
	m.Line("", "Build times are single builds that may use the build cache: not a measurement.")
}

// judgement shows what the profile is, and not all that pgo judge does: this is about what came of it.
func (m *trialReport) judgement() {
	j := ShortJudgement(m.r.Judgement)
	m.Line("", "## The profile", "", render.MarkdownText(judgedText(j)))
	if j.Verdict != pgo.Unfit || reachKnown(&j.Reach) {
		m.Line("", render.MarkdownText(BoundText(&j.Reach))+".")
	}
	for _, list := range [][]pgo.Refusal{j.Refusals, j.Cautions} {
		for i := range list {
			if list[i].Message != j.Reason {
				m.Line("", render.MarkdownText(list[i].Message)+".")
			}
		}
	}
	if figuresKnown(j) {
		m.Tables([]render.Part{figuresPart(j, &render.ReportOptions{Options: *m.o})})
	}
	if len(m.r.Rounds) > 0 {
		m.Line("", "More: `kitescope pgo judge profiles/profile-*.pb.gz`.")
	}
}

// judgedText is the verdict and why. That only a trial tells what it gains need not be said in one.
func judgedText(j *pgo.Judgement) string {
	reason, _, _ := strings.Cut(j.Reason, "; whether it gains")
	text := j.Verdict.String()
	if reason != "" {
		text += ": " + reason
	}
	return text + "."
}

// control shows the comparison of the program with its own copy.
func (m *trialReport) control() {
	c := m.r.Comparison.Control
	if c == nil {
		return
	}
	m.Line("", "## The control", "", "The program without PGO against a copy of itself, in pairs between the others: any difference here is noise, not PGO.")
	m.sheet(trialComparison(c, m.o))
}

func (m *trialReport) machine() {
	m.Line("", "## The machine", "")
	for i := range m.r.Sessions {
		s := &m.r.Sessions[i]
		m.Line("- from " + s.Began.Format("2006-01-02 15:04:05") + " to " + sessionEnd(s) + " UTC")
		m.Line("- CPU: " + render.MarkdownText(render.OrUnknown(s.Machine.CPU)) + ", " + words.Plural(s.Machine.Cores, "core") + governorText(s.Machine.Governor))
		m.Line("- system: " + render.MarkdownText(s.Machine.OS+" "+s.Machine.Kernel+" "+s.Machine.Arch))
		m.Line("- load average: " + loadAverageText(s.Machine.Load) + " before, " + loadAverageText(s.LoadAfter) + " after")
		var settings []string
		for _, name := range []string{"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT"} {
			if v := s.Machine.Go[name]; v != "" {
				settings = append(settings, codeSpan(name+"="+v))
			}
		}
		if len(settings) > 0 {
			m.Line("- Go: " + strings.Join(settings, ", "))
		}
		m.Line("")
	}
}

func sessionEnd(s *trial.Session) string {
	if s.Ended.IsZero() {
		return words.UnknownMark + " (it did not end well)"
	}
	return s.Ended.Format("2006-01-02 15:04:05")
}

func governorText(governor string) string {
	if governor == "" {
		return ""
	}
	return ", governor " + render.MarkdownText(governor)
}

// loadAverageText is a load average, "?" if it is unknown.
func loadAverageText(load []float64) string {
	if len(load) == 0 {
		return words.UnknownMark
	}
	parts := make([]string, len(load))
	for i, x := range load {
		parts[i] = strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strings.Join(parts, " ")
}

func (m *trialReport) repeat() {
	p := &m.r.Plan
	fence := "```" // longer than any run of marks in the command
	for strings.Contains(m.r.Repeat, fence) {
		fence += "`"
	}
	m.Line("## Again", "", fence)
	m.Line(render.Harmless(m.r.Repeat), fence, "")
	m.Line("The order of runs is that of seed " + strconv.FormatUint(m.r.Seed, 10) + " (`--seed`); another folder (`-O`) makes another trial. What was run:")
	m.Line("")
	for _, x := range []struct{ name, line string }{
		{"build", p.Build},
		{"load", p.Load},
		{"load for profiles", p.ProfileLoad},
		{"service", p.Serve},
		{"ready at", p.Ready},
		{"profiles at", p.PProf},
		{"benchmarks", p.Bench},
		{"benchtime", p.BenchTime},
	} {
		if x.line != "" {
			m.Line("- " + x.name + ": " + codeSpan(x.line))
		}
	}
	m.Line("", "`runs.jsonl` holds every run: `kitescope compare runs.jsonl`.")
}

// codeSpan is text as it is, in Markdown, in a table too.
func codeSpan(s string) string {
	s = render.Harmless(s)
	if strings.ContainsAny(s, "`|\n\r") {
		return render.MarkdownText(s)
	}
	return "`" + s + "`"
}
