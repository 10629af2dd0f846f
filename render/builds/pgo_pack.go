package builds

import (
	"io"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// PackReport is a pack and the outcome of writing it.
type PackReport struct {
	Pack *pgo.Pack
	// Path and ManifestPath are the names of the files, or "" if nothing was written.
	Path, ManifestPath string
	// Outcome is "written", "replaced" or "unchanged".
	Outcome string
	// Flag is the flag that `go build` needs to use the file, or "" if it finds the file automatically.
	Flag string
	// Notes are warnings for the user.
	Notes []string
}

// WritePack writes the contents of a pack.
func WritePack(w io.Writer, r *PackReport, f render.Format, o render.ReportOptions) error {
	return newPackSheet(r, &o).Write(w, f)
}

func newPackSheet(r *PackReport, o *render.ReportOptions) *render.Sheet {
	asked := render.Select(o, packTable(r.Pack.Manifest), nil)
	return &render.Sheet{
		Kind: "PGOPack", Options: o, Head: packHead(r, o),
		Parts: []render.Part{asked.List("")}, Foot: asked.More(o),
		About: func(e *encode.Encoder) { writePackHead(e, r) },
		Items: asked.Items,
	}
}

// PackSchema returns the schema of the profiles that WritePack writes.
func PackSchema(render.ReportOptions) *table.Schema { return packTable(&pgo.Manifest{}).Schema() }

func packHead(r *PackReport, o *render.ReportOptions) []render.Line {
	m := r.Pack.Manifest
	where := r.Path
	if where == "" {
		where = m.File
	}
	lines := []render.Line{
		{Role: render.RoleTitle, Text: render.Harmless(where) + " " + r.Outcome},
		{
			Text: words.Bytes(int64(m.Bytes)) + ", " + words.Plural(m.Calls, "call") + ", " +
				words.Plural(m.HotCalls, "hot one") + ", sha256 " + m.SHA256,
		},
	}
	for _, b := range m.Block {
		lines = append(lines, render.Line{Text: "blocked: " + render.Harmless(b)})
	}
	if j := m.Judgement; j != nil {
		line := render.Line{Text: "judged: " + j.Verdict + ": " + render.Harmless(j.Reason)}
		if j.Verdict == pgo.Unfit.String() {
			line = render.Line{
				Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, o.ASCII) + " ",
				After: []render.Piece{{Role: render.RolePlain, Text: line.Text}},
			}
		}
		lines = append(lines, line)
	}
	for _, n := range r.Notes {
		lines = append(lines, render.Line{
			Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, o.ASCII) + " ",
			After: []render.Piece{{Role: render.RolePlain, Text: render.Harmless(n)}},
		})
	}
	switch {
	case r.Path == "":
	case r.Flag == "":
		lines = append(lines, render.Line{Role: render.RoleDim, Text: "go build uses it automatically"})
	default:
		lines = append(lines, render.Line{
			Role: render.RoleDim, Text: "go build takes it with " + render.Harmless(shellquote.Word(r.Flag)),
		})
	}
	return lines
}

func weightShare(m *pgo.Manifest, s *pgo.ManifestSource) float64 {
	var all float64
	for i := range m.Sources {
		all += float64(m.Sources[i].Weight)
	}
	if all == 0 {
		return 0
	}
	return float64(s.Weight) / all
}

func writePackHead(e *encode.Encoder, r *PackReport) {
	m := r.Pack.Manifest
	e.Entry("outcome", r.Outcome)
	e.NonZero("path", r.Path)
	e.NonZero("manifest", r.ManifestPath)
	e.NonZero("flag", r.Flag)
	e.NonZero("file", m.File)
	e.NonZero("sha256", m.SHA256)
	e.NonZero("sample_type", m.SampleType)
	e.Entry("bytes", m.Bytes)
	e.Entry("calls", m.Calls)
	e.Entry("hot_calls", m.HotCalls)
	e.Entry("call_weight", m.CallWeight)
	e.NonZero("block", m.Block)
	e.NonZero("nodes", m.Nodes)
	e.NonZero("go_versions", m.GoVersions)
	e.NonZero("build_ids", m.BuildIDs)
	e.NonZero("notes", r.Notes)
	if m.Judgement != nil {
		e.Entry("verdict", m.Judgement.Verdict)
		e.Entry("reason", m.Judgement.Reason)
	}
}

// packTable returns the table of profiles in a pack.
func packTable(m *pgo.Manifest) *table.Rows[*pgo.ManifestSource] {
	type source = *pgo.ManifestSource
	text := func(name string, of func(s source) string) table.ColumnOf[source] {
		return render.Key(name, table.Text, func(s source) table.Cell {
			if of(s) == "" {
				return table.OfNone()
			}
			return table.Of(of(s))
		})
	}
	name := text("name", func(s source) string { return s.Name }).WithTitle("PROFILE", 0, func(s source) string {
		return render.Harmless(s.Name)
	})
	name.Shorten = true
	return table.New(table.Schema{
		Name: "profiles", Singular: "profile", Names: []string{"name", "node"}, Sparse: true,
		Order: []string{"name", "node", "samples", "weight", "go_version"},
	}, render.Pointers(m.Sources), []table.ColumnOf[source]{
		name,
		text("node", func(s source) string { return s.Node }).WithTitle("NODE", 1, func(s source) string {
			return render.OrNone(s.Node)
		}),
		text("source_sha256", func(s source) string { return s.SHA256 }),
		render.Key("started", table.Time, func(s source) table.Cell { return table.OfTime(s.Started) }),
		render.Key("duration_seconds", table.Duration, func(s source) table.Cell { return secondsCell(s.Seconds) }),
		render.Key("samples", table.Int, func(s source) table.Cell {
			if s.Samples == nil {
				return table.OfUnknown()
			}
			return table.OfInt(*s.Samples)
		}).WithTitle("SAMPLES", 0, func(s source) string {
			if s.Samples == nil {
				return words.UnknownMark
			}
			return render.EventCount(*s.Samples)
		}),
		render.Key("cpu_seconds", table.Duration, func(s source) table.Cell {
			if s.CPUSeconds == nil {
				return table.OfUnknown()
			}
			return table.Cell{Int: int64(*s.CPUSeconds * 1e9)}
		}),
		text("go_version", func(s source) string { return s.GoVersion }).
			WithTitle("GO VERSION", 2, func(s source) string { return render.OrUnknown(s.GoVersion) }).WideOnly(),
		text("build_id", func(s source) string { return s.BuildID }),
		render.Key("weight", table.Int, func(s source) table.Cell { return table.OfInt(s.Weight) }).
			WithTitle("WEIGHT", 0, func(s source) string { return shareCell(weightShare(m, s)) }),
	})
}

// secondsCell returns the cell of a time, which is unknown if it is not positive.
func secondsCell(seconds float64) table.Cell { return nanosecondsCell(int64(seconds * 1e9)) }

// hashText returns the first 16 digits of a hash, which are enough to distinguish files.
func hashText(hash string) string {
	const letters = 16
	if len(hash) > letters {
		hash = hash[:letters]
	}
	return strings.ToLower(render.Harmless(hash))
}
