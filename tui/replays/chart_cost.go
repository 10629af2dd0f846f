package replays

import (
	"cmp"
	"slices"
	"time"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/tui/draw"
)

// costGroup is what segments cost together.
type costGroup struct {
	name     string
	segments int
	rows     int64 // -1 unknown
	time     time.Duration
	states   [3]time.Duration
}

// costGroups adds segments up by what of says of them, the dearest first.
func costGroups(c *replay.Costs, of func(*replay.SegmentCost) string) []costGroup {
	var list []costGroup
	at := map[string]int{}
	for i := range c.Segments {
		s := &c.Segments[i]
		name := of(s)
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name] = k
			list = append(list, costGroup{name: name})
		}
		g := &list[k]
		g.segments++
		g.time += s.Time
		if g.rows < 0 || s.Rows < 0 {
			g.rows = -1
		} else {
			g.rows += s.Rows
		}
		if int(s.State) < len(g.states) {
			g.states[s.State] += s.Time
		}
	}
	slices.SortStableFunc(list, func(a, b costGroup) int { return cmp.Compare(b.time, a.time) })
	return list
}

// costBars are what nodes cost, apart by state, then indexes and states, as far as there is room.
func costBars(c *replay.Costs, w, h int, ascii bool) []draw.Line {
	lines := []draw.Line{chartTitle("Time in segments", " of a query; "+replays.StateLegend(ascii), w)}
	for _, by := range []struct {
		title string
		of    func(*replay.SegmentCost) string
	}{
		{"node", replays.CostNode},
		{"state", func(s *replay.SegmentCost) string { return replays.StateText(s.State) }},
		{"index", replays.CostIndex},
	} {
		list := costGroups(c, by.of)
		room := h - len(lines) - 1
		if room < 1 || len(lines) > 1 && room < min(len(list)+1, 4) {
			break
		}
		if len(lines) > 1 {
			lines = append(lines, draw.Line{})
			room--
		}
		lines = append(lines, groupLines(by.title, list, c, w, room, ascii)...)
	}
	return lines[:min(len(lines), h)]
}

// groupLines are a heading and groups below it, each with a bar; those beyond most are counted.
func groupLines(title string, list []costGroup, c *replay.Costs, w, most int, ascii bool) []draw.Line {
	title = "by " + title
	name, all := draw.Width(title), time.Duration(0)
	for i := range list {
		name = max(name, draw.Width(list[i].name))
		all += list[i].time
	}
	name = min(name, max(8, w/4))
	size := max(6, w-name-31)
	lines := []draw.Line{{{Role: render.RoleDim, Text: draw.Cut(draw.Fit(title, name)+draw.FitRight("segments", 10)+draw.FitRight("per query", 11)+draw.FitRight("share", 8), w)}}}
	for i := range list {
		g := &list[i]
		if i >= most {
			lines[0] = append(lines[0], draw.Piece{Role: render.RoleDim, Text: "  " + words.Number(len(list)-most) + " more"})
			break
		}
		text := draw.FitName(g.name, name) + draw.FitRight(words.Number(g.segments), 10) + draw.FitRight(perQuery(g.time, c.Queries, ascii), 11) + draw.FitRight(share(g.time, all), 8) + "  "
		lines = append(lines, draw.Line{{Role: render.RolePlain, Text: text}, {Role: stateRole(&g.states), Text: replays.StateBar(g.states, g.time, list[0].time, size, ascii)}}.CutTo(w))
	}
	return lines
}

// stateRole is that of a bar: what is searched row by row wants a look.
func stateRole(states *[3]time.Duration) render.Role {
	if states[replay.Growing]+states[replay.Unindexed] > states[replay.Indexed] {
		return render.RoleWarn
	}
	return render.RoleAccent
}

// perQuery is what something took of an average query.
func perQuery(d time.Duration, queries int64, ascii bool) string {
	if queries <= 0 {
		return words.UnknownMark
	}
	return words.Latency(time.Duration(float64(d)/float64(queries)), ascii)
}

func share(d, of time.Duration) string {
	if of <= 0 {
		return words.UnknownMark
	}
	return words.Percent(100 * float64(d) / float64(of))
}
