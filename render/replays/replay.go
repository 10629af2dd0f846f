// Package replays writes reports about vectors: searches, benchmarks and checks of the engine, results of replays
// and their comparison, and predictions. Each report is converted to a render.Sheet, which package render writes
// in all formats. Results can also be plotted (plot.go) and combined on a page (html.go).
package replays

import (
	"io"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
)

// WriteResult writes the result of a run on one screen, or of a sweep with a row per point. JSON and YAML have
// the format of saved results. CSV and JSON lines have a row per point. ReportOptions.Limit limits each list in
// the report.
func WriteResult(w io.Writer, r *replay.Result, format render.Format, o render.ReportOptions) error {
	s := newReplaySheet(r, &o, format.Name() != "table")
	s.WriteAll = func(e *encode.Encoder) { replay.EncodeResult(e, r) }
	return s.Write(w, format)
}

// PointSchema returns the schema of the points that WriteResult writes.
func PointSchema(o render.ReportOptions) *table.Schema { return pointTable(nil, false, &o).Schema() }

// sweep reports whether a result is shown as a table of points.
func sweep(r *replay.Result) bool { return len(r.Points) > 1 }

// newReplaySheet returns the sheet of a result. repeat adds instructions to reproduce the run, which do not fit
// on one screen.
func newReplaySheet(r *replay.Result, o *render.ReportOptions, repeat bool) *render.Sheet {
	// the limit applies to other lists
	asked := render.Select(o, pointTable(pointRows(r.Points), false, o), render.Unbounded[pointRow](o))
	s := &render.Sheet{
		Kind: "Replay", Options: o,
		Head: replayHead(r, o), Items: asked.Items, About: func(*encode.Encoder) {},
	}
	if sweep(r) || o.HasQuery() {
		s.Parts = append(s.Parts, asked.List(""))
		if sweep(r) {
			s.Parts[0].Head = append(sweepHead(r.Points, o), s.Parts[0].Head...)
		}
	}
	if sweep(r) {
		if r.Recall != nil {
			s.Parts = append(s.Parts, render.Part{Head: append(recallLines(r, o), differenceLines(r, o)...)})
		}
	} else if len(r.Points) == 1 {
		s.Head = append(s.Head, pointLines(&r.Points[0], o)...)
		s.Head = append(s.Head, recallLines(r, o)...)
		s.Head = append(s.Head, differenceLines(r, o)...)
	}
	s.Parts = append(s.Parts, costParts(r, o)...)
	if len(r.Slowest) > 0 {
		s.Parts = append(s.Parts, slowPart(r, o))
	}
	s.Foot = append(asked.More(o), replayNotes(r.Notes, o)...)
	if repeat {
		s.Foot = append(s.Foot, repeatLines(&r.Setup, r.Taken, o)...)
	}
	return s
}

// replayHead returns lines about the replayed log and the coverage of the collection.
func replayHead(r *replay.Result, o *render.ReportOptions) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: title(r)}}
	if text := setupText(&r.Setup, o); text != "" {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	lines = append(lines, render.Line{})
	if r.Stopped != "" {
		lines = append(lines,
			labelled(o, render.RoleBad, "STOPPED", render.Harmless(r.Stopped)+": results up to that point follow")...)
	}
	lines = append(lines, coverageLines(&r.Cover, o)...)
	return lines
}

// title returns the title of a result: "Replay of docs: 10,000 queries of queries.npy, answered by the engine".
func title(r *replay.Result) string {
	word := map[string]string{"run": "Replay", "sweep": "Sweep", "whatif": "What-if"}[r.Kind]
	if word == "" {
		word = "Replay"
	}
	s := &r.Setup
	text := word + " of " + render.OrUnknown(s.Collection) + ": "
	switch count := words.Count(int64(s.Queries), "query", "queries"); {
	case s.LogFormat == "sample": // the name includes the number of queries
		text += render.Harmless(s.Log)
	case s.Log != "":
		text += count + " of " + render.Harmless(s.Log)
	default:
		text += count
	}
	switch s.Target {
	case "":
	case "engine":
		text += ", answered by the engine"
	default:
		text += ", answered by " + render.Harmless(s.Target)
	}
	return text
}

// setupText returns the circumstances that figures depend on: vectors, server and machine.
func setupText(s *replay.Setup, o *render.ReportOptions) string {
	var list []string
	if s.Metric != "" && s.Dim > 0 {
		list = append(list,
			render.Harmless(s.Metric)+", "+words.Plural(s.Dim, "dimension")+" of "+render.OrUnknown(s.Element))
	}
	// A live server runs on another machine, and PostgreSQL has no version of Milvus.
	live := s.Target != "" && s.Target != "engine"
	switch {
	case live && strings.HasPrefix(s.Target, "postgres"):
		list = append(list, "by PostgreSQL with pgvector")
	case live && strings.Contains(s.Target, "://") && !strings.HasPrefix(s.Target, "milvus://"):
		// the title includes its kind and address
	case live && s.Milvus != "":
		list = append(list, "by Milvus "+render.Harmless(s.Milvus))
	case s.Milvus != "":
		list = append(list, "as Milvus "+render.Harmless(s.Milvus))
	}
	if m := machineText(&s.Machine); m != "" {
		list = append(list, [...]string{"on ", "queried from "}[render.BoolInt(live)]+m)
	}
	return strings.Join(list, factSeparator(o))
}

func factSeparator(o *render.ReportOptions) string {
	if o.ASCII {
		return "; "
	}
	return " · "
}

func machineText(m *replay.Machine) string {
	cores := ""
	if m.Cores > 0 {
		cores = words.Plural(m.Cores, "core")
	}
	return render.Harmless(strings.Join(words.NonEmpty([]string{m.CPU, cores, m.Kernels}), ", "))
}

// coverageLines returns lines about the coverage of the collection and about missing segments.
func coverageLines(c *replay.Coverage, o *render.ReportOptions) []render.Line {
	if c.Segments == 0 && c.Rows == 0 && len(c.Missing) == 0 {
		return nil // of a live target, which covers everything
	}
	role := render.RoleGood
	if c.Loaded < c.Segments || len(c.Missing) > 0 {
		role = render.RoleWarn
	}
	lines := labelled(o, role, "rows", coverageText(c))
	var size []string
	if c.Bytes > 0 {
		text := words.Bytes(c.Bytes) + " of files"
		if c.Took > 0 { // otherwise the files were only listed
			text += " read in " + words.Latency(c.Took, o.ASCII)
		}
		size = append(size, text)
	}
	if c.Memory > 0 {
		size = append(size, words.Bytes(c.Memory)+" in memory")
	}
	if len(size) > 0 {
		lines = append(lines, labelled(o, render.RoleDim, "", strings.Join(size, ", "))...)
	}
	for _, m := range c.Missing[:o.Shown(len(c.Missing))] {
		lines = append(lines, labelled(o, render.RoleBad, "MISSING", missingText(&m))...)
	}
	return append(lines, indented(o.More(len(c.Missing)))...)
}

// indented aligns lines with the figures.
func indented(lines []render.Line) []render.Line {
	for i := range lines {
		lines[i].Text = strings.Repeat(" ", labelWidth) + lines[i].Text
	}
	return lines
}

// coverageText describes the coverage, e.g. "1,180,000 of 1,234,567 (95.6%) in 48 of 50 segments; 12,345 of
// them deleted".
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
		text += "; row count of " + words.Plural(c.RowsUnknown, "segment") + " unknown"
	}
	return text
}

// missingText describes a missing segment or index, e.g. "segment 4551 (growing, 12,000 rows): no insert log in
// storage" or "index of segment 4551 (22,000 rows): searched row by row: ...".
func missingText(m *replay.Missing) string {
	if m.Rows == 0 {
		of := ""
		if m.Of > 0 {
			of = " (" + words.Count(m.Of, "row", "rows") + ")"
		}
		return "index of segment " + strconv.FormatInt(m.Segment, 10) + of + ": " + render.OrUnknown(m.Reason)
	}
	rows := "rows unknown"
	if m.Rows >= 0 {
		rows = words.Count(m.Rows, "row", "rows")
	}
	return "segment " + strconv.FormatInt(m.Segment, 10) + " (" + stateText(m.State) + ", " + rows + "): " +
		render.OrUnknown(m.Reason)
}

// replayNotes returns the notes of a run.
func replayNotes(notes []string, o *render.ReportOptions) []render.Line {
	if len(notes) == 0 {
		return nil
	}
	lines := []render.Line{{}}
	for _, n := range notes {
		lines = append(lines, labelled(o, render.RoleDim, "note", render.Harmless(n))...)
	}
	return lines
}

// repeatLines returns instructions to reproduce a run.
func repeatLines(s *replay.Setup, taken time.Time, o *render.ReportOptions) []render.Line {
	log := s.Log
	if s.LogFormat != "" {
		log += " (" + s.LogFormat + ")"
	}
	if s.LogSeed != 0 {
		log += ", seed " + strconv.FormatUint(s.LogSeed, 10)
	}
	replica := ""
	if s.Replica != 0 {
		replica = strconv.FormatInt(s.Replica, 10)
	}
	lines := []render.Line{{}, {Role: render.RoleTitle, Text: "Reproduce"}}
	for _, f := range [][2]string{
		{"command", s.Command},
		{"kitescope", s.Program},
		{"taken", render.Stamp(taken)},
		{"cluster", s.Source},
		{"storage", s.Storage},
		{"log", log},
		{"digest", s.LogDigest},
		{"replica", replica},
		{"machine", machineText(&s.Machine)},
		{"system", strings.Join(words.NonEmpty([]string{s.Machine.OS, s.Machine.Arch, s.Machine.GoVersion}), ", ")},
	} {
		if f[1] != "" {
			lines = append(lines, labelled(o, render.RoleDim, f[0], render.Harmless(f[1]))...)
		}
	}
	if len(lines) == 2 {
		return nil
	}
	return lines
}

// measuredText returns the number and mean length of rounds: "5 rounds of 10 s".
func measuredText(p *load.Point, o *render.ReportOptions) string {
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
