package render

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/doc"
	"kitescope/profile/bench"
	"kitescope/profile/trial"
	"kitescope/words"
)

// TrialFormat is a parsed -o word of the report of a PGO trial.
type TrialFormat = FormatOf[*trial.Report]

// TrialFormats are the formats of the report of a PGO trial, in the order of help.
func TrialFormats() Formats[*trial.Report] {
	return Formats[*trial.Report]{
		{"table", "what it came to, and the comparison (default)", false, writeTrialTable},
		{"markdown", "the whole report, as report.md", false, writeTrialMarkdown},
		{"json", "the same as one JSON object, as report.json (docs/JSON.md)", true, writeTrialJSON},
		{"yaml", "the same as json, as YAML", true, writeTrialYAML},
	}
}

// WriteTrial writes what a PGO trial found out.
func WriteTrial(w io.Writer, r *trial.Report, f TrialFormat, o Options) error {
	return TrialFormats().write(w, r, f, &o)
}

// TrialSentence is what a trial came to, in one sentence: "With PGO CPU time is 7.3% lower (-9.0 to -5.1%)".
func TrialSentence(r *trial.Report) string {
	lines := r.PrimaryLines()
	var parts []string
	quiet := 0
	for _, l := range lines {
		if !ChangeShown(l.Verdict) {
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
	return "No difference is shown" + visibleWords(lines) + "."
}

// metricChangeWords says how a metric changed: "CPU time is 7.3% lower (-9.0 to -5.1%), which is better".
func metricChangeWords(l *bench.Line) string {
	text := MetricText(&l.Metric) + " is "
	change := MetricChange(l)
	switch {
	case strings.HasPrefix(change, "-"):
		text += change[1:] + " lower"
	case strings.HasPrefix(change, "+"):
		text += change[1:] + " higher"
	default:
		text += "changed by " + change
	}
	if interval := MetricInterval(l); interval != "" {
		text += " (" + interval + ")"
	}
	return text + []string{"", ", which is better", ", which is worse"}[b2i(l.Verdict == bench.Better)+2*b2i(l.Verdict == bench.Worse)]
}

// visibleWords says what could have been seen.
func visibleWords(lines []*bench.Line) string {
	var parts []string
	for _, l := range lines {
		if text := MetricVisible(l); text != "" && text != words.UnknownMark && len(parts) < 2 {
			parts = append(parts, text+" of "+MetricText(&l.Metric))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; these runs could have shown " + strings.Join(parts, " and ")
}

func writeTrialTable(w io.Writer, r *trial.Report, o *Options) error {
	sheet := trialComparison(r.Comparison, o)
	mark, role := ComparisonVerdict(r.Verdict(), o.ASCII)
	head := []sheetLine{
		{role: RoleTitle, text: "PGO trial of " + Harmless(trialName(r))},
		{role: role, text: mark + " " + TrialSentence(r)},
		{text: witnessText(r)},
	}
	for _, c := range r.Cautions {
		head = append(head, sheetLine{role: RoleWarn, text: "caution: " + Harmless(c)})
	}
	sheet.head = append(head, sheet.head[1:]...)
	foot := "report: " + r.Folder + string(separator(r.Folder)) + "report.md"
	if r.Written != "" {
		foot += "; written: " + r.Written
	}
	sheet.foot = append(sheet.foot, sheetLine{role: RoleDim, text: Harmless(foot)})
	return writeSheet(w, sheet)
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

func writeTrialMarkdown(w io.Writer, r *trial.Report, o *Options) error {
	m := &trialReport{markdown{doc.NewOutput(w, doc.Pieces)}, r, o}
	m.line("# PGO trial of "+mdText(trialName(r)), "", "**"+mdText(TrialSentence(r))+"**", "", mdText(witnessText(r)))
	if len(r.Cautions) > 0 {
		m.line("", "Mind:", "")
	}
	for _, c := range r.Cautions {
		m.line("- " + mdText(c))
	}
	m.comparison()
	m.steps()
	m.programs()
	m.witness()
	m.judgement()
	m.control()
	m.machine()
	m.repeat()
	return m.out.Flush()
}

// trialReport is the report for people, as Markdown.
type trialReport struct {
	markdown
	r *trial.Report
	o *Options
}

// sheet embeds a report of its own, without its title.
func (m *trialReport) sheet(s *sheet) {
	if len(s.head) > 0 {
		s.head = s.head[1:]
	}
	prose := func(lines []sheetLine) {
		for _, l := range lines {
			m.line("", mdText(strings.TrimSpace(l.all()))) // indented it would be code
		}
	}
	prose(s.head)
	m.tables(s.parts)
	prose(s.foot)
}

// trialComparison is a comparison without what a report has said already: its sides, and how many metrics changed.
func trialComparison(c *bench.Comparison, o *Options) *sheet {
	sheet := newComparisonSheet(c, false, &ReportOptions{Options: *o})
	said := append(bothSides(c), verdictsLine(c))
	sheet.head = slices.DeleteFunc(sheet.head, func(l sheetLine) bool {
		return slices.ContainsFunc(said, func(s sheetLine) bool { return s.all() == l.all() })
	})
	return sheet
}

func (m *trialReport) comparison() {
	m.line("", "## Before and after")
	primary := make([]string, len(m.r.Primary))
	for i, name := range m.r.Primary {
		primary[i] = mdText(name)
	}
	if len(primary) > 0 {
		m.line("", "What decides: "+strings.Join(primary, ", ")+".")
	}
	m.sheet(trialComparison(m.r.Comparison, m.o))
	if m.r.Picture != "" {
		m.line("", "![the values of all runs]("+m.r.Picture+")")
	}
	if a, b := m.r.Failed("a"), m.r.Failed("b"); a+b > 0 {
		m.line("", "Failed runs: "+strconv.Itoa(a)+" without PGO, "+strconv.Itoa(b)+" with PGO:", "")
		m.failures()
	}
}

// failures lists runs that failed, and where what they said is.
func (m *trialReport) failures() {
	const most = 20
	n := 0
	for _, runs := range [][]trial.Measured{m.r.Runs, m.r.Discarded} {
		for i := range runs {
			run := &runs[i]
			if run.Failed == "" {
				continue
			}
			if n++; n <= most {
				m.line("- run " + strconv.Itoa(run.Number) + ", " + trialSide(run.Side) + ": " + mdText(run.Failed) + " (" + codeSpan(run.Output) + ")")
			}
		}
	}
	if n > most {
		m.line("- and " + strconv.Itoa(n-most) + " more")
	}
}

func (m *trialReport) steps() {
	m.line("", "## The steps", "")
	for i, text := range trialSteps(m.r) {
		took := ""
		if d := m.r.Took[i+1]; d >= 100*time.Millisecond {
			took = " (" + words.Age(d.Round(time.Second/10)) + ")"
		}
		m.line(strconv.Itoa(i+1) + ". " + mdText(text) + took)
	}
}

// trialSteps say what was done in each of the eight steps.
func trialSteps(r *trial.Report) []string {
	rounds, events := 0, int64(0)
	for _, x := range r.Rounds {
		if x.Side == "a" && !x.After {
			rounds++
			events += max(x.Events, 0)
		}
	}
	profiled := words.Plural(rounds, "run") + " under load, " + strconv.FormatInt(events, 10) + " samples"
	if rounds == 0 {
		profiled = "given: " + words.Plural(len(r.Plan.Profiles), "profile")
	}
	had := ""
	if r.Module.Had {
		had = "; it has a default.pgo already, which neither program was built with"
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
		"Compared, and looked for what the profile did: " + r.Effect().String() + ".",
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
