package render

import "kitescope/replay"

// writeCover tells which files are there; nothing where nobody looked.
func writeCover(e encoder, c *replay.Coverage) {
	if c == nil {
		return
	}
	e.key("coverage")
	e.beginObject()
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"segments", int64(c.Segments)},
		{"whole", int64(c.Loaded)},
		{"rows", c.Rows},
		{"covered_rows", c.Covered},
		{"segments_of_unknown_rows", int64(c.RowsUnknown)},
		{"bytes", c.Bytes},
	} {
		e.key(n.key)
		e.integer(n.value)
	}
	e.key("missing")
	e.beginList()
	for i := range c.Missing {
		m := &c.Missing[i]
		e.beginObject()
		e.key("segment_id")
		e.id(m.Segment)
		e.key("state")
		e.text(m.State.Word())
		if m.Rows >= 0 {
			e.key("rows")
			e.integer(m.Rows)
		}
		e.key("reason")
		e.text(m.Reason)
		e.endObject()
	}
	e.endList()
	e.endObject()
}
