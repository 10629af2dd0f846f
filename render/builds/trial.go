package builds

import (
	"io"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/profile/trial"
	"kitescope/render"
)

// TrialFormats returns the formats of the report of a PGO trial.
func TrialFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table":    "the result, and the comparison (default)",
		"wide":     "the same with p-values, directions and the control",
		"json":     "the whole report as one JSON object, as report.json (docs/reference/json.md)",
		"jsonl":    "one JSON object per line and metric",
		"name":     "",
		"markdown": "the report, as report.md",
		"html":     "the report with its pictures, as report.html",
	})
}

// WriteTrial writes the result of a PGO trial.
func WriteTrial(w io.Writer, r *trial.Report, f render.Format, o render.Options) error {
	s := trialSheet(r, &render.ReportOptions{Options: o})
	s.WriteAll, s.Open = func(e *encode.Encoder) { writeTrial(e, r, &o) }, render.Everything
	if f.Name() == "html" {
		figures, err := comparisonFigures(r.Comparison)
		if err != nil {
			return err
		}
		s.Figures = figures
	}
	return s.Write(w, f)
}

// trialSheet returns the sheet of the comparison with the programs and the steps of the trial.
func trialSheet(r *trial.Report, o *render.ReportOptions) *render.Sheet {
	s := newComparisonSheet(r.Comparison, o)
	mark, role := comparisonVerdict(r.Verdict(), o.ASCII)
	s.Head = []render.Line{
		{Role: render.RoleTitle, Text: "PGO trial of " + render.Harmless(r.Module.Package)},
		{Role: role, Text: mark + " " + TrialSentence(r)},
		{Text: effectText(r)},
	}
	for _, c := range r.Cautions {
		s.Head = append(s.Head, render.Line{Role: render.RoleWarn, Text: "caution: " + render.Harmless(c)})
	}
	s.Head = append(s.Head, render.Line{Text: testText(r.Comparison)})
	if text, _ := controlText(r.Comparison); text != "" {
		s.Head = append(s.Head, render.Line{Text: text})
	}
	s.Foot = append(s.Foot, render.Line{})
	for i, text := range trialSteps(r) {
		took := ""
		if d := r.Took[i+1]; d >= 100*time.Millisecond {
			took = " (" + words.Age(d.Round(time.Second/10)) + ")"
		}
		s.Foot = append(s.Foot, render.Line{Text: strconv.Itoa(i+1) + ". " + render.Harmless(text) + took})
	}
	s.Foot = append(s.Foot, failedRuns(r)...)
	s.Foot = append(s.Foot,
		render.Line{
			Role: render.RoleDim,
			Text: render.Harmless("again: " + r.Repeat + " --seed " + strconv.FormatUint(r.Seed, 10)),
		},
		render.Line{
			Role: render.RoleDim,
			Text: render.Harmless("report: " + r.Folder + string(separator(r.Folder)) + "report.md"),
		})
	s.Parts = append(s.Parts, programsPart(r))
	return s
}

// programsPart compares both programs side by side.
func programsPart(r *trial.Report) render.Part {
	rows := []struct {
		name string
		text func(b *trial.Build) string
	}{
		{"size", func(b *trial.Build) string { return strconv.FormatInt(b.Size, 10) + " B" }},
		{"Go", func(b *trial.Build) string { return render.OrUnknown(b.GoVersion) }},
		{"-pgo", func(b *trial.Build) string { return render.OrNone(b.PGO) }},
		{"sha256", func(b *trial.Build) string { return hashText(b.SHA256) }},
	}
	column := func(title string, text func(i int) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Shorten: true}, Shown: text}
	}
	return render.Part{List: render.PositionGrid(len(rows), []table.ColumnOf[int]{
		column("PROGRAM", func(i int) string { return rows[i].name }),
		column("WITHOUT PGO", func(i int) string { return rows[i].text(r.Plain) }),
		column("WITH PGO", func(i int) string { return rows[i].text(r.Packed) }),
	})}
}

// failedRuns returns lines with up to 20 failed runs and the files with their output.
func failedRuns(r *trial.Report) (lines []render.Line) {
	const most = 20
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Failed != "" && len(lines) < most {
			lines = append(lines, render.Line{Role: render.RoleWarn, Text: render.Harmless(
				"run " + strconv.Itoa(run.Number) + ", " + trialSide(run.Side) + ", failed: " + run.Failed + " (" +
					run.Output + ")")})
		}
	}
	return lines
}

// TrialSentence returns the result of a trial in one sentence, such as "With PGO CPU time is 7.3% lower (-9.0 to
// -5.1%) (better).", without a line break.
func TrialSentence(r *trial.Report) string {
	lines := r.PrimaryLines()
	var parts []string
	quiet := 0
	for _, l := range lines {
		if !l.Verdict.IsChange() {
			quiet++
			continue
		}
		parts = append(parts, metricChangeWords(l))
	}
	const most = 3
	if len(parts) > most {
		parts = append(parts[:most], "and more: "+words.Plural(len(parts), "metric")+" in total")
	}
	switch {
	case len(lines) == 0:
		return "Nothing was measured on both sides."
	case len(parts) > 0 && quiet > 0:
		return "With PGO " + strings.Join(parts, "; ") + "; no difference is shown in " + strconv.Itoa(quiet) + " of " +
			words.Plural(len(lines), "primary metric") + "."
	case len(parts) > 0:
		return "With PGO " + strings.Join(parts, "; ") + "."
	case r.Verdict() == bench.TooFew:
		return "There are too few runs to show anything."
	}
	return "No difference is shown."
}

// metricChangeWords describes the change of a metric: "CPU time is 7.3% lower (-9.0 to -5.1%) (better)".
func metricChangeWords(l *bench.Line) string {
	text := metricText(&l.Metric) + " is "
	change := metricChange(l)
	switch {
	case strings.HasPrefix(change, "-"):
		text += change[1:] + " lower"
	case strings.HasPrefix(change, "+"):
		text += change[1:] + " higher"
	default:
		text += "changed by " + change
	}
	if interval := metricInterval(l); interval != "" {
		text += " (" + interval + ")"
	}
	return text +
		[]string{"", " (better)", " (worse)"}[render.BoolInt(l.Verdict == bench.Better)+
			2*render.BoolInt(l.Verdict == bench.Worse)]
}

// effectText describes whether the program was built with the profile.
func effectText(r *trial.Report) string {
	text := "The build " + r.Effect().String()
	if r.Packed.PGO != "" {
		return text + ": Go recorded " + render.Harmless(r.Packed.PGO) + "."
	}
	return text + ": Go recorded no profile."
}

// separator returns the path separator that a path uses.
func separator(path string) rune {
	if strings.Contains(path, `\`) && !strings.Contains(path, "/") {
		return '\\'
	}
	return '/'
}

// trialSteps returns descriptions of the eight steps of a trial.
func trialSteps(r *trial.Report) []string {
	events := int64(0)
	for _, x := range r.Rounds {
		events += max(x.Events, 0)
	}
	profiled := words.Plural(len(r.Rounds), "run") + " under load, " + strconv.FormatInt(events, 10) + " samples"
	if len(r.Rounds) == 0 {
		profiled = "given: " + words.Plural(len(r.Plan.Profiles), "profile")
	}
	had := ""
	if r.Module.HasDefaultPGO {
		had = "; its existing default.pgo was not used for either program"
	}
	pairs := words.Plural(r.Plan.Pairs, "pair")
	if r.Plan.Control > 0 {
		pairs += " and " + words.Plural(r.Plan.Control, "pair") + " of the control among them"
	}
	reason, _, _ := strings.Cut(r.Judgement.Reason, "; only a trial")
	return []string{
		"Module " + r.Module.Path + ", package " + r.Module.Package + had + ".",
		"Built without PGO: " + words.Bytes(r.Plain.Size) + ".",
		"Profiled: " + profiled + ".",
		"Judged " + r.Judgement.Verdict.String() + ": " + reason + ".",
		"Packed: default.pgo, " + words.Bytes(int64(r.Pack.Size)) + ", " + words.Plural(r.Pack.Edges, "call") +
			", sha256 " + hashText(r.Pack.SHA256) + ".",
		"Built with PGO: " + words.Bytes(r.Packed.Size) + ".",
		"Ran " + pairs + " in random order, seed " + strconv.FormatUint(r.Seed, 10) + ", after " +
			words.Plural(r.Plan.Warmup, "warm-up run") + " of each.",
		"Compared; the build with PGO " + r.Effect().String() + ".",
	}
}

// trialSide returns the description of a side.
func trialSide(side string) string {
	switch side {
	case "b":
		return "with PGO"
	case "c":
		return "without PGO, the copy"
	}
	return "without PGO"
}
