package view

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/table"
)

// countedKeys are keys of collection 1, of collection 2 and of none.
type countedKeys struct{ model.Keyspace }

func (countedKeys) Len() int { return 30 }

func (countedKeys) Info(i int) model.KeyInfo {
	return model.KeyInfo{Key: "0123456789", Kind: []string{"segment", "binlog", ""}[i%3], Size: []int{90, 10, 0}[i%3]}
}

func (countedKeys) Collection(i int) model.CollectionID { return model.CollectionID(i % 3) }

// TestEtcdUsage: every key is counted once, with its name; the largest collection comes first.
func TestEtcdUsage(t *testing.T) {
	p := model.Parts{
		Loaded: model.PartAll, Keyspace: countedKeys{}, Collections: []*model.Collection{{ID: 1, Name: "docs"}},
		Segments: []*model.Segment{{ID: 7, Collection: 1, State: model.SegmentDropped}, {ID: 8, Collection: 1, State: model.SegmentFlushed}},
	}
	rows := etcdUsage.Table(NewEnv(model.Build(p), time.Time{}))
	if rows.Len() != 3 {
		t.Fatalf("%d rows", rows.Len())
	}
	for row, want := range []struct {
		id, name, mostly string
		keys, bytes      int64
		share            float64
		segments         int64
	}{{"0", "", "segment", 10, 1000, 100 * 1000. / 1300, 0}, {"1", "docs", "binlog", 10, 200, 100 * 200. / 1300, 2}, {"2", "", "unknown", 10, 100, 100 * 100. / 1300, 0}} {
		cell := func(name string) table.Cell { return rows.Cell(row, etcdUsage.Column(name)) }
		ref := rows.Ref(row)
		if ref.ID != want.id || ref.Name != want.name || cell("mostly").Text != want.mostly || cell("keys").Int != want.keys ||
			cell("size_bytes").Int != want.bytes || cell("percent").Float != want.share || cell("segments").Int != want.segments {
			t.Errorf("row %d: %+v, keys %v, bytes %v, share %v, mostly %v, segments %v", row, ref, cell("keys"), cell("size_bytes"), cell("percent"), cell("mostly"), cell("segments"))
		}
	}
	if n := etcdUsage.Table(NewEnv(model.Build(model.Parts{}), time.Time{})).Len(); n != 0 {
		t.Errorf("%d rows without keys", n)
	}
}
