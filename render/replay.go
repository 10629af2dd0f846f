package render

import (
	"io"
	"strconv"
	"strings"
	"time"

	"kitescope/doc"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/words"
)

// WriteReplay writes what a run or a sweep found: of a run one screen, of a sweep a row for each point. JSON and YAML are
// the saved result itself; CSV and JSON lines have a row for each point. ReportOptions.Limit bounds each list of it.
func WriteReplay(w io.Writer, r *replay.Result, format ReportFormat, o ReportOptions) error {
	return writeSaved(w, format, newReplaySheet(r, &o, format.Name() != "table"), func(e *doc.Encoder) error { return replay.TellResult(e, r) })
}

// sweep tells whether a result is shown as a table of points.
func sweep(r *replay.Result) bool { return len(r.Points) > 1 }

// newReplaySheet makes the sheet; repeat adds what is needed to repeat the run, for which one screen has no room.
func newReplaySheet(r *replay.Result, o *ReportOptions, repeat bool) *sheet {
	s := &sheet{
		kind: "Replay", o: o,
		head: replayHead(r, o), items: forScripts(len(r.Points), len(r.Points), pointFields(r.Points)), about: func(*doc.Encoder) {},
	}
	if sweep(r) {
		s.parts = append(s.parts, sweepPart(r, o))
		if r.Recall != nil {
			s.parts = append(s.parts, sheetPart{head: append(recallLines(r, o), differenceLines(r, o)...)})
		}
	} else if len(r.Points) == 1 {
		s.head = append(s.head, pointLines(&r.Points[0], o)...)
		s.head = append(s.head, recallLines(r, o)...)
		s.head = append(s.head, differenceLines(r, o)...)
	}
	s.parts = append(s.parts, costParts(r, o)...)
	s.parts = append(s.parts, slowParts(r, o)...)
	s.foot = append(s.foot, replayNotes(r.Notes, o)...)
	if repeat {
		s.foot = append(s.foot, repeatLines(r, o)...)
	}
	return s
}

// replayHead says what was replayed, and how much of it there was.
func replayHead(r *replay.Result, o *ReportOptions) []sheetLine {
	lines := []sheetLine{{role: RoleTitle, text: ReplayTitle(r)}}
	if text := setupText(&r.Setup, o); text != "" {
		lines = append(lines, sheetLine{role: RoleDim, text: text})
	}
	lines = append(lines, sheetLine{})
	if r.Stopped != "" {
		lines = append(lines, labelled(o, RoleBad, "STOPPED", Harmless(r.Stopped)+": what follows is of what was done until then")...)
	}
	lines = append(lines, coverageLines(&r.Cover, o)...)
	return lines
}

// ReplayTitle is "Replay of docs: 10,000 queries of queries.npy, answered by the engine".
func ReplayTitle(r *replay.Result) string {
	word := map[string]string{"run": "Replay", "sweep": "Sweep", "whatif": "What-if"}[r.Kind]
	if word == "" {
		word = "Replay"
	}
	s := &r.Setup
	text := word + " of " + orUnknown(s.Collection) + ": "
	switch count := words.Count(int64(s.Queries), "query", "queries"); {
	case s.LogFormat == "sample": // its name says how many
		text += Harmless(s.Log)
	case s.Log != "":
		text += count + " of " + Harmless(s.Log)
	default:
		text += count
	}
	switch s.Target {
	case "":
	case "engine":
		text += ", answered by the engine"
	default:
		text += ", answered by " + Harmless(s.Target)
	}
	return text
}

// setupText is where and when: the circumstances that figures depend on.
func setupText(s *replay.Setup, o *ReportOptions) string {
	var list []string
	if s.Metric != "" && s.Dim > 0 {
		list = append(list, Harmless(s.Metric)+", "+words.Plural(s.Dim, "dimension")+" of "+orUnknown(s.Element))
	}
	// Of a server it is no machine of ours that searches, and a PostgreSQL searches as no Milvus does.
	live := s.Target != "" && s.Target != "engine"
	switch {
	case live && strings.HasPrefix(s.Target, "postgres"):
		list = append(list, "by PostgreSQL with pgvector")
	case live && s.Milvus != "":
		list = append(list, "by Milvus "+Harmless(s.Milvus))
	case s.Milvus != "":
		list = append(list, "as Milvus "+Harmless(s.Milvus))
	}
	if m := machineText(&s.Machine); m != "" {
		list = append(list, [...]string{"on ", "asked from "}[b2i(live)]+m)
	}
	return strings.Join(list, factSeparator(o))
}

func factSeparator(o *ReportOptions) string {
	if o.ASCII {
		return "; "
	}
	return " · "
}

func machineText(m *replay.Machine) string {
	var list []string
	for _, s := range []string{m.CPU, coreCount(m.Cores), m.Kernels} {
		if s != "" {
			list = append(list, Harmless(s))
		}
	}
	return strings.Join(list, ", ")
}

func coreCount(n int) string {
	if n <= 0 {
		return ""
	}
	return words.Plural(n, "core")
}

// coverageLines say how much of the collection took part, and name what did not.
func coverageLines(c *replay.Coverage, o *ReportOptions) []sheetLine {
	if *noMissing(c) == (coverageFigures{}) && len(c.Missing) == 0 {
		return nil // of a live target, which has all
	}
	role := RoleGood
	if c.Loaded < c.Segments || len(c.Missing) > 0 {
		role = RoleWarn
	}
	lines := labelled(o, role, "rows", coverageText(c))
	var size []string
	if c.Bytes > 0 {
		text := words.Bytes(c.Bytes) + " of files"
		if c.Took > 0 { // else they were only looked for
			text += " read in " + words.Latency(c.Took, o.ASCII)
		}
		size = append(size, text)
	}
	if c.Memory > 0 {
		size = append(size, words.Bytes(c.Memory)+" in memory")
	}
	if len(size) > 0 {
		lines = append(lines, labelled(o, RoleDim, "", strings.Join(size, ", "))...)
	}
	for _, m := range c.Missing[:o.shown(len(c.Missing))] {
		lines = append(lines, labelled(o, RoleBad, "MISSING", missingText(&m))...)
	}
	return append(lines, indented(o.more(len(c.Missing)))...)
}

// indented puts lines below figures.
func indented(lines []sheetLine) []sheetLine {
	for i := range lines {
		lines[i].text = strings.Repeat(" ", labelWidth) + lines[i].text
	}
	return lines
}

type coverageFigures struct {
	segments, loaded int
	rows, covered    int64
}

func noMissing(c *replay.Coverage) *coverageFigures {
	return &coverageFigures{c.Segments, c.Loaded, c.Rows, c.Covered}
}

// coverageText is "1,180,000 of 1,234,567 (95.5%), in 48 of 50 segments; 12,345 of them deleted".
func coverageText(c *replay.Coverage) string {
	text := words.Number(c.Covered) + " of " + words.Number(c.Rows)
	if c.RowsUnknown > 0 {
		text = words.Number(c.Covered) + " of at least " + words.Number(c.Rows)
	} else if c.Rows > 0 {
		text += " (" + words.Share(ratioOf(float64(c.Covered), float64(c.Rows))) + ")"
	}
	text += " in " + strconv.Itoa(c.Loaded) + " of " + words.Plural(c.Segments, "segment")
	if c.Deleted > 0 {
		text += "; " + words.Number(c.Deleted) + " of them deleted"
	}
	if c.RowsUnknown > 0 {
		text += "; of " + words.Plural(c.RowsUnknown, "segment") + " nobody tells the rows"
	}
	return text
}

// missingText is "segment 4551 (growing, 12,000 rows): no insert log in storage", "index of segment 4551 (22,000 rows): searched row by row: ...".
func missingText(m *replay.Missing) string {
	if m.Rows == 0 {
		of := ""
		if m.Of > 0 {
			of = " (" + words.Count(m.Of, "row", "rows") + ")"
		}
		return "index of segment " + strconv.FormatInt(m.Segment, 10) + of + ": " + orUnknown(m.Reason)
	}
	rows := "rows unknown"
	if m.Rows >= 0 {
		rows = words.Count(m.Rows, "row", "rows")
	}
	return "segment " + strconv.FormatInt(m.Segment, 10) + " (" + SegmentStateText(m.State) + ", " + rows + "): " + orUnknown(m.Reason)
}

// replayNotes are what a run has to say besides.
func replayNotes(notes []string, o *ReportOptions) []sheetLine {
	if len(notes) == 0 {
		return nil
	}
	lines := []sheetLine{{}}
	for _, n := range notes {
		lines = append(lines, labelled(o, RoleDim, "note", Harmless(n))...)
	}
	return lines
}

// repeatLines are what is needed to do it again.
func repeatLines(r *replay.Result, o *ReportOptions) []sheetLine {
	var lines []sheetLine
	for _, f := range repeatFacts(r) {
		lines = append(lines, labelled(o, RoleDim, f.Name, f.Value)...)
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]sheetLine{{}, {role: RoleTitle, text: "To repeat it"}}, lines...)
}

// repeatFacts are harmless.
func repeatFacts(r *replay.Result) []htmlFact {
	s := &r.Setup
	log := Harmless(s.Log)
	if s.LogFormat != "" {
		log += " (" + Harmless(s.LogFormat) + ")"
	}
	if s.LogSeed != 0 {
		log += ", seed " + strconv.FormatUint(s.LogSeed, 10)
	}
	digest := Harmless(s.LogDigest)
	if len(digest) == 64 {
		digest = "sha256 " + digest
	}
	replica := ""
	if s.Replica != 0 {
		replica = strconv.FormatInt(s.Replica, 10)
	}
	var system []string
	for _, x := range []string{s.Machine.OS, s.Machine.Arch, s.Machine.GoVersion} {
		if x != "" {
			system = append(system, Harmless(x))
		}
	}
	var facts []htmlFact
	for _, f := range []htmlFact{
		{"command", Harmless(s.Command), ""},
		{"kitescope", Harmless(s.Program), ""},
		{"taken", stamp(r.Taken), ""},
		{"cluster", Harmless(s.Source), ""},
		{"storage", Harmless(s.Storage), ""},
		{"log", log, ""},
		{"", digest, ""},
		{"replica", replica, ""},
		{"machine", machineText(&s.Machine), ""},
		{"system", strings.Join(system, ", "), ""},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// measuredText is how long was measured: "5 rounds of 10 s".
func measuredText(p *load.Point, o *ReportOptions) string {
	n := len(p.Repeats)
	if n == 0 {
		return ""
	}
	var sum time.Duration
	for i := range p.Repeats {
		sum += p.Repeats[i].Took
	}
	each := words.Latency(sum/time.Duration(n), o.ASCII)
	if d := (sum / time.Duration(n)).Round(10 * time.Millisecond); d > 0 && d%time.Second == 0 {
		each = words.Age(d)
	}
	if n == 1 {
		return "one round of " + each
	}
	return words.Plural(n, "round") + " of " + each
}
