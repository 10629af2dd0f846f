package view

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// countedKeys is a Keyspace with 30 keys: 10 of collection 1, 10 of collection 2 and 10 of none.
type countedKeys struct{ model.Keyspace }

func (countedKeys) Len() int { return 30 }

func (countedKeys) Info(i int) model.KeyInfo {
	return model.KeyInfo{Key: "0123456789", Kind: []string{"segment", "binlog", ""}[i%3], Size: []int{90, 10, 0}[i%3]}
}

func (countedKeys) Collection(i int) model.CollectionID { return model.CollectionID(i % 3) }

// TestEtcdUsage checks that each key counts once for its collection, and that the largest collection comes
// first.
func TestEtcdUsage(t *testing.T) {
	p := model.Parts{
		Loaded: model.PartAll, Keyspace: countedKeys{}, Collections: []*model.Collection{{ID: 1, Name: "docs"}},
		Segments: []*model.Segment{
			{ID: 7, Collection: 1, State: model.SegmentDropped}, {ID: 8, Collection: 1, State: model.SegmentFlushed},
		},
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
	}{
		{"0", "", "segment", 10, 1000, 100 * 1000. / 1300, 0},
		{"1", "docs", "binlog", 10, 200, 100 * 200. / 1300, 2},
		{"2", "", "unknown", 10, 100, 100 * 100. / 1300, 0},
	} {
		cell := func(name string) table.Cell { return rows.Cell(row, etcdUsage.Column(name)) }
		ref := rows.Ref(row)
		if ref.ID != want.id || ref.Name != want.name || cell("mostly").Text != want.mostly ||
			cell("keys").Int != want.keys ||
			cell("size_bytes").Int != want.bytes || cell("percent").Float != want.share ||
			cell("segments").Int != want.segments {
			t.Errorf("row %d: %+v, keys %v, bytes %v, share %v, mostly %v, segments %v", row, ref, cell("keys"),
				cell("size_bytes"), cell("percent"), cell("mostly"), cell("segments"))
		}
	}
	if n := etcdUsage.Table(NewEnv(model.Build(model.Parts{}), time.Time{})).Len(); n != 0 {
		t.Errorf("%d rows without keys", n)
	}
}

// treeKeys is a Keyspace with sorted keys of several levels. Each key has 100 bytes with its value. collections holds
// the collection that each key names.
type treeKeys struct {
	model.Keyspace
	keys        []string
	collections []model.CollectionID
}

func (k treeKeys) Len() int { return len(k.keys) }

func (k treeKeys) Info(i int) model.KeyInfo {
	return model.KeyInfo{Key: k.keys[i], Kind: "segment", Size: 100 - len(k.keys[i])}
}

func (k treeKeys) Collection(i int) model.CollectionID { return k.collections[i] }

// TestEtcdPrefixes checks that a key counts for each of its prefixes down to the sixth level, and a key
// without a prefix only for the total.
func TestEtcdPrefixes(t *testing.T) {
	space := treeKeys{
		keys: []string{
			"/wal/x", "a/b/c/d/1/2/3/4", "a/b/c/d/1/2/3/5", "a/b/c/d/1/9", "a/b/c/e", "a/b2/x", "alone",
		},
		collections: []model.CollectionID{0, 1, 1, 1, 1, 2, 0},
	}
	rows := etcdPrefixes.Table(NewEnv(model.Build(model.Parts{
		Loaded: model.PartAll, Keyspace: space, Collections: []*model.Collection{{ID: 1, Name: "docs"}},
	}), time.Time{}))
	cell := func(row int, name string) table.Cell { return rows.Cell(row, etcdPrefixes.Column(name)) }
	want := []struct {
		prefix      string
		depth, keys int64
		collection  string
		left        bool
	}{
		{"a/", 1, 5, "", false},
		{"a/b/", 2, 4, "docs", false},
		{"a/b/c/", 3, 4, "docs", false},
		{"a/b/c/d/", 4, 3, "docs", false},
		{"a/b/c/d/1/", 5, 3, "docs", true},
		{"a/b/c/d/1/2/", 6, 2, "docs", true},
		{"/wal/", 1, 1, "", false},
		{"a/b2/", 2, 1, "", false},
	}
	if rows.Len() != len(want) {
		t.Fatalf("%d rows", rows.Len())
	}
	for row, w := range want {
		if cell(row, "prefix").Text != w.prefix || cell(row, "depth").Int != w.depth ||
			cell(row, "keys").Int != w.keys || cell(row, "size_bytes").Int != 100*w.keys ||
			cell(row, "percent").Float != 100*float64(w.keys)/7 || cell(row, "collection").Text != w.collection ||
			rows.Omitted(row) != w.left {
			t.Errorf("row %d: %+v, depth %v, keys %v, bytes %v, share %v, collection %v, left %v, want %+v", row,
				cell(row, "prefix"), cell(row, "depth"), cell(row, "keys"), cell(row, "size_bytes"),
				cell(row, "percent"), cell(row, "collection"), rows.Omitted(row), w)
		}
	}
	if n := cell(7, "collection_id"); n.Int != 2 {
		t.Errorf("a prefix of a collection that is gone has %+v", n)
	}
	if n := etcdPrefixes.Table(NewEnv(model.Build(model.Parts{}), time.Time{})).Len(); n != 0 {
		t.Errorf("%d rows without keys", n)
	}
}
