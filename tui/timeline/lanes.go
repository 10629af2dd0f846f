package timeline

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/history"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// group is what lanes stand together for.
type group uint8

const (
	findingLanes group = iota
	nodeLanes
	channelLanes
	collectionLanes
	clusterLanes
)

func (g group) title() string {
	return [...]string{"FINDINGS", "NODES", "CHANNELS", "COLLECTIONS", "CLUSTER"}[g]
}

// lane is what happened to one thing, or the time of a finding.
type lane struct {
	group   group
	key     string // of the thing or finding, within the group
	name    string
	events  []int32        // positions on the axis
	trouble int            // how many of them are
	span    *tui.Beginning // of a finding
}

// lanes are those of an axis.
type lanes struct {
	axis *history.Axis
	all  []*lane // in the order in which they are drawn
	mark []mark  // of each event
}

// mark is what an event is, at a glance.
type mark uint8

const (
	noMark mark = iota
	changedMark
	addedMark
	removedMark
	troubleMark
)

func (k mark) sign() rune { return [...]rune{' ', '•', '+', '-', '▲'}[k] }

func (k mark) role() render.Role {
	return [...]render.Role{render.RolePlain, render.RoleChanged, render.RoleAdded, render.RoleRemoved, render.RoleBad}[k]
}

// manyTimes is from how many repetitions on something that is written again is trouble: a channel that nobody gets.
const manyTimes = 20

// markOf is what an event is by its kind: the words of kinds end in what happened.
func markOf(e *history.Event) mark {
	kind := string(e.Kind)
	_, what, _ := strings.Cut(kind, "_")
	if i := strings.LastIndexByte(what, '_'); i >= 0 {
		what = what[i+1:]
	}
	switch what {
	case "lost", "failed":
		return troubleMark
	case "rewritten":
		if e.Count >= manyTimes {
			return troubleMark
		}
	case "stopped":
		return troubleMark
	case "joined", "created", "assigned", "loaded", "built", "granted", "resumed":
		return addedMark
	case "left", "released", "dropped", "removed", "revoked":
		return removedMark
	}
	return changedMark
}

// isGone reports whether an event took its object away: it is looked at as it was before.
func isGone(e *history.Event) bool {
	kind := string(e.Kind)
	for _, end := range []string{"_left", "_lost", "_removed", "_revoked"} {
		if strings.HasSuffix(kind, end) {
			return true
		}
	}
	return strings.HasSuffix(kind, "_dropped") && e.Kind != "segment_dropped"
}

// laneOf is where an event stands.
func laneOf(e *history.Event) (group, string) {
	name := cmp.Or(e.Object.Name, e.Object.ID)
	switch e.Object.Resource {
	case "nodes":
		return nodeLanes, name
	case "vchannels", "pchannels":
		return channelLanes, name
	case "collections":
		return collectionLanes, name
	}
	if e.Collection.ID != "" {
		return collectionLanes, cmp.Or(e.Collection.Name, e.Collection.ID)
	}
	return clusterLanes, strings.ReplaceAll(e.Object.Resource, "-", " ")
}

// newLanes sorts the events of an axis.
func newLanes(x *history.Axis) *lanes {
	type key struct {
		group group
		name  string
	}
	l := &lanes{axis: x, mark: make([]mark, x.Len())}
	of := map[key]*lane{}
	for i := range x.Len() {
		e := x.Event(i)
		g, name := laneOf(&e)
		in := of[key{g, name}]
		if in == nil {
			in = &lane{group: g, key: name, name: words.Harmless(name)}
			of[key{g, name}] = in
			l.all = append(l.all, in)
		}
		in.events = append(in.events, int32(i))
		if l.mark[i] = markOf(&e); l.mark[i] == troubleMark {
			in.trouble++
		}
	}
	slices.SortStableFunc(l.all, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.group, b.group), tui.BoolOrder(a.trouble == 0, b.trouble == 0),
			cmp.Compare(len(b.events), len(a.events)), cmp.Compare(a.name, b.name))
	})
	return l
}

// matches reports whether a lane has a text in it, lower case: in its name, or in one of its events.
func (l *lanes) matches(in *lane, text string) bool {
	if text == "" || strings.Contains(strings.ToLower(in.name+" "+in.group.title()), text) {
		return true
	}
	if in.span != nil {
		return strings.Contains(strings.ToLower(in.span.Finding.Message), text)
	}
	for _, i := range in.events {
		if e := l.axis.Event(int(i)); l.eventHas(&e, text) {
			return true
		}
	}
	return false
}

func (l *lanes) eventHas(e *history.Event, text string) bool {
	return strings.Contains(strings.ToLower(string(e.Kind)+" "+e.Object.ID+" "+draw.EventText(e)), text)
}
