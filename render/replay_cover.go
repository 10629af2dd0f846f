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
		e.Key(n.key)
		e.Int(n.value)
	}
	e.Key("missing")
	e.BeginList()
	for i := range c.Missing {
		m := &c.Missing[i]
		e.BeginObject()
		e.Key("segment_id")
		e.ID(m.Segment)
		e.Key("state")
		e.Text(m.State.Word())
		if m.Rows >= 0 {
			e.Key("rows")
			e.Int(m.Rows)
		}
		e.Key("reason")
		e.Text(m.Reason)
		e.EndObject()
	}
	e.EndList()
	e.EndObject()
}
