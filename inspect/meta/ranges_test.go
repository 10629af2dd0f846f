package meta

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestRangesCoverTheRoot checks that the ranges of PartAll cover all keys below the root without a gap, for any
// catalog.
func TestRangesCoverTheRoot(t *testing.T) {
	h := testHeader()
	for name, catalog := range map[string]*model.Cluster{
		"none": nil, "constructed": loadConstructed(t, "2.6"), "many": manyCollections(1000),
	} {
		ranges := Ranges(h, model.PartAll, catalog)
		root := source.Prefix("by-dev/")
		if ranges[0].From != root.From || ranges[len(ranges)-1].To != root.To {
			t.Errorf("%s: from %q to %q", name, ranges[0].From, ranges[len(ranges)-1].To)
		}
		for i := 1; i < len(ranges); i++ {
			if ranges[i].From != ranges[i-1].To || ranges[i].From >= ranges[i].To {
				t.Errorf("%s: %+v after %+v", name, ranges[i], ranges[i-1])
			}
		}
		if want := map[string][2]int{"none": {15, 20}, "constructed": {50, 60}, "many": {250, 320}}[name]; len(ranges) <
			want[0] || len(ranges) > want[1] {
			t.Errorf("%s: %d ranges, want between %d and %d", name, len(ranges), want[0], want[1])
		}
	}
	h.Revision = smallStore
	if cut, whole := len(Ranges(h, model.PartAll, manyCollections(1000))), len(Ranges(h, model.PartAll, nil)); cut !=
		whole {
		t.Errorf("a small store is cut into %d ranges instead of %d", cut, whole)
	}
}

func manyCollections(n int) *model.Cluster {
	var p model.Parts
	for i := range n {
		id := model.CollectionID(1000 + i*7)
		p.Collections = append(p.Collections, &model.Collection{ID: id})
		p.Partitions = append(p.Partitions, &model.Partition{ID: model.PartitionID(id + 1), Collection: id})
	}
	return model.Build(p)
}

// TestRangesOfParts checks that a key of every kind is in the ranges of its part.
func TestRangesOfParts(t *testing.T) {
	h := testHeader()
	for _, k := range kinds() {
		key := h.MetaPrefix() + k.pattern
		if rest, ok := strings.CutPrefix(k.pattern, "/"); ok {
			key = h.Root + "/" + rest
		}
		if strings.HasPrefix(k.pattern, string(outsideRoot)) {
			continue // read separately (readOutside)
		}
		key = strings.NewReplacer("{", "", "}", "").Replace(key)
		if !rangeList(Ranges(h, k.part, nil)).contains([]byte(key)) {
			t.Errorf("%s: %s is not read for its part", k.name, key)
		}
		if k.part&model.PartCatalog != 0 && rangeList(Ranges(h, model.PartTasks, nil)).contains([]byte(key)) &&
			!strings.HasPrefix(k.name, "session") {
			t.Errorf("%s: %s is read for another part", k.name, key)
		}
	}
}

// TestLoadInPieces checks that a load in pieces and a load in one pass give the same cluster, and that orphans of
// dropped collections are found.
func TestLoadInPieces(t *testing.T) {
	kvs := metatest.Cluster("2.6")
	for _, key := range []string{
		"datacoord-meta/s/1/2/3", "datacoord-meta/s/9/2/4", "datacoord-meta/binlog/455000000000000150/2/5/100",
	} {
		kvs = append(kvs, source.KV{Key: []byte("by-dev/meta/" + key), Value: nil, ModRevision: 1, Version: 1})
	}
	pieces, whole := newMemory(kvs), newMemory(slices.Clone(kvs))
	whole.seekable = false
	want := Want{Parts: model.PartAll}
	a, err := Load(context.Background(), pieces, want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(context.Background(), whole, want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.Parts, b.Parts); diff != "" {
		t.Errorf("clusters differ:\n%s", diff)
	}
	if len(pieces.scans) != 3 || len(whole.scans) != 1 { // the last scan reads the keys outside the root
		t.Errorf("%d and %d scans, want 3 and 1", len(pieces.scans), len(whole.scans))
	}
	if a.Segment(3) == nil || a.Segment(4) == nil || a.Keys != int64(len(kvs)) {
		t.Errorf("%d of %d keys; segments of unknown collections are missing", a.Keys, len(kvs))
	}
}

func TestLoadOneCollection(t *testing.T) {
	for _, name := range []string{
		"docs", "default.docs", "latest", "default.latest", strconv.FormatInt(metatest.Docs, 10),
	} {
		for _, seekable := range []bool{true, false} {
			m := newMemory(metatest.Cluster("2.6"))
			m.seekable = seekable
			c, err := Load(context.Background(), m, Want{Parts: model.PartLogs, Collection: name})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Segments) != 4 || len(c.SegmentsOf(model.CollectionID(metatest.Docs))) != 4 {
				t.Errorf("%s: %d segments", name, len(c.Segments))
			}
			if !c.Loaded.Has(model.PartCatalog|model.PartSegments|model.PartLogs) ||
				c.Loaded.Has(model.PartSegmentIndexes) {
				t.Errorf("%s: loaded %b", name, c.Loaded)
			}
			if seekable {
				for _, r := range m.scans[1] {
					if !strings.Contains(r.From, strconv.FormatInt(metatest.Docs, 10)) {
						t.Errorf("%s: reads %v", name, r)
					}
				}
			}
		}
	}
	_, err := Load(context.Background(), newMemory(metatest.Cluster("2.6")), Want{
		Parts: model.PartSegments, Collection: "nothing",
	})
	var unknown *UnknownCollectionError
	if !errors.As(err, &unknown) || err.Error() != `no collection "nothing"` {
		t.Errorf("error %v", err)
	}
	c, err := Load(context.Background(), newMemory(metatest.Cluster("2.6")), Want{
		Parts: model.PartSegments, Collection: "77",
	})
	if err != nil || len(c.Segments) != 0 {
		t.Errorf("an id that no collection has: %v, %v", c, err)
	}
}

// TestLoadParts checks that unwanted parts are not read, and are marked as not loaded.
func TestLoadParts(t *testing.T) {
	m := newMemory(metatest.Cluster("2.6"))
	c, err := Load(context.Background(), m, Want{Parts: model.PartUsers})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Users) != 2 || len(c.Collections) != 0 || len(c.Segments) != 0 || c.Loaded != model.PartUsers ||
		c.Version.Text != "2.6.1" {
		t.Errorf("users %d, collections %d, loaded %b, version %s", len(c.Users), len(c.Collections), c.Loaded,
			c.Version.Text)
	}
}
