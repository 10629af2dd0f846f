package sparse

// cursor is a place in a list.
type cursor struct {
	ids   []uint32 // of the list
	at    int
	id    uint32 // the row there; the number of all rows behind the end
	end   uint32
	first uint64 // of the list in Index.Values

	value float32 // of the query
	most  float32 // what the list can add to a score, stretched
	left  []uint64
}

// open puts a cursor at the first row of a term's list that is not left out.
func (s *Searcher) open(t term, left []uint64, ratio float32) cursor {
	x := s.index
	ids, _ := x.list(t.list)
	c := cursor{
		ids: ids, end: uint32(x.Rows), first: x.Starts[t.list], left: left,
		value: t.value, most: float32(s.most[t.list]*t.value) * ratio,
	}
	c.settle()
	return c
}

// settle passes rows that are left out.
func (c *cursor) settle() {
	if c.left != nil {
		for c.at < len(c.ids) && marked(c.left, c.ids[c.at]) {
			c.at++
		}
	}
	if c.at < len(c.ids) {
		c.id = c.ids[c.at]
	} else {
		c.id = c.end
	}
}

func (c *cursor) next() {
	c.at++
	c.settle()
}

// seek goes on to the first row from id on.
func (c *cursor) seek(id uint32) {
	if c.id >= id {
		return
	}
	// Steps that double, and then halves: most rows are near.
	step, low := 1, c.at
	for low+step < len(c.ids) && c.ids[low+step] < id {
		low += step
		step *= 2
	}
	high := min(low+step, len(c.ids))
	for low+1 < high { // ids[low] < id, and ids[high] >= id or the end
		if mid := int(uint(low+high) / 2); c.ids[mid] < id {
			low = mid
		} else {
			high = mid
		}
	}
	c.at = high
	c.settle()
}
