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

// group is a group of lanes.
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

// lane holds the events of an object, or the time span of a finding.
type lane struct {
	group    group
	key      string // of the object or finding, unique within the group
	name     string
	events   []int32        // positions on the axis
	problems int            // number of events that are trouble
	span     *tui.Beginning // set for a finding
}

// lanes holds the lanes of an axis.
type lanes struct {
	axis *history.Axis
	all  []*lane // in display order
	mark []mark  // by position of the event
}

// mark classifies an event for display.
type mark uint8

const (
	noMark mark = iota
	changedMark
	addedMark
	removedMark
	problemMark
)

func (k mark) sign() rune { return [...]rune{' ', '•', '+', '-', '▲'}[k] }

func (k mark) role() render.Role {
	return [...]render.Role{
		render.RolePlain, render.RoleChanged, render.RoleAdded, render.RoleRemoved, render.RoleBad,
	}[k]
}

// repeatThreshold is the number of repetitions from which rewriting the same object is trouble, e.g. a channel that no
// node gets.
const repeatThreshold = 20

// markOf returns the mark of an event. The last word of the event's kind names the change.
func markOf(e *history.Event) mark {
	kind := string(e.Kind)
	_, what, _ := strings.Cut(kind, "_")
	if i := strings.LastIndexByte(what, '_'); i >= 0 {
		what = what[i+1:]
	}
	switch what {
	case "lost", "failed":
		return problemMark
	case "rewritten":
		if e.Count >= repeatThreshold {
			return problemMark
		}
	case "stopped":
		return problemMark
	case "joined", "created", "assigned", "loaded", "built", "granted", "resumed":
		return addedMark
	case "left", "released", "dropped", "removed", "revoked":
		return removedMark
	}
	return changedMark
}

// isGone reports whether an event removed its object. The UI shows a removed object as it was before the
// event.
func isGone(e *history.Event) bool {
	kind := string(e.Kind)
	for _, end := range []string{"_left", "_lost", "_removed", "_revoked"} {
		if strings.HasSuffix(kind, end) {
			return true
		}
	}
	return strings.HasSuffix(kind, "_dropped") && e.Kind != "segment_dropped"
}

// laneOf returns the group and the key of the lane of an event.
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

// newLanes sorts the events of an axis into lanes.
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
			in = &lane{group: g, key: name, name: words.Sanitize(name)}
			of[key{g, name}] = in
			l.all = append(l.all, in)
		}
		in.events = append(in.events, int32(i))
		if l.mark[i] = markOf(&e); l.mark[i] == problemMark {
			in.problems++
		}
	}
	slices.SortStableFunc(l.all, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.group, b.group), tui.BoolOrder(a.problems == 0, b.problems == 0),
			cmp.Compare(len(b.events), len(a.events)), cmp.Compare(a.name, b.name))
	})
	return l
}

// matches reports whether the name of a lane or one of its events contains a text, which must be in lower case.
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
