package clusters

import (
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render"
)

// SeverityRole returns the role of a severity.
func SeverityRole(s check.Severity) render.Role {
	switch s {
	case check.Error:
		return render.RoleBad
	case check.Warning:
		return render.RoleWarn
	default:
		return render.RoleAccent
	}
}

// SeverityGlyph returns the glyph that represents a severity without color.
func SeverityGlyph(s check.Severity, ascii bool) string {
	return render.GlyphOf(SeverityRole(s), ascii)
}

// ObjectText returns the object of a finding as text, e.g. "collection docs (470590760626290000)".
func ObjectText(r model.Ref) string {
	if r.Resource == "" {
		return "cluster"
	}
	return singular(r.Resource) + " " + render.Harmless(objectName(r))
}

// CostText returns the cost of a finding, e.g. "29% of query work", or "88% of the time of requests" if that was
// measured. It returns "" if the cost is unknown or zero.
func CostText(f *check.Finding) string {
	if f.Cost <= 0 {
		return ""
	}
	if len(f.Slows) > 0 {
		return words.Percent(100*f.Cost) + " of the time of requests"
	}
	return words.Percent(100*f.Cost) + " of query work"
}

// EvidenceText returns a piece of evidence in one line, e.g. "segments: 30 (querynode-3)".
func EvidenceText(e *check.Evidence) string {
	text := render.Harmless(e.Name) + ": " + render.Harmless(e.Value)
	if e.Source != "" {
		text += " (" + render.Harmless(e.Source) + ")"
	}
	return text
}

// CountText counts findings by severity, e.g. "3 findings (1 error, 2 warnings)" or "no findings".
func CountText(findings []*check.Finding) string {
	if len(findings) == 0 {
		return "no findings"
	}
	var counts [check.Error + 1]int
	for _, f := range findings {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range []check.Severity{check.Error, check.Warning} {
		if counts[s] > 0 {
			parts = append(parts, words.Plural(counts[s], s.String()))
		}
	}
	if counts[check.Info] > 0 {
		parts = append(parts, strconv.Itoa(counts[check.Info])+" info")
	}
	return words.Plural(len(findings), "finding") + " (" + strings.Join(parts, ", ") + ")"
}

// ResponseText returns how many processes responded, e.g. "9 of 10 sessions responded". If r is nil, it reports
// that no process was queried.
func ResponseText(r *model.Runtime) string {
	if r == nil {
		return "the nodes were not queried"
	}
	answered := 0
	for _, n := range r.Nodes {
		if n.Outcome == model.Answered {
			answered++
		}
	}
	text := strconv.Itoa(answered) + " of " + words.Plural(len(r.Nodes), "session") + " responded"
	if len(r.Nodes) == 0 {
		text = "no session was queried"
		if r.Kind == "live" {
			text = "no process is registered"
		}
	}
	if r.Kind != "live" && r.Kind != "" {
		text += " (" + render.Harmless(r.Kind) + ")"
	}
	return text
}

// Headline returns the location of the cluster and its state.
func (d *Diagnosis) Headline() (where, state string) {
	c := d.Report.Cluster
	v := &view.Overview{Origin: c.Origin, Version: c.Version}
	if !c.Origin.Taken.IsZero() {
		v.Age = max(0, d.Report.Now.Sub(c.Origin.Taken)).Round(time.Second)
	}
	where = render.Harmless(c.Origin.Location)
	if c.Origin.Root != "" {
		where = render.Harmless(c.Origin.Root) + " @ " + where
	}
	state = OriginText(v) + "  " + ResponseText(c.Runtime)
	if d.Preflight != nil {
		state = d.Preflight.Text() + "  " + state
	}
	if n := len(d.Report.Unsettled); n > 0 {
		state += "  " + words.Plural(n, "collection") + " changed meanwhile: checked with metadata only"
	}
	return where, state
}

// changeText returns the change of a finding since the older state, or "" without an older state. "new?" means
// that the older state could not be checked for the finding.
func (d *Diagnosis) changeText(f *check.Finding) string {
	c := d.Since.ChangeOf(f)
	switch {
	case c == nil:
		return ""
	case c.Kind == check.Unsure:
		return "new?"
	}
	return c.Kind.String()
}

// sinceText counts the changes since the older state, e.g. "since old.kite: 1 new, 2 same, 1 gone".
func (d *Diagnosis) sinceText() string {
	counts := make(map[check.ChangeKind]int)
	for _, c := range d.Since.Changes {
		counts[c.Kind]++
	}
	words := map[check.ChangeKind]string{check.Unsure: "new or not seen before", check.Lost: "can no longer be checked"}
	var parts []string
	for _, k := range []check.ChangeKind{
		check.New, check.Unsure, check.Worse, check.Better, check.Same, check.Gone, check.Lost,
	} {
		if counts[k] == 0 {
			continue
		}
		word := words[k]
		if word == "" {
			word = k.String()
		}
		parts = append(parts, strconv.Itoa(counts[k])+" "+word)
	}
	if len(parts) == 0 {
		parts = []string{"no findings then or now"}
	}
	return "since " + render.Harmless(d.Since.Before.Cluster.Origin.Location) + ": " + strings.Join(parts, ", ")
}
