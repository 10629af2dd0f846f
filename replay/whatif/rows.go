package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kitescope/replay"
)

// resize makes a collection of by times the rows, and cuts its sealed segments to so many rows each; 0 leaves their size. Cut segments have the
// rows of the collection one after the other; beyond these there are copies, which cost as much as other segments of their size. It returns
// why that changes nothing.
func (v *variant) resize(rows int64, by float64) (why string) {
	if why := v.resizable(rows, by); why != "" {
		return why
	}
	before, next := v.rowsOf(v.Segments), v.nextSegment()
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	groups, rest := sealedGroups(v.Segments, rows)
	v.Segments = nil
	growing, unknown := 0, 0
	for _, s := range rest {
		next = v.multiply(s, by, next)
		if s.State == replay.Growing {
			growing++
		} else if s.Rows < 0 {
			unknown++
		}
	}
	var made []int
	for _, group := range groups {
		list := v.cut(group, rows, by, next)
		if alike(list, group) { // the segments that are here are known better than new ones
			v.Segments = append(v.Segments, group...)
			continue
		}
		for _, s := range list {
			next = s.ID + 1
			made = append(made, len(v.Segments))
			v.Segments = append(v.Segments, s)
		}
	}
	if rows > 0 && len(made) == 0 {
		return "segments of that size would be as many and as large as now"
	}
	for r := range v.Replicas {
		v.assign(r, made)
	}
	if by != 1 {
		v.note("%d rows become %d: costs of the new ones are those of rows that are here, caches and memory bandwidth are not modelled", before, v.rowsOf(v.Segments))
	}
	if by != 1 && growing > 0 {
		v.note("%d growing segments are copied too, although their number depends on inserts, not on the collection's size", growing)
	}
	if rows > 0 && growing > 0 {
		v.note("%d growing segments not re-cut, only sealed ones are; add index", growing)
	}
	if unknown > 0 {
		v.note("%d segments are copied whole or not at all, and not re-cut: row count unknown", unknown)
	}
	return ""
}

// resizable says why a collection cannot have so many rows, or segments of so many; "" if it can.
func (v *variant) resizable(rows int64, by float64) string {
	count, sealed, different := 0.0, 0, by != 1
	for i := range v.Segments {
		s := &v.Segments[i]
		if s.State == replay.Growing || s.Rows < 0 || rows == 0 {
			count += max(1, by)
			continue
		}
		sealed++
		count += by * float64(s.Rows) / float64(rows)
		different = different || s.Rows != rows
	}
	total := v.rowsOf(v.Segments)
	switch {
	case count > mostSegments:
		return fmt.Sprintf("%.0f segments; more than %d are not simulated: segment-rows=N makes fewer", count, mostSegments)
	case by != 1 && total == 0 && by < 2:
		return "row count unknown"
	case by != 1 && total > 0 && int64(math.Round(float64(total)*by)) == total:
		return "the change is less than one row"
	case rows > 0 && sealed == 0:
		return "no sealed segments, and only those are re-cut; add index"
	case !different:
		return "every sealed segment already has that many rows"
	}
	return ""
}

// sealedGroups are the sealed segments of each channel and partition, in the order of the first of each, and those that are not cut.
func sealedGroups(segments []replay.Segment, rows int64) (groups [][]replay.Segment, rest []replay.Segment) {
	type key struct {
		channel   string
		partition int64
	}
	at := map[key]int{}
	for _, s := range segments {
		if rows == 0 || s.State == replay.Growing || s.Rows < 0 {
			rest = append(rest, s)
			continue
		}
		k := key{s.Channel, s.Partition}
		i, known := at[k]
		if !known {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups, rest
}

// cut makes segments of so many rows of a group's rows, and of copies of them. A last one of less than half the rows goes to the one before.
// They have ids from the first one on.
func (v *variant) cut(group []replay.Segment, rows int64, by float64, id int64) (list []replay.Segment) {
	var own []span
	total := int64(0)
	var x replay.Index
	for _, s := range group {
		own = append(own, span{s.ID, 0, s.Rows})
		total += s.Rows
		if s.State == replay.Indexed && x.Type == "" {
			x = s.Index
		}
	}
	wanted := int64(math.Round(float64(total) * by))
	count := max(1, (wanted+rows/2)/rows)
	for i := range count {
		size := rows
		if i == count-1 {
			size = wanted - rows*(count-1)
		}
		s := group[0]
		s.ID, s.Rows, s.Files, s.On = id, size, nil, make([]int64, len(v.Replicas))
		s.State, s.Index = indexed(x, size)
		var piece []span
		if piece, own = take(own, size); rowsIn(piece) < size {
			v.copies[id] = true
		}
		v.from[id] = piece
		id++
		list = append(list, s)
	}
	return list
}

// alike reports whether segments are as many as others, as large and in the same state.
func alike(a, b []replay.Segment) bool {
	bySize := func(list []replay.Segment) []replay.Segment {
		return slices.SortedFunc(slices.Values(list), func(a, b replay.Segment) int {
			return cmp.Or(cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.State, b.State))
		})
	}
	return len(a) == len(b) && slices.EqualFunc(bySize(a), bySize(b), func(a, b replay.Segment) bool {
		return a.Rows == b.Rows && a.State == b.State && a.Index == b.Index
	})
}

func rowsIn(list []span) (n int64) {
	for _, s := range list {
		n += s.rows
	}
	return n
}

// take splits the first rows off.
func take(all []span, rows int64) (head, rest []span) {
	for len(all) > 0 && rows > 0 {
		s := all[0]
		if s.rows > rows {
			rest = slices.Clone(all)
			rest[0] = span{s.segment, s.first + rows, s.rows - rows}
			return append(head, span{s.segment, s.first, rows}), rest
		}
		head, all, rows = append(head, s), all[1:], rows-s.rows
	}
	return head, all
}

// multiply adds whole copies of a segment, and one of the rows that are left, where the segment is. New ones have ids from the next free one on.
func (v *variant) multiply(s replay.Segment, by float64, id int64) (next int64) {
	whole := int(by)
	if s.Rows < 0 {
		whole = max(1, whole)
	}
	for i := range whole {
		c := s
		if i > 0 {
			c.ID, c.Files, c.On = id, nil, slices.Clone(s.On)
			v.copies[id] = true
			id++
		}
		v.Segments = append(v.Segments, c)
	}
	part := int64(math.Round((by - float64(whole)) * float64(max(0, s.Rows))))
	if part <= 0 {
		return id
	}
	c := s
	c.ID, c.Rows, c.Files, c.On = id, part, nil, slices.Clone(s.On)
	v.from[id] = []span{{s.ID, 0, part}}
	v.copies[id] = whole > 0
	if c.State == replay.Indexed {
		c.State, c.Index = indexed(c.Index, part)
	}
	v.Segments = append(v.Segments, c)
	return id + 1
}

func (v *variant) rowsOf(list []replay.Segment) (n int64) {
	for i := range list {
		n += max(0, list[i].Rows)
	}
	return n
}

func (v *variant) nextSegment() int64 {
	id := int64(0)
	for i := range v.Segments {
		id = max(id, v.Segments[i].ID)
	}
	return id + 1
}
