package render

import (
	"kitescope/doc"
	"kitescope/replay"
)

// writeCover tells which files are there; nothing where nobody looked.
func writeCover(e *doc.Encoder, c *replay.Coverage) {
	if c == nil {
		return
	}
	e.Key("coverage")
	e.BeginObject()
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
		e.Entry(n.key, n.value)
	}
	e.Key("missing")
	e.BeginList()
	for i := range c.Missing {
		m := &c.Missing[i]
		e.BeginObject()
		e.Entry("segment_id", doc.ID(m.Segment))
		e.Entry("state", m.State.Word())
		if m.Rows >= 0 {
			e.Entry("rows", m.Rows)
		}
		e.Entry("reason", m.Reason)
		e.EndObject()
	}
	e.EndList()
	e.EndObject()
}
