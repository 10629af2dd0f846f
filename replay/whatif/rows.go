package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kitescope/replay"
)

// cut makes segments of so many rows of all sealed ones of a channel and partition, in the order of their ids, when there are by times
// as many rows; what is not cut is multiplied. It returns why that changes nothing; "" if it does.
func (v *variant) cut(rows int64, by float64) (why string) {
	if why := v.cuttable(rows, by); why != "" {
		return why
	}
	before := v.rowsOf(v.Segments)
	slices.SortFunc(v.Segments, func(a, b replay.Segment) int { return cmp.Compare(a.ID, b.ID) })
	groups, left := sealedGroups(v.Segments)
	growing := 0
	for _, s := range left {
		if s.State == replay.Growing {
			growing++
		}
	}
	unknown := len(left) - growing
	id := v.nextSegment()
	v.Segments = left
	if by != 1 {
		id = v.multiply(by, id)
	}
	var made []int
	kept := 0
	for _, group := range groups {
		list := v.recut(group, rows, by, id)
		if alike(list, group) { // the segments that are here are known better than new ones
			for _, s := range list {
				delete(v.from, s.ID)
			}
			kept += len(list)
			v.Segments = append(v.Segments, group...)
			continue
		}
		for _, s := range list {
			id = s.ID + 1
			made = append(made, len(v.Segments))
			v.Segments = append(v.Segments, s)
		}
	}
	if len(made) == 0 {
		return v.asCut(kept)
	}
	if kept > 0 {
		v.note("%d segments not re-cut: the rows of their channel and partition would give segments of the same size", kept)
	}
	if by != 1 {
		v.note("%d rows become %d", before, v.rowsOf(v.Segments))
	}
	if growing > 0 {
		v.note("%d growing segments not re-cut, only sealed ones are; add index", growing)
	}
	if unknown > 0 {
		v.note("%d segments not re-cut: row count unknown", unknown)
	}
	for r := range v.Replicas {
		v.assign(r, made)
	}
	return ""
}

// sealedGroups are the sealed segments of each channel and partition, in the order of the first of each, and those that cannot
// be cut: growing ones, and ones of which nobody tells how many rows they have.
func sealedGroups(segments []replay.Segment) (groups [][]replay.Segment, left []replay.Segment) {
	type key struct {
		channel   string
		partition int64
	}
	at := map[key]int{}
	for _, s := range segments {
		if s.State == replay.Growing || s.Rows < 0 {
			left = append(left, s)
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
	return groups, left
}

// cuttable says why segments are not cut to so many rows; "" if they are.
func (v *variant) cuttable(rows int64, by float64) string {
	many, sealed, other := 0.0, 0, false
	for i := range v.Segments {
		switch s := &v.Segments[i]; {
		case s.State == replay.Growing || s.Rows < 0:
			many += max(1, by)
		default:
			many += by * float64(s.Rows) / float64(rows)
			sealed++
			other = other || s.Rows != rows
		}
	}
	switch {
	case many > mostSegments:
		return fmt.Sprintf("segments of %d rows would be %.0f; more than %d are not simulated", rows, many, mostSegments)
	case sealed == 0:
		return "no sealed segments, and only those are re-cut; add index"
	case !other && by == 1:
		return "every sealed segment already has that many rows"
	}
	return ""
}

// alike tells that segments are as many as others, as large and in the same state: cutting is no change.
func alike(a, b []replay.Segment) bool {
	if len(a) != len(b) {
		return false
	}
	bySize := func(list []replay.Segment) []replay.Segment {
		return slices.SortedFunc(slices.Values(list), func(a, b replay.Segment) int {
			return cmp.Or(cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.State, b.State))
		})
	}
	return slices.EqualFunc(bySize(a), bySize(b), func(a, b replay.Segment) bool {
		return a.Rows == b.Rows && a.State == b.State && a.Index == b.Index
	})
}

// asCut says why the cut leaves all sealed segments as they are.
func (v *variant) asCut(sealed int) string {
	least, most := int64(math.MaxInt64), int64(0)
	for i := range v.Segments {
		if s := &v.Segments[i]; s.State != replay.Growing && s.Rows >= 0 {
			least, most = min(least, s.Rows), max(most, s.Rows)
		}
	}
	return fmt.Sprintf("segments of that size would be as many and as large as now: %d of %d to %d rows", sealed, least, most)
}

// recut cuts the rows of segments, one after the other and by times as many, into new ones. A last one of less than half the rows
// goes to the one before. They have ids from the first one on.
func (v *variant) recut(group []replay.Segment, rows int64, by float64, id int64) (list []replay.Segment) {
	var all []span
	total := int64(0)
	var x replay.Index
	for _, s := range group {
		all = append(all, v.spans(s)...)
		total += s.Rows
		if s.State == replay.Indexed && x.Type == "" {
			x = s.Index
		}
	}
	wanted := int64(math.Round(float64(total) * by))
	if by == 1 {
		wanted = total
	}
	made := newCutter(all, total, rows)
	count := max(1, (wanted+rows/2)/rows)
	for i := range count {
		size := rows
		if i == count-1 {
			size = wanted - rows*(count-1)
		}
		s := group[0]
		s.ID, s.Rows, s.Files, s.On = id, size, nil, make([]int64, len(v.Replicas))
		s.State, s.Index = indexed(x, size)
		id++
		v.from[s.ID] = made.next(size)
		list = append(list, s)
	}
	return list
}

// cutter gives the rows of segments out one after the other, and when they are used up copies of them: of the first pieces that were whole, so
// that copies cost what those do, and no row is in one piece twice. Where no piece is whole, a copy is of one segment, again and again.
type cutter struct {
	all, rest   []span // all of them; what is left
	total, left int64
	rows        int64 // of a whole piece
	whole       int64 // pieces that the rows are enough for
	copied      int64 // pieces
}

func newCutter(all []span, total, rows int64) *cutter {
	return &cutter{all: all, rest: slices.Clone(all), total: total, left: total, rows: rows, whole: total / rows}
}

func (c *cutter) next(size int64) (piece []span) {
	if own := min(size, c.left); own > 0 || size == 0 {
		piece, c.rest = take(c.rest, own)
		c.left -= own
		if own == size {
			return piece
		}
	}
	more := size - rowsIn(piece)
	at := int64(0)
	if len(piece) == 0 && c.whole > 0 {
		at = c.copied % c.whole * c.rows
		c.copied++
	}
	if at+more > c.total {
		at = 0
	}
	if at+more+rowsIn(piece) > c.total { // some of them would be there twice
		return append(piece, span{segment: c.all[0].segment, rows: more, copy: true})
	}
	_, from := take(slices.Clone(c.all), at)
	again, _ := take(slices.Clone(from), more)
	return append(piece, copies(again)...)
}

func rowsIn(list []span) (n int64) {
	for _, s := range list {
		n += s.rows
	}
	return n
}

// take splits the first rows off; it changes the span that it cuts.
func take(all []span, rows int64) (head, rest []span) {
	for len(all) > 0 && rows > 0 {
		s := all[0]
		if s.rows > rows {
			head = append(head, span{s.segment, s.first, rows, s.copy})
			all[0] = span{s.segment, s.first + rows, s.rows - rows, s.copy}
			return head, all
		}
		head, all, rows = append(head, s), all[1:], rows-s.rows
	}
	return head, all
}

// spans are where a segment's rows come from.
func (v *variant) spans(s replay.Segment) []span {
	if from := v.from[s.ID]; from != nil {
		return from
	}
	return []span{{s.ID, 0, s.Rows, false}}
}

// scalable says why there are not so many times the rows; "" if there are.
func (v *variant) scalable(c Change) string {
	if c.Scale == 1 {
		return "the collection already has that many rows"
	}
	known, changes, total := false, false, int64(0)
	for i := range v.Segments {
		rows := v.Segments[i].Rows
		known, total = known || rows >= 0, total+max(0, rows)
		changes = changes || rows < 0 && c.Scale >= 2 || rows >= 0 && c.SegmentRows == 0 && multiplied(rows, c.Scale) != rows
	}
	switch {
	case changes, c.SegmentRows > 0 && multiplied(total, c.Scale) != total:
	case !known:
		return "row count unknown"
	default:
		return "the change is less than one row per segment"
	}
	if n := float64(len(v.Segments)) * c.Scale; c.SegmentRows == 0 && n > mostSegments {
		return fmt.Sprintf("%s times as large would be %.0f segments; more than %d are not simulated; segment-rows=N makes fewer", decimal(c.Scale), n, mostSegments)
	}
	return ""
}

// multiplied is so many times the rows, to the nearest one, as multiply has it.
func multiplied(rows int64, by float64) int64 {
	whole := math.Floor(by)
	return int64(whole)*rows + int64(math.Round((by-whole)*float64(rows)))
}

// scale multiplies segments.
func (v *variant) scale(by float64) {
	if v.scalable(Change{Scale: by}) != "" {
		return
	}
	before := v.rowsOf(v.Segments)
	v.multiply(by, v.nextSegment())
	v.note("%d rows become %d: segments are copied in place at their size; segment-rows=N re-cuts them", before, v.rowsOf(v.Segments))
}

// multiply makes whole copies of segments, and one of what is left, with ids from the next free one on. Copies are where the first one is.
func (v *variant) multiply(by float64, id int64) (next int64) {
	var list []replay.Segment
	growing, unknown := 0, 0
	for _, s := range v.Segments {
		if s.State == replay.Growing {
			growing++
		}
		from, rows := v.spans(s), max(s.Rows, 0)
		whole := int(by)
		if s.Rows < 0 {
			unknown++
			whole = max(1, whole)
		}
		for i := range whole {
			c := s
			if i > 0 {
				c.ID, c.Files, c.On = id, nil, slices.Clone(s.On)
				v.from[id] = copies(from)
				id++
			}
			list = append(list, c)
		}
		part := int64(math.Round((by - float64(whole)) * float64(rows)))
		if part <= 0 {
			continue
		}
		c := s
		c.ID, c.Rows, c.Files, c.On = id, part, nil, slices.Clone(s.On)
		v.from[id], _ = take(slices.Clone(from), part)
		if whole > 0 {
			v.from[id] = copies(v.from[id])
		}
		if c.State == replay.Indexed {
			c.State, c.Index = indexed(c.Index, part)
		}
		id++
		list = append(list, c)
	}
	v.Segments = list
	if unknown > 0 {
		v.note("%d segments are copied whole or not at all: row count unknown", unknown)
	}
	if growing > 0 {
		v.note("%d growing segments are copied too, although their number depends on inserts, not on the collection's size", growing)
	}
	return id
}

func copies(list []span) []span {
	list = slices.Clone(list)
	for i := range list {
		list[i].copy = true
	}
	return list
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
