// Package profiles writes reports about profiles, and what processes used while they were watched. What enters is a report of
// profile/report or a usage.Usage, a format and options; what leaves is written to an io.Writer.
//
//  1. A value's unit is chosen for a whole table (value.go).
//  2. Each report becomes a render.Sheet: lines of its header, a table for people, keys for scripts; package render writes that in
//     all formats.
//  3. Usage is also drawn, as a plot.
package profiles

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
)

// titleLine names what is measured of what: "cpu of querynode-7 (querynode-7.cpu.pb.gz)".
func titleLine(h *report.Header) render.Line {
	text := typeText(h.Type)
	if name := originText(&h.Origin); name != "" {
		text += " of " + name
	}
	return render.Line{Role: render.RoleTitle, Text: text}
}

func typeText(t profile.ValueType) string {
	if t.Type == "" {
		return "profile"
	}
	return render.Harmless(t.Type)
}

func originText(o *profile.Origin) string {
	name := render.Harmless(originName(o))
	if o.Node == "" || o.Node == name {
		return name
	}
	if name == "" {
		return render.Harmless(o.Node)
	}
	return render.Harmless(o.Node) + " (" + name + ")"
}

// originName is where a profile comes from, without credentials.
func originName(o *profile.Origin) string {
	if !strings.Contains(o.Name, "://") {
		return o.Name
	}
	u, err := url.Parse(o.Name)
	if err != nil || u.User == nil {
		return o.Name
	}
	u.User = nil
	return u.String()
}

// headText says how much there is of it: "total 9.54s, 954 samples, 30.2s long, 0.32 cores busy".
func headText(h *report.Header) string {
	parts := []string{"total " + Scaled(h.Total, h.Type.Unit)}
	if h.Samples >= 0 {
		parts = append(parts, words.Plural(int(h.Samples), "sample"))
	}
	if text := Length(h.Origin.Merged, h.Duration); text != "" {
		parts = append(parts, text)
	}
	if cores, ok := coresBusy(h); ok {
		text := render.Ratio(cores) + " " + []string{"cores", "core"}[render.BoolInt(render.Ratio(cores) == "1.00")] + " busy"
		if h.Origin.Merged > 1 {
			text += " in each on average"
		}
		parts = append(parts, text)
	}
	if !h.Time.IsZero() {
		parts = append(parts, h.Time.UTC().Format(time.RFC3339))
	}
	return strings.Join(parts, ", ")
}

// Length says how long was sampled: "10.2s long", or of as many profiles as were merged, whose durations are added
// up, "4 profiles, 40.8s in all". It is "" if it is not known.
func Length(merged int, d time.Duration) string {
	text := ""
	if d > 0 {
		text = Scaled(int64(d), "nanoseconds")
	}
	switch {
	case merged <= 1 && text != "":
		return text + " long"
	case merged <= 1:
		return ""
	case text == "":
		return words.Plural(merged, "profile")
	}
	return words.Plural(merged, "profile") + ", " + text + " in all"
}

// coresBusy is how many processors a CPU profile shows at work, on average: of merged profiles, in each of them.
func coresBusy(h *report.Header) (cores float64, ok bool) {
	ns, isTime := nanoseconds(h.Total, h.Type.Unit)
	if !isTime || h.Type.Type != "cpu" || h.Duration <= 0 {
		return 0, false
	}
	return ns / float64(h.Duration), true
}

// headLines are the lines above a table of one profile.
func headLines(h *report.Header) []render.Line {
	lines := []render.Line{titleLine(h), {Text: headText(h)}}
	return append(lines, noteLines(h, "")...)
}

// noteLines say what was odd about a profile.
func noteLines(h *report.Header, whose string) (lines []render.Line) {
	for _, n := range h.Notes {
		text := "note: " + whose + render.Harmless(n.What)
		if n.Count > 1 {
			text += " (" + strconv.FormatInt(n.Count, 10) + " times)"
		}
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: text})
	}
	return lines
}

// writeProfileHead tells scripts what a report is of.
func writeProfileHead(e *encode.Encoder, h *report.Header) {
	e.Key("source")
	writeProfileOrigin(e, &h.Origin)
	writeProfileTotals(e, h)
}

func writeProfileOrigin(e *encode.Encoder, o *profile.Origin) {
	e.BeginObject()
	e.Entry("kind", o.Format)
	e.Entry("location", originName(o))
	e.NonZero("node", o.Node)
	e.NonZero("role", o.Role)
	e.EndObject()
}

// writeProfileTotals tells what is measured and how much of it there is. What is unknown is left out.
func writeProfileTotals(e *encode.Encoder, h *report.Header) {
	e.Entry("type", h.Type.Type)
	e.Entry("unit", h.Type.Unit)
	e.Entry("total", h.Total)
	if h.Samples >= 0 {
		e.Entry("samples", h.Samples)
	}
	e.Entry("time", h.Time)
	if h.Origin.Merged > 1 {
		e.Entry("profiles", h.Origin.Merged)
	}
	if h.Duration > 0 {
		e.Entry("duration_seconds", h.Duration)
	}
	if cores, ok := coresBusy(h); ok {
		e.Entry("cores_busy", cores)
	}
	e.NonZero("build_ids", h.BuildIDs)
	if len(h.Notes) > 0 {
		e.Key("notes")
		e.BeginList()
		for _, n := range h.Notes {
			e.BeginObject()
			e.Entry("what", n.What)
			e.Entry("count", n.Count)
			e.EndObject()
		}
		e.EndList()
	}
}

// writeBy tells what entries are.
func writeBy(e *encode.Encoder, o *render.ReportOptions) {
	e.Entry("by", o.By.String())
}

// byTitle heads the column of names.
func byTitle(o *render.ReportOptions) string {
	return strings.ToUpper(o.By.String())
}
