package history

import (
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Filter filters events. The zero value matches all.
type Filter struct {
	// Since and Until bound the time; zero means unbounded. An event matches if its error interval overlaps the
	// bounds. A group matches if it began earlier and continued.
	Since, Until time.Time
	// SinceRevision and UntilRevision bound revisions; 0 means unbounded.
	SinceRevision, UntilRevision int64
	// Objects selects the objects of events; empty means all.
	Objects []Selector
}

// Selector matches objects.
type Selector struct {
	// Resource is the plural name, "" for any.
	Resource string
	// Name is a name or an id, with * as a wildcard; "" matches all. A collection also matches all objects that
	// belong to it, and a segment also matches its indexes.
	Name string
}

// Select returns the indexes of the matching events.
func (h *History) Select(w Filter) []int {
	var found []int
	for i := range h.entries.list {
		if e := &h.entries.list[i]; w.SinceRevision > e.last || w.UntilRevision > 0 && e.at > w.UntilRevision ||
			!w.matches(h, e) {
			continue
		}
		if len(w.Objects) == 0 || h.matchesAny(&h.entries.list[i], w.Objects) {
			found = append(found, i)
		}
	}
	return found
}

func (w *Filter) matches(h *History, e *entry) bool {
	if !w.Since.IsZero() {
		if at, wrong := revisionTime(h.clock, e.last); at.Add(max(wrong, 0)).Before(w.Since) {
			return false
		}
	}
	if !w.Until.IsZero() {
		if at, wrong := revisionTime(h.clock, e.at); at.Add(-max(wrong, 0)).After(w.Until) {
			return false
		}
	}
	return true
}

func (h *History) matchesAny(e *entry, list []Selector) bool {
	object := h.entries.withName(e.object)
	for i := range list {
		s := &list[i]
		if s.matches(object) || s.Resource != "" && s.Resource != collections || e.collection == 0 {
			if s.matches(object) {
				return true
			}
			continue
		}
		if s.matches(h.entries.collection(e.collection)) {
			return true
		}
	}
	return false
}

// Resources, as named in package view.
const (
	collections    = "collections"
	segments       = "segments"
	segmentIndexes = "segment-indexes"
)

// matches reports whether the selector matches an object.
func (s *Selector) matches(object model.Ref) bool {
	if s.Resource != "" && s.Resource != object.Resource {
		segment, _, _ := strings.Cut(object.ID, "/")
		return s.Resource == segments && object.Resource == segmentIndexes && like(s.Name, segment)
	}
	return like(s.Name, object.ID) || object.Name != "" && like(s.Name, object.Name)
}

// like is table.Like, except that "" matches everything.
func like(pattern, text string) bool { return pattern == "" || table.Like(pattern, text) }
