// Package profiles writes reports about profiles, and about the resource usage of processes. It formats reports
// of profile/report and usage.Usage.
//
//  1. A table has a single unit for all its values (value.go).
//  2. Each report is converted to a render.Sheet with header lines, a table for people and keys for scripts,
//     which package render writes in all formats.
//  3. Usage can also be plotted.
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

// titleLine returns the title of a profile: "cpu of querynode-7 (querynode-7.cpu.pb.gz)".
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

// originName returns the source of a profile without credentials.
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

// headText returns a summary of a profile: "total 9.54s, 954 samples, 30.2s long, 0.32 cores busy".
func headText(h *report.Header) string {
	parts := []string{"total " + Scaled(h.Total, h.Type.Unit)}
	if h.Samples >= 0 {
		parts = append(parts, words.Plural(int(h.Samples), "sample"))
	}
	if text := Length(h.Origin.Merged, h.Duration); text != "" {
		parts = append(parts, text)
	}
	if cores, ok := coresBusy(h); ok {
		text := render.Ratio(cores) + " " + []string{"cores", "core"}[render.BoolInt(render.Ratio(cores) == "1.00")] +
			" busy"
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

// Length formats the duration of a profile, e.g. "10.2s long", or the number and total duration of merged
// profiles, e.g. "4 profiles, 40.8s in total". It returns "" if the duration of a single profile is unknown.
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
	return words.Plural(merged, "profile") + ", " + text + " in total"
}

// coresBusy returns the mean number of busy cores in a CPU profile, or in each of merged profiles.
func coresBusy(h *report.Header) (cores float64, ok bool) {
	ns, isTime := nanoseconds(h.Total, h.Type.Unit)
	if !isTime || h.Type.Type != "cpu" || h.Duration <= 0 {
		return 0, false
	}
	return ns / float64(h.Duration), true
}

// headLines returns the lines above the table of a profile.
func headLines(h *report.Header) []render.Line {
	lines := []render.Line{titleLine(h), {Text: headText(h)}}
	return append(lines, noteLines(h, "")...)
}

// noteLines returns notes about irregularities in a profile.
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

// writeProfileHead writes the source and totals of a profile.
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

// writeProfileTotals writes the type and totals of a profile. It omits unknown values.
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

// writeBy writes the kind of entries.
func writeBy(e *encode.Encoder, o *render.ReportOptions) {
	e.Entry("by", o.By.String())
}

// byTitle returns the header of the column of names.
func byTitle(o *render.ReportOptions) string {
	return strings.ToUpper(o.By.String())
}
