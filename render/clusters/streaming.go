package clusters

import (
	"fmt"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// StreamingText returns the state of the streaming service in one line, e.g. "2 nodes, 15 of 16 pchannels assigned;
// logs: 14 Open, 1 unknown; growing 5.0 MiB of 20 MiB on streamingnode-30".
func StreamingText(s *view.StreamingLine) string {
	text := fmt.Sprintf("%s, %s of %s assigned", words.Plural(s.Nodes, "node"), words.Number(s.Assigned),
		words.Plural(s.Channels, "pchannel"))
	var states []string
	for _, x := range s.WALs {
		states = append(states, words.Number(x.Count)+" "+render.Harmless(x.State))
	}
	if len(states) > 0 {
		text += "; logs: " + strings.Join(states, ", ")
	}
	if s.Fullest.ID != "" {
		text += "; growing " + render.Text(s.Growing, table.Bytes) + " of " + render.Text(s.HighWater, table.Bytes) +
			" on " + render.Harmless(s.Fullest.Name)
	}
	return text
}

// CacheText returns the loaded data of tiered storage in one line, e.g. "memory 7.0 MiB of 10 MiB, disk 20 MiB of 100
// MiB on 3 query nodes (1 unknown)".
func CacheText(c *view.CacheLine) string {
	text := "memory " + tierText(c.Memory, c.MemoryLimit) + ", disk " + tierText(c.Disk, c.DiskLimit) + " on " +
		words.Plural(c.Nodes, "query node")
	if c.UnknownNodes > 0 {
		text += " (" + words.Number(c.UnknownNodes) + " unknown)"
	}
	return text
}

func tierText(loaded, limit table.Cell) string {
	switch limit.Absent {
	case table.Present:
		return render.Text(loaded, table.Bytes) + " of " + render.Text(limit, table.Bytes)
	case table.None:
		return render.Text(loaded, table.Bytes) + " without eviction"
	default:
	}
	return render.Text(loaded, table.Bytes) + ", evicted on some nodes only"
}

// writeTiers writes the streaming service and tiered storage if the cluster has them.
func writeTiers(e *encode.Encoder, v *view.Overview) {
	cell := func(key string, c table.Cell) {
		if c.Absent == table.Present {
			e.Key(key)
			render.WriteCell(e, c, table.Bytes)
		}
	}
	if s := v.Streaming; s != nil {
		e.Key("streaming")
		e.BeginObject()
		e.Entry("nodes", s.Nodes)
		e.Entry("pchannels", s.Channels)
		e.Entry("assigned", s.Assigned)
		if s.WALs != nil {
			writeStates(e, "logs_by_state", s.WALs)
		}
		if s.Fullest.ID != "" {
			e.Entry("fullest_node", s.Fullest.ID)
			cell("growing_bytes", s.Growing)
			cell("growing_hwm_bytes", s.HighWater)
		}
		e.EndObject()
	}
	if c := v.Cache; c != nil {
		e.Key("cache")
		e.BeginObject()
		e.Entry("nodes", c.Nodes)
		e.Entry("unknown_nodes", c.UnknownNodes)
		cell("memory_bytes", c.Memory)
		cell("memory_limit_bytes", c.MemoryLimit)
		cell("disk_bytes", c.Disk)
		cell("disk_limit_bytes", c.DiskLimit)
		e.EndObject()
	}
}
