package history

import (
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Wanted says which events somebody asks for. The zero value is all of them.
type Wanted struct {
	// Since and Until bound the time; zero is no bound. An event is in it that can have happened in it, and so is a group that had begun
	// before and went on.
	Since, Until time.Time
	// SinceRevision and UntilRevision bound revisions; 0 is no bound.
	SinceRevision, UntilRevision int64
	// Objects are what events are about; none is everything.
	Objects []Selector
}

// Selector names objects.
type Selector struct {
	// Resource is the plural, "" any.
	Resource string
	// Name is a name or an id, with * for any text; "" is all. That of a collection stands for all that belongs to it, that of a segment
	// for its indexes too.
	Name string
}

// Select are the positions of the events that are wanted.
func (h *History) Select(w Wanted) []int {
	var found []int
	for i := range h.entries.list {
		if e := &h.entries.list[i]; w.SinceRevision > e.last || w.UntilRevision > 0 && e.at > w.UntilRevision || !w.covers(h, e) {
			continue
		}
		if len(w.Objects) == 0 || h.about(&h.entries.list[i], w.Objects) {
			found = append(found, i)
		}
	}
	return found
}

func (w *Wanted) covers(h *History, e *entry) bool {
	if !w.Since.IsZero() {
		if at, wrong := dated(h.clock, e.last); at.Add(max(wrong, 0)).Before(w.Since) {
			return false
		}
	}
	if !w.Until.IsZero() {
		if at, wrong := dated(h.clock, e.at); at.Add(-max(wrong, 0)).After(w.Until) {
			return false
		}
	}
	return true
}

func (h *History) about(e *entry, list []Selector) bool {
	object := h.entries.named(e.object)
	for i := range list {
		s := &list[i]
		if s.is(object) || s.Resource != "" && s.Resource != collections || e.collection == 0 {
			if s.is(object) {
				return true
			}
			continue
		}
		if s.is(h.entries.collection(e.collection)) {
			return true
		}
	}
	return false
}

// Resources, as package view names them.
const (
	collections    = "collections"
	segments       = "segments"
	segmentIndexes = "segment-indexes"
)

// is reports whether an object is one that is meant.
func (s *Selector) is(object model.Ref) bool {
	if s.Resource != "" && s.Resource != object.Resource {
		segment, _, _ := strings.Cut(object.ID, "/")
		return s.Resource == segments && object.Resource == segmentIndexes && like(s.Name, segment)
	}
	return like(s.Name, object.ID) || object.Name != "" && like(s.Name, object.Name)
}

// like is table.Like, of which "" means everything.
func like(pattern, text string) bool { return pattern == "" || table.Like(pattern, text) }
