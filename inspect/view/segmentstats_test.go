package view

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestJSONIndexesLoaded checks which query nodes have a JSON key index loaded, and that it is unknown, not
// none, if a node does not report it.
func TestJSONIndexesLoaded(t *testing.T) {
	built := &model.SegmentDetails{
		JSONIndexes: []model.FieldStat{{Field: 103}, {Field: 104}}, TextIndexes: []model.FieldStat{{Field: 101}},
	}
	segments := []*model.Segment{
		{ID: 1, State: model.SegmentFlushed, Details: built},
		{ID: 2, State: model.SegmentFlushed, Details: built},
		{ID: 3, State: model.SegmentFlushed},
	}
	env := func(version string, silent bool, served ...[]model.FieldID) *Env {
		p := model.Parts{Loaded: model.PartAll, Segments: segments}
		r := model.RuntimeParts{Kind: "recording"}
		for i, fields := range served {
			node := model.NodeID(5 + i)
			p.Sessions = append(p.Sessions, &model.Session{Role: "querynode", Node: node, Version: version})
			r.Nodes = append(r.Nodes, &model.LiveNode{
				Role: "querynode", Node: node, Outcome: model.Answered,
				Distribution: &model.Distribution{Sealed: []model.ServedSegment{{ID: 1, JSONFields: fields}}},
			})
		}
		if silent {
			r.Nodes = append(r.Nodes, &model.LiveNode{Role: "querynode", Node: 99, Outcome: model.TimedOut})
		}
		return NewEnv(model.Build(p).WithRuntime(model.BuildRuntime(r)), time.Time{})
	}
	both, one := []model.FieldID{103, 104}, []model.FieldID{104}
	for name, x := range map[string]struct {
		env *Env
		by  string // nodes with field 104 of the first segment
	}{
		"all":           {env("2.6.22", false, both), "5,querynode-5"},
		"one":           {env("3.0.1", false, one), "5,querynode-5"},
		"fewest":        {env("3.0.1", false, both, one), "5,6,querynode-5,querynode-6"},
		"none":          {env("3.0.1", false, nil), ""},
		"an older node": {env("2.5.9", false, nil), "?"},
		"a silent node": {env("3.0.1", true, both), "5,querynode-5"},
		"nodes not asked": {
			NewEnv(model.Build(model.Parts{Loaded: model.PartAll, Segments: segments}), time.Time{}), "?",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows, _ := Find("segments")
			if built := rows.Table(x.env).Cell(0, rows.Column("json_indexes")); built.Int != 2 {
				t.Errorf("%+v are built", built)
			}
			stats := segmentStats.Table(x.env) // text, json of 103, json of 104, then the second segment's
			if got := loadedText(stats.Cell(2, segmentStats.Column("loaded_by"))); got != x.by {
				t.Errorf("loaded by %q, want %q", got, x.by)
			}
			if got := loadedText(stats.Cell(0, segmentStats.Column("loaded_by"))); got != "-" && got != "?" {
				t.Errorf("an index of texts is loaded by %s", got)
			}
		})
	}
}

// loadedText formats the cell of a list.
func loadedText(c table.Cell) string {
	switch c.Absent {
	case table.Unknown:
		return "?"
	case table.None:
		return "-"
	default:
		return strings.Join(c.List, ",")
	}
}
