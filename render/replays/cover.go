package replays

import (
	"kitescope/internal/encode"
	"kitescope/replay"
)

// writeCover tells which files are there; nothing where nobody looked.
func writeCover(e *encode.Encoder, c *replay.Coverage) {
	if c == nil {
		return
	}
	e.Key("coverage")
	e.BeginObject()
	e.Entry("segments", c.Segments)
	e.Entry("whole", c.Loaded)
	e.Entry("rows", c.Rows)
	e.Entry("covered_rows", c.Covered)
	e.Entry("segments_of_unknown_rows", c.RowsUnknown)
	e.Entry("bytes", c.Bytes)
	e.Key("missing")
	e.BeginList()
	for i := range c.Missing {
		m := &c.Missing[i]
		e.BeginObject()
		e.Entry("segment_id", encode.ID(m.Segment))
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
