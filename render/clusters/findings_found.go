package clusters

import (
	"strconv"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// Found holds findings to show with another document: with the overview of a cluster or the description of an object.
type Found struct {
	Report *check.Report
	// List holds the findings to show. Report contains all findings.
	List []*check.Finding
}

// Health returns the state of a cluster as a word: "bad", "warning", "good", or "unknown" if nothing was found but
// some checks could not run.
func Health(r *check.Report) string {
	counts := r.Tally()
	switch {
	case r.Count(check.Error) > 0:
		return "bad"
	case r.Count(check.Warning) > 0:
		return "warning"
	case counts[check.Skipped]+counts[check.Broken] > 0:
		return "unknown"
	}
	return "good"
}

// HealthText returns the state of a cluster as text, with its role and glyph. The state is good only if all checks
// could run.
func HealthText(r *check.Report) (role render.Role, glyph, text string) {
	counts := r.Tally()
	switch Health(r) {
	case "bad":
		return render.RoleBad, render.Glyph(render.RoleBad, false),
			"unhealthy: " + words.Plural(r.Count(check.Error), "error")
	case "warning":
		return render.RoleWarn, render.Glyph(render.RoleWarn, false),
			"degraded: " + words.Plural(r.Count(check.Warning), "warning")
	case "unknown":
		n := counts[check.Skipped] + counts[check.Broken]
		return render.RoleDim, words.UnknownMark,
			"no problems found, " + words.Number(n) + " of " + words.Plural(len(r.Results), "check") + " could not run"
	}
	return render.RoleGood, render.Glyph(render.RoleGood, false), "healthy"
}

// writeFound writes findings in the format of a diagnosis. It writes nothing if found is nil.
func writeFound(e *encode.Encoder, found *Found) {
	if found == nil {
		return
	}
	e.Key("findings")
	writeFindingList(e, &Diagnosis{Report: found.Report}, found.List)
}

// lines returns the findings with their fixes, each followed by its consequences. It only counts findings below
// minSeverity.
func (found *Found) lines(minSeverity check.Severity, ascii bool) []render.Line {
	d := &Diagnosis{Report: found.Report}
	var lines []render.Line
	left := 0
	for _, b := range check.Tree(found.List) {
		if b.Severity < minSeverity {
			left++
			continue
		}
		lines = append(lines, d.lines(&b, ascii, false, false)...)
	}
	if left > 0 {
		lines = append(lines, render.Line{
			Role: render.RoleDim, Text: strconv.Itoa(left) + " more of severity info: kitescope diagnose",
		})
	}
	if len(found.List) > 0 {
		lines = append(lines, render.Line{})
	}
	return lines
}
