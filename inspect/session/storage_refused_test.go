package session

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	"kitescope/engine/object"
	"kitescope/inspect/model"
)

// refusingStore is a store that lists only the first folder and counts the calls.
type refusingStore struct {
	object.Store
	lists atomic.Int32 // folders are listed concurrently
	err   error
}

func (r *refusingStore) List(context.Context, string) ([]object.File, error) {
	if r.lists.Add(1) > 1 {
		return nil, r.err
	}
	return []object.File{{Name: "x", Size: 1}}, nil
}

// TestStorageRefused checks that files in folders that cannot be listed are unseen, not missing.
func TestStorageRefused(t *testing.T) {
	var segments []*model.Segment
	for id := range model.SegmentID(3) {
		segments = append(segments, &model.Segment{
			ID: 10 + id, Collection: 1, State: model.SegmentFlushed,
			Logs: []model.FieldLogs{{Kind: model.InsertLog, Field: 100, Files: 1}},
		})
	}
	c := model.Build(model.Parts{
		Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1, Name: "a"}}, Segments: segments,
	})
	s := scanStorage(t.Context(), &refusingStore{err: errors.New("access denied")}, c)
	if s.Segments != 3 || s.Checked != 0 || len(s.Missing) > 0 || len(s.Unseen) != 3 {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s = scanStorage(ctx, &refusingStore{err: context.Canceled}, c); s.Limit == "" || len(s.Missing) > 0 ||
		s.Checked != 0 {
		t.Errorf("%+v", s)
	}
}

// TestDiskSpace checks that diskSpace returns the room of a folder, and nil for a missing folder.
func TestDiskSpace(t *testing.T) {
	dir := t.TempDir()
	if x := diskSpace(dir); x == nil || x.Size <= 0 || x.Free < 0 || x.Free > x.Size || x.ReadOnly {
		t.Errorf("a folder for temporary files has room %+v", x)
	}
	if x := diskSpace(filepath.Join(dir, "no such")); x != nil {
		t.Errorf("no folder has room %+v", x)
	}
}
