package profiles

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// judgeLine is a line of a judgePage.
type judgeLine struct {
	text string // plain
	full string // of a paragraph, on its first line: not broken, not cut
	look draw.Look
	role render.Role // where look is plain
	part judgePart
	at   int // which profile
	edge *pgo.HotEdge
}

// judgePart is what a line is about.
type judgePart uint8

const (
	ofNothing judgePart = iota
	ofProfile
	ofEdge
	ofText      // the first line of a paragraph
	ofParagraph // its other lines
)

func (l *judgeLine) style(st *draw.Styles) draw.Style {
	if l.look != draw.LookPlain {
		return draw.LookStyle(st, l.look)
	}
	if l.role == render.RolePlain {
		return draw.Style{}
	}
	return st.Roles[l.role]
}

// layOut makes the lines of the page for a width.
func (p *judgePage) layOut(w int) {
	p.lines, p.At, p.madeFor = p.lines[:0], p.At[:0], w
	j := p.short
	p.verdict(j, w)
	if p.edges.Filter == "" {
		p.speaks("SPEAKS AGAINST IT", render.RoleBad, unsaid(j.Refusals, j.Reason), w)
		p.speaks("LOOK TWICE", render.RoleWarn, unsaid(j.Cautions, j.Reason), w)
		p.risks(j.Risks, w)
		p.together(j, w)
	}
	p.profiles(j, w)
	if p.edges.Filter == "" {
		p.overlaps(j, w)
	}
	p.hot(j, w)
	for i := range p.lines {
		if x := p.lines[i].part; x != ofNothing && x != ofParagraph {
			p.At = append(p.At, i)
		}
	}
}

func (p *judgePage) add(look draw.Look, text string) {
	p.lines = append(p.lines, judgeLine{text: text, look: look})
}

// heading starts a section.
func (p *judgePage) heading(title, about string) {
	p.add(draw.LookPlain, "")
	if about != "" {
		title += "  " + about
	}
	p.add(draw.LookTitle, title)
}

// paragraph is a text behind a sign, in as many lines as it needs.
func (p *judgePage) paragraph(role render.Role, sign, text string, w int) {
	for i, line := range draw.Prose(text, w-2-draw.Width(sign)) {
		l := judgeLine{text: draw.Pad(draw.Width(sign)) + line, role: role, part: ofParagraph}
		if i == 0 {
			l.text, l.full, l.part = sign+line, words.Harmless(words.OneLine(text)), ofText
		}
		p.lines = append(p.lines, l)
	}
}

// advice stands below the paragraph that it belongs to.
func (p *judgePage) advice(text string, w int) {
	for i, line := range draw.Prose(text, w-6) {
		l := judgeLine{text: "    " + line, look: draw.LookDim, part: ofParagraph}
		if i == 0 {
			l.full = words.Harmless(words.OneLine(text))
		}
		p.lines = append(p.lines, l)
	}
}

func (p *judgePage) verdict(j *pgo.Judgement, w int) {
	mark, role := builds.JudgementVerdict(j.Verdict, p.ascii)
	text := j.Verdict.String()
	if j.Reason != "" {
		text += ": " + j.Reason
	}
	p.paragraph(role, mark+" ", text, w)
	p.advice(builds.ReasonHint(j), w)
	if j.Verdict != pgo.Unfit || measured(j) {
		p.paragraph(render.RolePlain, "", builds.BoundText(&j.Reach), w)
	}
}

// unsaid is what speaks against profiles without what the verdict gives as its reason.
func unsaid(list []pgo.Refusal, reason string) []pgo.Refusal {
	return slices.DeleteFunc(slices.Clone(list), func(r pgo.Refusal) bool { return r.Message == reason })
}

// speaks lists what speaks against the profiles.
func (p *judgePage) speaks(title string, role render.Role, list []pgo.Refusal, w int) {
	if len(list) == 0 {
		return
	}
	p.heading(title, "")
	for _, r := range list {
		p.refusal(role, r, w)
	}
}

// refusal is one thing that speaks against profiles, or one of them, with what helps.
func (p *judgePage) refusal(role render.Role, r pgo.Refusal, w int) {
	p.paragraph(role, render.Glyph(role, p.ascii)+" ", r.Message+" ("+r.ID+")", w)
	p.advice(r.Hint, w)
}

func (p *judgePage) risks(list []pgo.Risk, w int) {
	if len(list) == 0 {
		return
	}
	p.heading("RISKS", "known to have hurt programs")
	for _, r := range list {
		text := r.Message
		if r.Source != "" {
			text += " (" + r.Source + ")"
		}
		p.paragraph(render.RoleWarn, render.Glyph(render.RoleWarn, p.ascii)+" ", text, w)
		if r.Block != "" {
			p.advice(shellquote.Shell("kitescope", "pgo", "pack").Flag("--block", r.Block).String()+" avoids it", w)
		}
	}
}

// together is what all profiles that could be read are worth.
func (p *judgePage) together(j *pgo.Judgement, w int) {
	if !measured(j) {
		return
	}
	p.heading("TOGETHER", "")
	p.paragraph(render.RolePlain, "", judgedText(j), w)
	if text := reachText(&j.Reach); text != "" {
		p.paragraph(render.RolePlain, "", text, w)
	}
}

// judgedText is how much was sampled, and how many calls are hot.
func judgedText(j *pgo.Judgement) string {
	text := countOf(j.Events) + " samples"
	if j.Thresholds.Events > 0 {
		text += " (" + words.Number(j.Thresholds.Events) + " are wanted)"
	}
	if j.CPU > 0 {
		text += ", " + seconds(j.CPU.Seconds()) + " of CPU time"
	}
	if j.Duration > 0 {
		text += " over " + seconds(j.Duration.Seconds())
	}
	if j.Preempted > 0 {
		text += "; " + builds.PercentOfAll(j.Preempted) + " in asyncPreempt, counted for what it interrupted"
	}
	if j.Edges == nil || len(j.Edges.Weight) == 0 {
		return text
	}
	text += "; " + words.Plural(len(j.Edges.Weight), "call") + " (edges), " + words.Number(j.HotEdges) + " of them hot"
	if j.HotEdges > 0 {
		text += ", " + builds.PercentOfAll(j.FewHits) + " of those with fewer than 5 samples"
	}
	return text
}

// reachText is where the time goes, "" if nothing says so.
func reachText(r *pgo.Reach) string {
	var parts []string
	for _, x := range []struct {
		name  string
		share float64
	}{{"Go", r.Go}, {"runtime", r.Runtime}, {"garbage collector", r.GC}, {"assembly", r.Assembly}, {"system calls", r.Syscall}, {"native code", r.Native}, {"unknown", r.Unknown}} {
		if x.share > 0 {
			parts = append(parts, x.name+" "+builds.PercentOfAll(x.share))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the time goes to: " + strings.Join(parts, ", ")
}

// measured reports whether there are figures: there are none where no profile could be read, or is one that Go takes.
func measured(j *pgo.Judgement) bool { return j.Events >= 0 || reachText(&j.Reach) != "" }

// profiles is the table of profiles, each with what speaks against it below.
func (p *judgePage) profiles(j *pgo.Judgement, w int) {
	var rows []int
	for i := range j.Profiles {
		if p.edges.Filter == "" || strings.Contains(strings.ToLower(p.names[i]), p.edges.Filter) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return
	}
	p.heading("PROFILES", "reach: in compiled Go; bound: most to gain; enter: flame graph")
	header, lines := tui.LayRows(p.assessedColumns(), rows, tui.SortMark{Column: -1}, w-2)
	p.add(draw.LookHead, header)
	for i, text := range lines {
		a := &j.Profiles[rows[i]]
		l := judgeLine{text: text, part: ofProfile, at: rows[i]}
		if len(a.Refusals) > 0 || a.Input.Err != nil {
			l.role = render.RoleBad
		}
		p.lines = append(p.lines, l)
		for _, r := range a.Refusals {
			if said := builds.SaidOfAll(j, &r) || len(j.Profiles) == 1 && r.Message == j.Reason; !said || p.edges.Filter != "" {
				p.refusal(render.RoleBad, r, w)
			}
		}
		if a.Input.Err != nil && len(a.Refusals) == 0 {
			p.paragraph(render.RoleBad, render.Glyph(render.RoleBad, p.ascii)+" ", profileTrouble(a.Input.Err), w)
		}
	}
}

// assessedNames are what profiles are called, with the process where the file does not name it.
func assessedNames(list []pgo.Assessed) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = words.Harmless(list[i].Input.Name)
		if node := words.Harmless(list[i].Input.Node); !strings.Contains(names[i], node) {
			names[i] = node + " " + names[i]
		}
	}
	return names
}

// assessedColumns are those of the profiles, by their positions.
func (p *judgePage) assessedColumns() []tui.Column[int] {
	read := func(text func(a *pgo.Assessed) string) func(i int) string {
		return func(i int) string {
			if a := &p.made.Profiles[i]; a.Input.Profile != nil {
				return text(a)
			}
			return words.UnknownMark
		}
	}
	share := func(of func(r *pgo.Reach) float64) func(i int) string {
		return read(func(a *pgo.Assessed) string {
			if reachText(&a.Reach) == "" { // without samples there are no shares
				return words.UnknownMark
			}
			return words.Share(of(&a.Reach))
		})
	}
	return []tui.Column[int]{
		tui.PlainColumn("PROFILE", table.Text, 0, func(i int) string { return p.names[i] }),
		tui.PlainColumn("SAMPLES", table.Int, 0, read(func(a *pgo.Assessed) string { return countOf(a.Events) })),
		tui.PlainColumn("CPU", table.Duration, 2, read(func(a *pgo.Assessed) string { return timeOf(a.CPU) })),
		tui.PlainColumn("WINDOW", table.Duration, 5, read(func(a *pgo.Assessed) string { return timeOf(a.Duration) })),
		tui.PlainColumn("REACH", table.Percent, 1, share(func(r *pgo.Reach) float64 { return r.Total })),
		tui.PlainColumn("NATIVE", table.Percent, 3, share(func(r *pgo.Reach) float64 { return r.Native })),
		tui.PlainColumn("BOUND", table.Percent, 0, share(func(r *pgo.Reach) float64 { return r.Ceiling })),
		tui.PlainColumn("GO VERSION", table.Text, 6, func(i int) string {
			return cmp.Or(words.Harmless(p.made.Profiles[i].Input.GoVersion), words.UnknownMark)
		}),
	}
}

// countOf is a number of samples, "?" if it is unknown.
func countOf(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return words.Number(n)
}

// timeOf is a time, "?" if it is unknown.
func timeOf(d time.Duration) string {
	if d <= 0 {
		return words.UnknownMark
	}
	return seconds(d.Seconds())
}

// mostOverlaps is how many overlaps are listed: among many nodes there are as many as pairs.
const mostOverlaps = 60

func (p *judgePage) overlaps(j *pgo.Judgement, w int) {
	if len(j.Overlaps) == 0 {
		return
	}
	p.heading("OVERLAP", "of calls of two profiles: 1 if they are equal, "+digits(j.Thresholds.Overlap)+" is wanted")
	for _, o := range j.Overlaps[:min(mostOverlaps, len(j.Overlaps))] {
		share, role := digits(o.Share), render.RolePlain
		if math.IsNaN(o.Share) {
			share = words.UnknownMark
		}
		text := share + "  " + strings.TrimPrefix(builds.OverlapText(&o), "overlap of ")
		if o.Share < j.Thresholds.Overlap {
			role = render.RoleWarn
			text += " " + render.Glyph(role, p.ascii)
		}
		p.paragraph(role, "", text, w)
	}
	if n := len(j.Overlaps) - mostOverlaps; n > 0 {
		p.add(draw.LookDim, words.Number(n)+" more")
	}
}
