package view

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
)

// TestManyIDs checks that selecting ten thousand of a hundred thousand segments by id takes at most 2 s.
func TestManyIDs(t *testing.T) {
	const count, wanted = 100_000, 10_000
	list := make([]*model.Segment, count)
	for i := range list {
		list[i] = &model.Segment{ID: model.SegmentID(i + 1), State: model.SegmentFlushed}
	}
	env := NewEnv(model.Build(model.Parts{Loaded: model.PartAll, Segments: list}), time.Now())
	words := []string{strconv.Itoa(count + 1)}
	for i := range wanted {
		words = append(words, strconv.Itoa(10*i+1))
	}
	s, err := ParseSelection(segments, words)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	rows := s.Rows(segments.Table(env))
	if len(rows) != wanted || rows[1] != 10 {
		t.Errorf("%d rows, want %d", len(rows), wanted)
	}
	if diff := cmp.Diff(words[:1], s.Unmatched(segments.Table(env))); diff != "" {
		t.Errorf("unmatched (-want +got):\n%s", diff)
	}
	// Comparing one by one would take a thousand million comparisons, twice.
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
