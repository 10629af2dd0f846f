package replays

import (
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// replayLive is how far a feed is.
type replayLive struct {
	stages  []replayStage
	load    replay.LoadProgress
	run     replay.RunProgress
	samples []float64 // queries per second, one each sampleEvery
	sampled time.Time
	points  []livePoint // those that are over, in their order

	stopping, over bool
	ticking        bool // the clock of the stage runs
}

// replayStage is a step that was begun; the last one is under way.
type replayStage struct {
	name string
	from time.Time
	took time.Duration // 0: it is not over
}

// livePoint is what was last heard of a point.
type livePoint struct {
	run replay.RunProgress
}

// Samples of a chart of what goes on.
const (
	sampleEvery = 500 * time.Millisecond
	mostSamples = 400
)

// take notes what a feed says.
func (l *replayLive) take(u *Update, now time.Time) {
	if name := u.stage(); len(l.stages) == 0 || l.stages[len(l.stages)-1].name != name {
		l.endStage(now)
		l.stages = append(l.stages, replayStage{name: name, from: now})
	}
	if u.Load != nil {
		l.load = *u.Load
	}
	if u.Run == nil {
		return
	}
	if u.Run.Stage != "load" {
		l.run.Stage = u.Run.Stage
		return
	}
	if l.run.Stage == "load" && u.Run.Point != l.run.Point && l.run.Load.Asked > 0 {
		l.points = append(l.points, livePoint{l.run})
	}
	l.run = *u.Run
	if l.run.Load.Asked > 0 && now.Sub(l.sampled) >= sampleEvery {
		l.sampled = now
		l.samples = append(l.samples, l.run.Load.QPS)
		if n := len(l.samples) - mostSamples; n > 0 {
			l.samples = l.samples[n:]
		}
	}
}

func (l *replayLive) endStage(now time.Time) {
	if n := len(l.stages); n > 0 {
		l.stages[n-1].took = max(1, now.Sub(l.stages[n-1].from))
	}
}

// tick draws the time that a stage takes anew each second, as long as one is under way.
func (l *replayLive) tick(m *tui.Model) tui.Cmd {
	if l.ticking || l.over {
		return nil
	}
	l.ticking = true
	return m.After(time.Second, replayTickMsg{l})
}

type replayTickMsg struct{ live *replayLive }

func (t replayTickMsg) Apply(m *tui.Model) tui.Cmd {
	t.live.ticking = false
	return t.live.tick(m)
}

// draw lays out what goes on in at most h lines of w cells: what matters least gives way.
func (l *replayLive) draw(m *tui.Model, w, h int) []draw.Line {
	now, ascii := m.Config.Now(), m.Config.ASCII
	if len(l.stages) == 0 {
		return []draw.Line{{}, {{Role: render.RoleDim, Text: "…"}}}
	}
	lines := l.stageLines(now, w, max(1, min(h/3, 6)), ascii)
	if l.run.Stage == "load" {
		lines = append(lines, draw.Line{})
		lines = append(lines, l.runLines(w, ascii)...)
		room := h - len(lines) - 1
		done := l.pointLines(w, max(0, room/3), ascii)
		room -= len(done)
		if len(done) > 0 {
			room--
		}
		if chart := l.chart(w, min(room, 16), ascii); len(chart) > 0 {
			lines = append(append(lines, draw.Line{}), chart...)
		}
		if len(done) > 0 && len(lines)+1+len(done) <= h {
			lines = append(append(lines, draw.Line{}), done...)
		}
	}
	for i := range lines {
		lines[i] = lines[i].CutTo(w)
	}
	return lines[:min(h, len(lines))]
}

// stageLines are the last steps, and what is known of each.
func (l *replayLive) stageLines(now time.Time, w, most int, ascii bool) []draw.Line {
	var lines []draw.Line
	for i := max(0, len(l.stages)-most); i < len(l.stages); i++ {
		s := &l.stages[i]
		role, took := render.RoleGood, s.took
		if s.took == 0 {
			role, took = render.RoleProgress, now.Sub(s.from).Truncate(time.Second)
		}
		text := ""
		if s.name == "segments" {
			text = segmentsText(&l.load)
		}
		line := draw.Line{{Role: role, Text: " " + render.Glyph(role, ascii) + " "}, {Role: render.RolePlain, Text: draw.FitName(stageText(s.name), max(20, min(24, w/3))) + " "}}
		end := " " + briefly(took, ascii)
		lines = append(lines, append(line, draw.Piece{Role: render.RolePlain, Text: draw.Fit(text, max(0, w-line.Width()-10))}, draw.Piece{Role: render.RoleDim, Text: draw.FitRight(end, 9)}))
	}
	return lines
}

func stageText(name string) string {
	switch name {
	case "segments":
		return "read segments"
	case "true neighbours", "answers":
		return "find " + name
	}
	return words.Harmless(words.OneLine(name))
}

// segmentsText is how far the reading of segments is.
func segmentsText(p *replay.LoadProgress) string {
	text := words.Number(p.Done) + " of " + words.Number(p.Of) + ", " + words.Bytes(p.Bytes)
	if p.Missing > 0 {
		text += ", " + words.Number(p.Missing) + " missing"
	}
	return text + ", " + words.Number(p.Rows) + " rows"
}

// profiles.runLines are the point, its round, and its figures.
func (l *replayLive) runLines(w int, ascii bool) []draw.Line {
	r, p := &l.run, &l.run.Load
	const label = 9
	bar := max(8, min(48, w-label-30))
	row := func(name string, share float64, text string) draw.Line {
		return draw.Line{{Role: render.RoleDim, Text: draw.Fit(" "+name, label)}, {Role: render.RoleProgress, Text: meter(share, bar, ascii)}, {Role: render.RolePlain, Text: draw.Cut("  "+text, w-label-bar)}}
	}
	load := words.Plural(r.Sessions, "session")
	if r.EF > 0 {
		load += ", ef " + words.Number(r.EF)
	}
	var lines []draw.Line
	round := partOfTime(p.Elapsed, p.Of)
	if r.Points > 1 {
		part := 0.0
		if !p.Warming {
			part = (float64(p.Round) + round) / float64(max(1, p.Rounds))
		}
		lines = append(lines, row("point", (float64(r.Point)+part)/float64(r.Points), words.Number(r.Point+1)+" of "+words.Number(r.Points)+": "+load))
	} else {
		lines = append(lines, draw.Line{{Role: render.RoleDim, Text: draw.Fit(" load", label)}, {Role: render.RolePlain, Text: load}})
	}
	text := "round " + words.Number(p.Round+1) + " of " + words.Number(max(p.Rounds, p.Round+1))
	if p.Warming {
		text = "warming up"
	}
	if p.Of > 0 {
		text += ", " + clock(p.Elapsed) + " of " + clock(p.Of)
	}
	lines = append(lines, row("round", round, text))
	figures := draw.Line{{Role: render.RoleDim, Text: draw.Fit(" QPS", label)}}
	if p.Asked == 0 {
		return append(lines, append(figures, draw.Piece{Role: render.RolePlain, Text: "?"}))
	}
	figures = append(figures, draw.Piece{Role: render.RoleTitle, Text: words.ThreeDigits(p.QPS)}, draw.Piece{Role: render.RolePlain, Text: "   p50 " + words.Latency(p.P50, ascii) + "   p99 " + words.Latency(p.P99, ascii)})
	fails := draw.Piece{Role: render.RoleDim, Text: "   fails 0 of " + words.Number(p.Asked)}
	if p.Failed > 0 {
		fails = draw.Piece{Role: render.RoleBad, Text: "   " + render.Glyph(render.RoleBad, ascii) + " fails " + words.Number(p.Failed) + " of " + words.Number(p.Asked)}
	}
	if figures.Width()+draw.Width(fails.Text) > w {
		return append(lines, figures, draw.Line{{Role: fails.Role, Text: draw.Cut(" "+strings.TrimSpace(fails.Text), w)}})
	}
	return append(lines, append(figures, fails))
}

func partOfTime(d, of time.Duration) float64 {
	if of <= 0 {
		return 0
	}
	return max(0, min(1, float64(d)/float64(of)))
}

// clock is a time that is watched: in whole seconds once it has some.
func clock(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// briefly is how long a step took.
func briefly(d time.Duration, ascii bool) string {
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Minute && d%time.Second == 0:
		return words.Number(int(d/time.Second)) + " s"
	}
	return words.Latency(d, ascii)
}

// meter is how much of something is done.
func meter(share float64, w int, ascii bool) string {
	full, empty := "█", "░"
	if ascii {
		full, empty = "#", "."
	}
	n := max(0, min(w, int(share*float64(w)+0.5)))
	return strings.Repeat(full, n) + strings.Repeat(empty, w-n)
}

// chart is the queries per second of the last while.
func (l *replayLive) chart(w, h int, ascii bool) []draw.Line {
	if h < 3 || len(l.samples) < 2 {
		return nil
	}
	most := 0.0
	for _, x := range l.samples {
		if draw.Drawable(x) {
			most = max(most, x)
		}
	}
	label := draw.Width(words.ThreeDigits(most)) + 2
	room := max(8, w-label-2)
	list := l.samples[max(0, len(l.samples)-room):]
	span := time.Duration(len(list)) * sampleEvery
	lines := []draw.Line{{{Role: render.RoleTitle, Text: " QPS"}, {Role: render.RoleDim, Text: draw.Cut(", the last "+span.Round(time.Second).String(), w-4)}}}
	return append(lines, columnLines(list, most, h-1, label, ascii)...)
}

// columnLines draws values as columns with a scale at the left.
func columnLines(list []float64, most float64, h, label int, ascii bool) []draw.Line {
	drawn := columns(list, most, h, ascii)
	lines := make([]draw.Line, 0, h)
	for i, cells := range drawn {
		text := ""
		switch i {
		case 0:
			text = words.ThreeDigits(most)
		case len(drawn) - 1:
			text = "0"
		}
		lines = append(lines, draw.Line{{Role: render.RoleDim, Text: draw.FitRight(text, label) + axisSign(ascii)}, {Role: render.RoleAccent, Text: cells}})
	}
	return lines
}

func axisSign(ascii bool) string {
	if ascii {
		return "|"
	}
	return "┤"
}

// pointLines are the points that are over, the last at the end, as they were last heard of.
func (l *replayLive) pointLines(w, most int, ascii bool) []draw.Line {
	if len(l.points) == 0 || most < 3 {
		return nil
	}
	lines := []draw.Line{{{Role: render.RoleTitle, Text: " done"}, {Role: render.RoleDim, Text: draw.Cut(", as last heard of", w-6)}}}
	for i := max(0, len(l.points)-most+1); i < len(l.points); i++ {
		r := &l.points[i].run
		p := &r.Load
		text := " " + draw.FitRight(words.Number(r.Point+1), 3) + "  " + draw.FitRight(words.Plural(r.Sessions, "session"), 12)
		if r.EF > 0 {
			text += "  ef " + draw.FitRight(words.Number(r.EF), 5)
		}
		text += "  " + draw.FitRight(words.ThreeDigits(rate(p)), 8) + " requests/s   p99 " + words.Latency(p.P99, ascii)
		role := render.RolePlain
		if p.Failed > 0 {
			role = render.RoleBad
			text += "   fails " + words.Number(p.Failed)
		}
		lines = append(lines, draw.Line{{Role: role, Text: draw.Cut(text, w)}})
	}
	return lines
}

// rate is what was answered of the last round until it was last heard of.
func rate(p *load.Progress) float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Asked-p.Failed) / p.Elapsed.Seconds()
}
