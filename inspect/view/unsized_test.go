package view

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestUnsized checks that the size of a segment with storage version 3 is unknown because only a manifest in
// storage lists its files, and that the same holds for its partition, collection and database.
func TestUnsized(t *testing.T) {
	parts := func(details *model.SegmentDetails) model.Parts {
		return model.Parts{
			Loaded: model.PartAll, Databases: []*model.Database{{ID: 1, Name: "default"}},
			Collections: []*model.Collection{{ID: 7, Database: 1, Name: "docs"}},
			Partitions:  []*model.Partition{{ID: 8, Collection: 7, Name: "_default"}},
			Segments: []*model.Segment{
				{
					ID: 1, Collection: 7, Partition: 8, State: model.SegmentFlushed, Rows: 5, Bytes: 100,
					Logs: []model.FieldLogs{{Kind: model.InsertLog, Bytes: 100}},
				},
				{ID: 2, Collection: 7, Partition: 8, State: model.SegmentFlushed, Rows: 5, Details: details},
			},
		}
	}
	for name, x := range map[string]struct {
		details *model.SegmentDetails
		want    table.Absence
	}{"manifest": {&model.SegmentDetails{ManifestPath: `{"ver":1}`}, table.Unknown}, "none": {nil, table.Present}} {
		env := NewEnv(model.Build(parts(x.details)), time.Time{})
		for _, resource := range []string{"segments", "collections", "partitions", "databases"} {
			r, err := Find(resource)
			if err != nil {
				t.Fatal(err)
			}
			rows := r.Table(env)
			if got := rows.Cell(rows.Len()-1, r.Column("size_bytes")); got.Absent != x.want {
				t.Errorf("%s, %s: %+v", name, resource, got)
			}
		}
		if got := NewOverview(env).Bytes; got.Absent != x.want {
			t.Errorf("%s, overview: %+v", name, got)
		}
	}
}
