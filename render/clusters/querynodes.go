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

// writeNodeLines writes the query nodes as a list, with their metadata and their own figures.
func writeNodeLines(e *encode.Encoder, nodes []view.NodeLine) {
	e.Key("query_nodes")
	e.BeginList()
	for i := range nodes {
		n := &nodes[i]
		e.BeginObject()
		e.Entry("id", encode.ID(n.Node))
		e.Entry("role", n.Role)
		e.Entry("address", n.Address)
		e.Entry("state", n.State)
		e.Entry("replicas", n.Replicas)
		e.Entry("resource_groups", n.ResourceGroups)
		e.Entry("collections", n.Collections)
		writeNodeLive(e, n.Live)
		e.EndObject()
	}
	e.EndList()
}

// nodeText returns the metadata of a query node in one line.
func nodeText(n *view.NodeLine) string {
	text := words.Count(n.Replicas, "replica", "replicas")
	if len(n.ResourceGroups) > 0 {
		text += "  " + render.Harmless(strings.Join(n.ResourceGroups, ", "))
	}
	if n.State != "registered" {
		text += "  " + n.State
	}
	return text
}

// writeNodeLive writes the figures that a node reported, without the unknown ones.
func writeNodeLive(e *encode.Encoder, live *view.NodeLive) {
	if live == nil {
		return
	}
	e.Entry("answer", live.Answer)
	e.NonZero("answer_reason", live.Reason)
	for _, m := range liveMeasures(live) {
		if m.cell.Absent == table.Present {
			e.Key(m.name)
			render.WriteCell(e, m.cell, m.kind)
		}
	}
}

func liveMeasures(live *view.NodeLive) []measure {
	return []measure{
		{"sealed_segments", live.Sealed, table.Int},
		{"sealed_rows", live.SealedRows, table.Int},
		{"growing_segments", live.Growing, table.Int},
		{"growing_rows", live.GrowingRows, table.Int},
		{"leads", live.Leads, table.Int},
		{"cpu_percent", live.CPU, table.Percent},
		{"memory_bytes", live.Memory, table.Bytes},
	}
}

// NodeLiveText returns the segments and resources of a query node in one line, or the reason if they are unknown.
func NodeLiveText(live *view.NodeLive) string {
	if live.Answer != "answered" {
		text := live.Answer
		if live.Reason != "" && live.Reason != live.Answer {
			text += ": " + render.Harmless(live.Reason)
		}
		return text
	}
	return fmt.Sprintf("%s sealed, %s rows + %s growing, %s rows; leads %s; CPU %s, %s",
		render.Text(live.Sealed, table.Int), render.Text(live.SealedRows, table.Int),
		render.Text(live.Growing, table.Int), render.Text(live.GrowingRows, table.Int),
		render.Text(live.Leads, table.Int), render.Text(live.CPU, table.Percent), render.Text(live.Memory, table.Bytes))
}

// nodeRole returns the role of a query node's line: a warning if the node is not registered, e.g. because it is
// stopping, or if it is in no replica.
func nodeRole(n *view.NodeLine) render.Role {
	if n.State != "registered" || n.Replicas == 0 {
		return render.RoleWarn
	}
	return render.RolePlain
}
