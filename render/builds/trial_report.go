package builds

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/profile/trial"
	"kitescope/render"
)

// TrialFormats are the formats of the report of a PGO trial.
func TrialFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table":    "what it came to, and the comparison (default)",
		"wide":     "the same with chances, directions, the control and what could have been seen",
		"json":     "the whole report as one JSON object, as report.json (docs/reference/json.md)",
		"jsonl":    "one JSON object per line and metric",
		"name":     "",
		"markdown": "the whole report, as report.md",
		"html":     "the whole report with its pictures, as report.html",
	})
}

// WriteTrial writes what a PGO trial found out: of all as documents and Markdown, else what was compared.
func WriteTrial(w io.Writer, r *trial.Report, f render.Format, o render.Options) error {
	s := trialSheet(r, &o)
	s.Whole, s.Open = func(e *encode.Encoder) { writeTrial(e, r, &o) }, render.Everything
	s.Own = map[string]func(io.Writer) error{"markdown": func(w io.Writer) error { return writeTrialMarkdown(w, r, &o) }, "html": func(w io.Writer) error { return writeTrialPage(w, r, &o) }}
	return s.Write(w, f)
}

// TrialSentence is what a trial came to, in one sentence: "With PGO CPU time is 7.3% lower (-9.0 to -5.1%)".
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
		parts = append(parts[:most], "and so on: "+words.Plural(len(parts), "metric")+" in all")
	}
	switch {
	case len(lines) == 0:
		return "Nothing was measured on both sides."
	case len(parts) > 0 && quiet > 0:
		return "With PGO " + strings.Join(parts, "; ") + "; no difference is shown in " + strconv.Itoa(quiet) + " of " + words.Plural(len(lines), "primary metric") + "."
	case len(parts) > 0:
		return "With PGO " + strings.Join(parts, "; ") + "."
	case r.Verdict() == bench.TooFew:
		return "There are too few runs to show anything."
	}
	return "No difference is shown."
}

// metricChangeWords says how a metric changed: "CPU time is 7.3% lower (-9.0 to -5.1%) (better)".
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
	return text + []string{"", " (better)", " (worse)"}[render.BoolInt(l.Verdict == bench.Better)+2*render.BoolInt(l.Verdict == bench.Worse)]
}

func trialSheet(r *trial.Report, o *render.Options) *render.Sheet {
	sheet := trialComparison(r.Comparison, o)
	mark, role := comparisonVerdict(r.Verdict(), o.ASCII)
	head := []render.Line{
		{Role: render.RoleTitle, Text: "PGO trial of " + render.Harmless(trialName(r))},
		{Role: role, Text: mark + " " + TrialSentence(r)},
		{Text: effectText(r)},
	}
	for _, c := range r.Cautions {
		head = append(head, render.Line{Role: render.RoleWarn, Text: "caution: " + render.Harmless(c)})
	}
	sheet.Head = append(head, sheet.Head[1:]...)
	foot := "report: " + r.Folder + string(separator(r.Folder)) + "report.md"
	if r.Written != "" {
		foot += "; written: " + r.Written
	}
	sheet.Foot = append(sheet.Foot, render.Line{Role: render.RoleDim, Text: render.Harmless(foot)})
	return sheet
}

// separator is what stands between the parts of a path here.
func separator(path string) rune {
	if strings.Contains(path, `\`) && !strings.Contains(path, "/") {
		return '\\'
	}
	return '/'
}

// trialName is what was tried: the main package, or the benchmarks of a package.
func trialName(r *trial.Report) string {
	if r.Plan.Bench == "" {
		return r.Module.Package
	}
	name := r.Module.Path
	if r.Module.Package != "." {
		name += "/" + strings.TrimPrefix(r.Module.Package, "./")
	}
	return name + ", benchmarks " + r.Plan.Bench
}

func writeTrialMarkdown(w io.Writer, r *trial.Report, o *render.Options) error {
	m := &trialReport{render.Markdown{Out: encode.NewOutput(w, encode.Pieces)}, r, o}
	m.Line("# PGO trial of "+render.MarkdownText(trialName(r)), "", "**"+render.MarkdownText(TrialSentence(r))+"**", "", render.MarkdownText(effectText(r)))
	if len(r.Cautions) > 0 {
		m.Line("", "Mind:", "")
	}
	for _, c := range r.Cautions {
		m.Line("- " + render.MarkdownText(c))
	}
	m.comparison()
	m.steps()
	m.programs()
	m.judgement()
	m.control()
	m.machine()
	m.repeat()
	return m.Out.Flush()
}

// trialReport is the report for people, as Markdown.
type trialReport struct {
	render.Markdown
	r *trial.Report
	o *render.Options
}

// sheet embeds a report of its own, without its title.
func (m *trialReport) sheet(s *render.Sheet) {
	if len(s.Head) > 0 {
		s.Head = s.Head[1:]
	}
	prose := func(lines []render.Line) {
		for _, l := range lines {
			m.Line("", render.MarkdownText(strings.TrimSpace(l.All()))) // indented it would be code
		}
	}
	prose(s.Head)
	m.Tables(s.Parts)
	prose(s.Foot)
}

// trialComparison is a comparison without what a report has said already: its sides, and how many metrics changed.
func trialComparison(c *bench.Comparison, o *render.Options) *render.Sheet {
	sheet := newComparisonSheet(c, &render.ReportOptions{Options: *o})
	said := []render.Line{verdictsLine(c)}
	for side, s := range []*bench.Set{c.A, c.B} {
		said = append(said, sideLines(c, s, side)...)
	}
	sheet.Head = slices.DeleteFunc(sheet.Head, func(l render.Line) bool {
		return slices.ContainsFunc(said, func(s render.Line) bool { return s.All() == l.All() })
	})
	return sheet
}

func (m *trialReport) comparison() {
	m.Line("", "## Before and after")
	primary := make([]string, len(m.r.Primary))
	for i, name := range m.r.Primary {
		primary[i] = render.MarkdownText(name)
	}
	if len(primary) > 0 {
		m.Line("", "What decides: "+strings.Join(primary, ", ")+".")
	}
	m.sheet(trialComparison(m.r.Comparison, m.o))
	if m.r.Picture != "" {
		m.Line("", "![the values of all runs]("+m.r.Picture+")")
	}
	if a, b := m.r.Failed("a"), m.r.Failed("b"); a+b > 0 {
		m.Line("", "Failed runs: "+strconv.Itoa(a)+" without PGO, "+strconv.Itoa(b)+" with PGO:", "")
		m.failures()
	}
}

// failures lists runs that failed, and the files with their output.
func (m *trialReport) failures() {
	const most = 20
	n := 0
	for i := range m.r.Runs {
		run := &m.r.Runs[i]
		if run.Failed == "" {
			continue
		}
		if n++; n <= most {
			m.Line("- run " + strconv.Itoa(run.Number) + ", " + trialSide(run.Side) + ": " + render.MarkdownText(run.Failed) + " (" + codeSpan(run.Output) + ")")
		}
	}
	if n > most {
		m.Line("- and " + strconv.Itoa(n-most) + " more")
	}
}

func (m *trialReport) steps() {
	m.Line("", "## The steps", "")
	for i, text := range trialSteps(m.r) {
		took := ""
		if d := m.r.Took[i+1]; d >= 100*time.Millisecond {
			took = " (" + words.Age(d.Round(time.Second/10)) + ")"
		}
		m.Line(strconv.Itoa(i+1) + ". " + render.MarkdownText(text) + took)
	}
}

// trialSteps say what was done in each of the eight steps.
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
	if r.Module.Had {
		had = "; its existing default.pgo was not used for either program"
	}
	pairs := words.Plural(r.Plan.Pairs, "pair")
	if r.Plan.Control > 0 {
		pairs += " and " + words.Plural(r.Plan.Control, "pair") + " of the control among them"
	}
	return []string{
		"Module " + r.Module.Path + ", package " + r.Module.Package + had + ".",
		"Built without PGO: " + words.Bytes(r.Plain.Size) + ".",
		"Profiled: " + profiled + ".",
		"Judged " + judgedText(r.Judgement),
		"Packed: default.pgo, " + words.Bytes(int64(r.Pack.Size)) + ", " + words.Plural(r.Pack.Edges, "call") + ", sha256 " + r.Pack.SHA256 + ".",
		"Built with PGO: " + words.Bytes(r.Packed.Size) + ", " + sizeChange(r) + ".",
		"Ran " + pairs + " in random order, seed " + strconv.FormatUint(r.Seed, 10) + ", after " + words.Plural(r.Plan.Warmup, "warm-up run") + " of each.",
		"Compared; the build with PGO " + r.Effect().String() + ".",
	}
}

func sizeChange(r *trial.Report) string {
	d := r.Packed.Size - r.Plain.Size
	if d == 0 {
		return "as large as without"
	}
	word := "larger"
	if d < 0 {
		d, word = -d, "smaller"
	}
	return words.Bytes(d) + " " + word
}

func secondsText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// trialSide is a side in words.
func trialSide(side string) string {
	switch side {
	case "b":
		return "with PGO"
	case "c":
		return "without PGO, the copy"
	}
	return "without PGO"
}
