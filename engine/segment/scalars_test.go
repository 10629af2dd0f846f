package segment_test

import (
	"strings"
	"testing"

	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/expr"
	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/engine/segment"
)

// TestScalarsOfManifest reads fields of a segment of storage version 3 (TestManifest), whose keys are three times
// the row number. It also reads a field that is in no column group: it was added later, so its rows have its
// default.
func TestScalarsOfManifest(t *testing.T) {
	store, err := object.OpenFolder("../manifest/testdata/segment")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	schema := segment.Schema{PrimaryKey: 100, Vector: 101, Metric: dist.L2, Types: map[int64]binlog.Type{
		100: binlog.Int64, 101: binlog.FloatVector, 150: binlog.VarChar,
	}}
	files := &segment.Files{
		Collection: 1, Partition: 2, Segment: 3,
		Manifest: (&manifest.Place{Base: "insert_log/1/2/3", Version: 2}).Name("files"),
	}
	s, err := segment.Open(t.Context(), store, files, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	c, err := s.Scalars(t.Context(), store, files, schema, []int64{100, 150})
	if err != nil {
		t.Fatal(err)
	}
	fields := &expr.Schema{Fields: []expr.Field{
		{ID: 100, Name: "id", Type: binlog.Int64},
		{ID: 150, Name: "added", Type: binlog.VarChar, Default: &expr.Value{Kind: expr.Text, Text: "new"}},
		{ID: 151, Name: "none", Type: binlog.Int8, Nullable: true},
		{ID: 152, Name: "lost", Type: binlog.Int8},
	}}
	for text, left := range map[string]int{
		"id < 30": 190, "id % 2 == 0 and added == \"new\"": 100, "added != 'new'": 200, "none is null": 0,
		"none == 0": 200, "not (none == 0)": 200,
	} {
		p, err := expr.Parse(text, fields)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Excluded(c)
		if err != nil || b.Count() != left {
			t.Errorf("%s: %d of %d rows left out, %v; expected %d", text, b.Count(), s.Rows, err, left)
		}
	}
	p, err := expr.Parse("lost == 1", fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Excluded(c); err == nil || !strings.Contains(err.Error(), "field lost is in no log of the segment") {
		t.Errorf("a field that is in no log: %v", err)
	}
	if _, err := s.Scalars(t.Context(), store, &segment.Files{Segment: 3}, schema, []int64{100}); err == nil {
		t.Error("a segment without logs has fields")
	}
}
