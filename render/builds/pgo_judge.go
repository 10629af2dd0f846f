package builds

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/profiles"
)

// WriteJudgement writes whether a build with profiles is worthwhile, and why.
func WriteJudgement(w io.Writer, j *pgo.Judgement, f render.Format, o render.ReportOptions) error {
	if f.Name() == "markdown" {
		o.Width = 0
	}
	return newJudgementSheet(j, &o).Write(w, f)
}

// JudgementVerdict returns the mark and role of a verdict. The mark makes the verdict clear without color.
func JudgementVerdict(v pgo.Verdict, ascii bool) (mark string, role render.Role) {
	switch v {
	case pgo.WorthBuilding:
		role = render.RoleGood
	case pgo.LittleToGain:
		role = render.RoleWarn
	case pgo.Unfit:
		role = render.RoleBad
	}
	return render.Glyph(role, ascii), role
}

// BoundText describes the maximum gain from PGO. It gives no lower bound, because PGO can make programs slower.
func BoundText(r *pgo.Reach) string {
	if !reachKnown(r) {
		return "bound: ? (the profile does not show where time goes)"
	}
	return "bound: at most " + PercentOfAll(r.Ceiling) + " of CPU time, as " + PercentOfAll(r.Total) +
		" is spent in compiled Go code; no lower bound: PGO can make programs slower"
}

// reachKnown reports whether the shares are known. They are unknown, not 0, in a profile without samples.
func reachKnown(r *pgo.Reach) bool {
	return r.Go+r.Runtime+r.GC+r.Assembly+r.Syscall+r.Native+r.Unknown > 0
}

// JudgementSchema returns the schema of the profiles that WriteJudgement writes.
func JudgementSchema(render.ReportOptions) *table.Schema {
	return assessedTable(&pgo.Judgement{}).Schema()
}

func newJudgementSheet(j *pgo.Judgement, o *render.ReportOptions) *render.Sheet {
	asked := render.Select(o, assessedTable(j), func(i int) any { return i }) // the limit applies to hot calls
	s := &render.Sheet{
		Kind: "Judgement", Options: o, Head: judgementHead(j, o),
		About: func(e *encode.Encoder) { writeJudgementHead(e, j, o) },
		Items: asked.Items, Nested: func(e *encode.Encoder, i int) { e.Entry("refusals", j.Profiles[i].Refusals) },
	}
	if len(j.Profiles) > 0 {
		part := asked.List("")
		part.Head = append(assessedLines(j, o), part.Head...)
		s.Parts = append(s.Parts, part)
	}
	if figuresKnown(j) {
		s.Parts = append(s.Parts, figuresPart(j, o))
	}
	if len(j.Hot) > 0 {
		s.Parts = append(s.Parts, hotPart(j, o))
	}
	if len(j.Risks) > 0 {
		s.Parts = append(s.Parts, render.Part{Head: riskLines(j, o)})
	}
	return s
}

// figuresKnown reports whether the figures are known. They are unknown, not 0, if no profile could be read.
func figuresKnown(j *pgo.Judgement) bool {
	return j.Events >= 0 || j.Edges != nil && len(j.Edges.Weight) > 0
}

// judgementHead returns the verdict, its reason and hints.
func judgementHead(j *pgo.Judgement, o *render.ReportOptions) []render.Line {
	mark, role := JudgementVerdict(j.Verdict, o.ASCII)
	line := render.Line{Role: role, Text: mark + " " + j.Verdict.String()}
	if j.Reason != "" {
		line.After = []render.Piece{{Role: render.RolePlain, Text: ": " + render.Harmless(j.Reason)}}
	}
	lines := []render.Line{line}
	if hint := ReasonHint(j); hint != "" {
		lines = append(lines, hintLine(hint))
	}
	lines = append(lines, refusalLines(j.Refusals, render.RoleBad, "", j.Reason, o)...)
	lines = append(lines, refusalLines(j.Cautions, render.RoleWarn, "", j.Reason, o)...)
	if j.Verdict != pgo.Unfit || reachKnown(&j.Reach) {
		lines = append(lines, render.Line{Text: BoundText(&j.Reach)})
	}
	return lines
}

// ReasonHint returns the hint of the refusal or caution that is the reason of the verdict, or "" without a
// hint.
func ReasonHint(j *pgo.Judgement) string {
	lists := [][]pgo.Refusal{j.Refusals, j.Cautions}
	if len(j.Profiles) == 1 {
		lists = append(lists, j.Profiles[0].Refusals)
	}
	for _, list := range lists {
		for i := range list {
			if list[i].Message == j.Reason && list[i].Hint != "" {
				return list[i].Hint
			}
		}
	}
	return ""
}

func hintLine(hint string) render.Line {
	return render.Line{Role: render.RoleDim, Text: "    " + render.Harmless(hint)}
}

// refusalLines returns lines with refusals or cautions and their hints, except the one that is the reason of
// the verdict.
func refusalLines(
	list []pgo.Refusal, role render.Role, whose, reason string, o *render.ReportOptions,
) (lines []render.Line) {
	for i := range list {
		r := &list[i]
		if r.Message == reason {
			continue
		}
		lines = append(lines, render.Line{
			Role: role, Text: render.Glyph(role, o.ASCII) + " ",
			After: []render.Piece{{Role: render.RolePlain, Text: whose + render.Harmless(r.Message)}},
		})
		if r.Hint != "" {
			lines = append(lines, hintLine(r.Hint))
		}
	}
	return lines
}

// AlreadyReported reports whether the judgement already contains the refusal of a profile, either as a refusal of all
// profiles or as a caution that names the profile.
func AlreadyReported(j *pgo.Judgement, r *pgo.Refusal) bool {
	said := func(x pgo.Refusal) bool { return strings.HasSuffix(x.Message, r.Message) && x.Hint == r.Hint }
	return slices.ContainsFunc(j.Refusals, said) || slices.ContainsFunc(j.Cautions, said)
}

// assessedName returns the name of a profile.
func assessedName(a *pgo.Assessment) string {
	if a.Input == nil {
		return words.UnknownMark
	}
	return render.OrUnknown(a.Input.Name)
}

// assessedLines returns lines with the refusals of each profile, to be shown above the table of profiles.
func assessedLines(j *pgo.Judgement, o *render.ReportOptions) (lines []render.Line) {
	for i := range j.Profiles {
		a := &j.Profiles[i]
		whose := ""
		if len(j.Profiles) > 1 {
			whose = assessedName(a) + ": "
		}
		if a.Input != nil && a.Input.Err != nil && len(a.Refusals) == 0 {
			lines = append(lines, render.Line{
				Role: render.RoleBad, Text: render.Glyph(render.RoleBad, o.ASCII) + " ",
				After: []render.Piece{{Role: render.RolePlain, Text: whose + render.Harmless(a.Input.Err.Error())}},
			})
		}
		list := slices.DeleteFunc(slices.Clone(a.Refusals), func(r pgo.Refusal) bool {
			return AlreadyReported(j, &r) || whose == "" && r.Message == j.Reason
		})
		lines = append(lines, refusalLines(list, render.RoleBad, whose, "", o)...)
	}
	if len(lines) > 0 {
		lines = append(lines, render.Line{})
	}
	return lines
}

// usableText marks a profile that can be used for a build, even if the gain is small.
const usableText = "yes"

func assessedText(a *pgo.Assessment) string {
	switch unread := a.Input != nil && a.Input.Err != nil; {
	case len(a.Refusals) > 0:
	case unread:
		return "unreadable"
	default:
		return usableText
	}
	text := render.Harmless(a.Refusals[0].ID)
	if more := len(a.Refusals) - 1; more > 0 {
		text += " +" + strconv.Itoa(more)
	}
	return text
}

// timeUsed formats a time in nanoseconds, or returns "?" if it is not positive.
func timeUsed(ns int64) string {
	if ns <= 0 {
		return words.UnknownMark
	}
	return profiles.Scaled(ns, "nanoseconds")
}

// judgedFigure is a line of the table of figures.
type judgedFigure struct {
	name, value, threshold string
	// ok indicates that the figure meets the threshold, if any.
	ok bool
}

func figuresPart(j *pgo.Judgement, o *render.ReportOptions) render.Part {
	least := []string{"≥ ", ">= "}[render.BoolInt(o.ASCII)]
	list := []judgedFigure{{name: "samples", value: render.EventCount(j.Events), ok: j.Events >= j.Thresholds.Events}}
	if j.Thresholds.Events > 0 {
		list[0].threshold = least + strconv.FormatInt(j.Thresholds.Events, 10)
	}
	cpu := judgedFigure{name: "CPU time", value: timeUsed(int64(j.CPU))}
	if j.Duration > 0 {
		cpu.name += " over " + profiles.Scaled(int64(j.Duration), "nanoseconds")
	}
	list = append(list, cpu, judgedFigure{name: "samples in asyncPreempt (folded)", value: PercentOfAll(j.Preempted)})
	if j.Edges != nil {
		list = append(list, judgedFigure{name: "calls (edges)", value: strconv.Itoa(len(j.Edges.Weight))}, judgedFigure{
			name: "hot calls", value: strconv.Itoa(j.HotEdges),
		})
	}
	if j.HotEdges > 0 {
		list = append(list, judgedFigure{name: "hot calls with fewer than 5 samples", value: PercentOfAll(j.FewHits)})
	}
	bound := judgedFigure{name: "maximum possible gain", value: words.UnknownMark}
	if reachKnown(&j.Reach) {
		bound.value, bound.ok = PercentOfAll(j.Reach.Ceiling), j.Reach.Ceiling >= j.Thresholds.Ceiling
	}
	if j.Thresholds.Ceiling > 0 {
		bound.threshold = least + PercentOfAll(j.Thresholds.Ceiling)
	}
	list = append(list, bound)
	look := func(i int) render.Role {
		if list[i].threshold == "" {
			return render.RolePlain
		}
		return []render.Role{render.RoleWarn, render.RoleGood}[render.BoolInt(list[i].ok)]
	}
	return render.Part{List: render.PositionGrid(len(list), []table.ColumnOf[int]{
		{Column: table.Column{Title: "FIGURE", Shorten: true}, Shown: func(i int) string { return list[i].name }},
		{Column: table.Column{AlignRight: true}, Role: look, Shown: func(i int) string { return list[i].value }},
		{Role: look, Shown: func(i int) string {
			if list[i].threshold == "" {
				return ""
			}
			return render.Glyph(look(i), o.ASCII)
		}},
		{Column: table.Column{Title: "WANTED"}, Shown: func(i int) string { return list[i].threshold }},
	})}
}
