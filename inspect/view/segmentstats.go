package view

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// statRow is a text index or a JSON key index of a segment. It is separate from the indexes on vectors and
// scalars.
type statRow struct {
	model.FieldStat
	kind    string // text or json
	segment *model.Segment
}

func (x statRow) path() string { return x.segment.ID.String() + "/" + x.kind + "/" + x.Field.String() }

var segmentStats = define(definition[statRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "segment-stats", Names: []string{"path", "segment_id"}, Shorthands: collectionShorthands(),
		},
		Aliases: []string{"segstats"},
		Kind:    "SegmentStats",
		Doc:     "Text and JSON key indexes of segments (2.5 and later): version, files and sizes, by field.",
		Needs:   model.PartObjects | model.PartSegments,
	},
	rows: func(e *Env) []statRow {
		var rows []statRow
		for _, s := range e.Cluster.Segments {
			if s.Details == nil {
				continue
			}
			for _, x := range s.Details.TextIndexes {
				rows = append(rows, statRow{x, "text", s})
			}
			for _, x := range s.Details.JSONIndexes {
				rows = append(rows, statRow{x, "json", s})
			}
		}
		return rows
	},
	columns: concat(
		[]column[statRow]{
			col(table.Column{Name: "path", Show: table.Hidden, Doc: "segment_id/kind/field_id: its name."},
				func(_ *Env, x statRow) table.Cell { return text(x.path()) }),
			col(table.Column{Name: "segment_id", Title: "SEGMENT", Kind: table.ID, Doc: "Segment id."},
				func(_ *Env, x statRow) table.Cell { return id(x.segment.ID) }),
			col(table.Column{
				Name: "kind",
				Doc:  "text: index of the words of a field, for text match; json: index of the keys of a JSON field.",
			},
				func(_ *Env, x statRow) table.Cell { return text(x.kind) }),
		},
		collectionColumns(func(x statRow) model.CollectionID { return x.segment.Collection }),
		segmentStatFigures,
	),
	ref: func(_ *Env, x statRow) Ref { return Ref{ID: x.path()} },
	owner: func(_ *Env, x statRow) (Ref, bool) {
		return Ref{Resource: "segments", ID: x.segment.ID.String()}, true
	},
	links: func(_ *Env, x statRow) []Link {
		return []Link{link("segment", "segments", "id="+x.segment.ID.String())}
	},
})

// loadedBy returns the query nodes that have a JSON key index loaded. Nodes before 2.6 do not report it, and
// no node reports text indexes.
func (x statRow) loadedBy(e *Env) table.Cell {
	if x.kind != "json" {
		return none()
	}
	var nodes []model.NodeID
	silent := len(e.Cluster.Runtime.WithoutDistribution()) > 0
	for _, at := range e.Cluster.Runtime.Served(x.segment.ID) {
		switch {
		case at.Sealed == nil:
		case slices.Contains(at.Sealed.JSONFields, x.Field):
			nodes = append(nodes, at.Node.Node)
		case !reportsJSON(e, at.Node):
			silent = true
		}
	}
	if len(nodes) == 0 && silent {
		return unknown()
	}
	slices.Sort(nodes)
	return nodeCells(e, nodes, "querynode", "streamingnode")
}

func jsonBuilt(s *model.Segment) int {
	if s.Details == nil {
		return 0
	}
	return len(s.Details.JSONIndexes)
}

// reportsJSON reports whether a query node's release (2.6 and later) reports its loaded JSON key indexes.
func reportsJSON(e *Env, n *model.LiveNode) bool {
	s := e.Cluster.SessionIn(n.Node, n.Role)
	if s == nil {
		return false
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(s.Version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a > 2 || a == 2 && b >= 6
}

var segmentJSON = []column[*model.Segment]{
	col(table.Column{
		Name: "json_indexes", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "JSON fields with a built key index (2.5 and later), if any; get segment-stats lists them and the nodes " +
			"that have them loaded.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return countOrNone(int64(jsonBuilt(s))) }),
}

var segmentStatFigures = []column[statRow]{
	col(table.Column{Name: "field_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the field."},
		func(_ *Env, x statRow) table.Cell { return id(x.Field) }),
	col(table.Column{Name: "field", Priority: 1, Doc: "Name of the field, none if it is gone."},
		func(e *Env, x statRow) table.Cell { return text(fieldName(e, x.segment.Collection, x.Field)) }),
	col(table.Column{Name: "version", Kind: table.Int, Priority: 4, Doc: "Version of the index build."},
		func(_ *Env, x statRow) table.Cell { return count(x.Version) }),
	col(table.Column{Name: "files", Kind: table.Int, Priority: 3, Doc: "Files in storage."},
		func(_ *Env, x statRow) table.Cell { return count(int64(x.Files)) }),
	col(table.Column{Name: "size_bytes", Kind: table.Bytes, Priority: 2, Doc: "Bytes in storage, where recorded."},
		func(_ *Env, x statRow) table.Cell { return countOrNone(x.Bytes) }),
	col(table.Column{Name: "memory_bytes", Kind: table.Bytes, Priority: 5, Doc: "Bytes when loaded, where recorded."},
		func(_ *Env, x statRow) table.Cell { return countOrNone(x.MemoryBytes) }),
	col(table.Column{
		Name: "loaded_by", Kind: table.NamedIDs, Show: table.Hidden, Priority: 1,
		Doc: "Query nodes that have it loaded, for JSON key indexes; unknown for nodes before 2.6.",
	},
		func(e *Env, x statRow) table.Cell { return x.loadedBy(e) }).
		withNeeds(model.PartRuntime | model.PartSessions).asLive(),
}
