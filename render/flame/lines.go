package flame

import (
	"fmt"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/render/profiles"
)

// Lines returns the description of a frame: its name, its values on each side, and the significance of its
// change.
func Lines(t *flame.Tree, frame int32) []string {
	f, root := &t.Frames[frame], t.Root()
	unit := t.Type.Unit
	side := func(label string, total, self, whole int64) string {
		return fmt.Sprintf("%s%s (%s), self %s (%s)", label, profiles.Scaled(total, unit),
			words.Percent(100*part64(total, whole)), profiles.Scaled(self, unit),
			words.Percent(100*part64(self, whole)))
	}
	lines := []string{cutName(t.NameOf(f))}
	if !t.Diff {
		lines = append(lines, side("", f.Total, f.Self, root.Total))
	} else {
		lines = append(lines, side("before ", f.Base, f.BaseSelf, root.Base),
			side("after ", f.Total, f.Self, root.Total), changeLine(t, f))
		if frame > 0 || t.Hypothesis == report.EqualRates {
			lines = append(lines, verdictLine(t, frame))
		}
	}
	if where := cutName(t.Files[f.Name]); where != "" {
		lines = append(lines, t.Classes[f.Name].String()+", "+where)
	} else if library := cutName(t.Libraries[f.Name]); library != "" {
		lines = append(lines, t.Classes[f.Name].String()+", "+library)
	}
	return lines
}

func changeLine(t *flame.Tree, f *flame.Frame) string {
	change := f.Total - f.Base
	line := fmt.Sprintf("change %s, %s of total",
		profiles.ScaledChange(change, t.Type.Unit), profiles.SignedPercent(100*changeOf(t, f)))
	switch {
	case change == 0:
		return line
	case f.Base == 0:
		return line + ", new"
	case f.Total == 0:
		return line + ", vanished"
	}
	return line + ", " + profiles.SignedPercent(100*float64(change)/float64(f.Base)) + " vs. before"
}

func verdictLine(t *flame.Tree, frame int32) string {
	switch t.Verdict(frame) {
	case report.Undecided:
		return "significance unknown: the number of samples is not known"
	case report.Noise:
		return "within noise, " + pValueText(t.PValues[frame])
	default:
		return "significant, " + pValueText(t.PValues[frame])
	}
}

func pValueText(p float64) string {
	text := render.PValueText(p)
	if below, ok := strings.CutPrefix(text, "<"); ok {
		return "p < " + below
	}
	return "p = " + text
}
