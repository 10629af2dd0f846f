package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

const docs = modeltest.Docs

// line formats a change. It begins with "+" (added), "-" (removed), "~" (changed) or ">" (replaced).
func line(c Change) string {
	mark := map[Kind]string{Added: "+", Removed: "-", Changed: "~", Replaced: ">"}[c.Kind]
	s := mark + " " + c.Object.Resource + " " + c.Object.ID
	if c.Field != "" {
		s += " " + c.Field + ": " + c.From + " to " + c.To
	}
	parts := []string{s}
	for _, r := range c.By {
		parts = append(parts, r.ID)
	}
	return strings.Join(parts, " by ")
}

func lines(d *Diff) []string {
	var list []string
	for _, c := range d.Changes {
		list = append(list, line(c))
	}
	return list
}

// cluster returns a cluster with one collection. Segments without a state are flushed.
func cluster(list ...*model.Segment) *model.Cluster {
	for _, s := range list {
		s.Collection, s.VChannel = docs, "v0"
		if s.State == 0 {
			s.State = model.SegmentFlushed
		}
	}
	return model.Build(model.Parts{
		Loaded: model.PartAll, Collections: []*model.Collection{{ID: docs, Name: "docs"}}, Segments: list,
	})
}

func segment(id model.SegmentID, rows int64, from ...model.SegmentID) *model.Segment {
	return &model.Segment{ID: id, Rows: rows, CompactedFrom: from}
}

func dropped(s *model.Segment) *model.Segment {
	s.State = model.SegmentDropped
	return s
}

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b    *model.Cluster
		options Options
		want    []string
	}{
		{"nothing", cluster(segment(1, 5)), cluster(segment(1, 5)), Options{}, nil},
		{"added", cluster(), cluster(segment(1, 5)), Options{}, []string{"+ segments 1"}},
		{"removed", cluster(segment(1, 5)), cluster(), Options{}, []string{"- segments 1"}},
		{"rows", cluster(segment(1, 5)), cluster(segment(1, 7)), Options{}, []string{"~ segments 1 rows: 5 to 7"}},
		{"one for one", cluster(segment(1, 5)), cluster(segment(2, 5, 1)), Options{}, []string{"> segments 1 by 2"}},
		{
			"merged, inputs still there", cluster(segment(1, 5), segment(2, 6)),
			cluster(dropped(segment(1, 5)), dropped(segment(2, 6)), segment(3, 11, 1, 2)),
			Options{},
			[]string{"> segments 1 by 3", "> segments 2 by 3"},
		},
		{
			"split", cluster(segment(1, 10)), cluster(dropped(segment(1, 10)), segment(2, 5, 1), segment(3, 5, 1)),
			Options{},
			[]string{"> segments 1 by 2 by 3"},
		},
		{
			"merged and split", cluster(segment(1, 10), segment(2, 10)),
			cluster(segment(3, 7, 1, 2), segment(4, 7, 1, 2), segment(5, 6, 1, 2)),
			Options{},
			[]string{"> segments 1 by 3 by 4 by 5", "> segments 2 by 3 by 4 by 5"},
		},
		{
			"two generations", cluster(segment(1, 5), segment(2, 5)),
			cluster(dropped(segment(1, 5)), dropped(segment(3, 5, 1)), segment(4, 10, 2, 3)),
			Options{},
			[]string{"> segments 1 by 4", "> segments 2 by 4"},
		},
		{
			"into one that was there", cluster(segment(1, 5), segment(2, 9, 1)),
			cluster(dropped(segment(1, 5)), segment(2, 9, 1)),
			Options{},
			[]string{"> segments 1 by 2"},
		},
		{
			"dropped for good", cluster(segment(1, 5)), cluster(dropped(segment(1, 5))),
			Options{},
			[]string{"~ segments 1 state: Flushed to Dropped"},
		},
		{"garbage collected", cluster(dropped(segment(1, 5))), cluster(), Options{}, nil},
		{
			"garbage collected, asked for", cluster(dropped(segment(1, 5))), cluster(),
			Options{Volatile: true},
			[]string{"- segments 1"},
		},
		{"born and gone", cluster(), cluster(dropped(segment(1, 5))), Options{}, nil},
		{
			"a circle in damaged metadata", cluster(segment(1, 5)),
			cluster(dropped(segment(1, 5, 2)), dropped(segment(2, 5, 1))),
			Options{},
			[]string{"~ segments 1 state: Flushed to Dropped"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Compare(c.a, c.b, c.options)
			if diff := cmp.Diff(c.want, lines(d)); diff != "" {
				t.Error(diff)
			}
			if d.Empty() != (len(c.want) == 0) {
				t.Error("Empty does not agree")
			}
		})
	}
}

func TestSummary(t *testing.T) {
	a := cluster(segment(1, 5), segment(2, 6), segment(9, 1))
	b := cluster(dropped(segment(1, 5)), dropped(segment(2, 6)), segment(3, 10, 1, 2), segment(4, 100), segment(9, 2))
	b.Segment(9).Bytes = 7 // a second changed field of this segment
	want := []Summary{{
		Collection: model.Ref{Resource: "collections", ID: docs.String(), Name: "docs"},
		Added:      1, Replaced: 2, Changed: 1, RowsBefore: 12, RowsAfter: 112, SegmentsBefore: 3, SegmentsAfter: 3,
	}}
	if diff := cmp.Diff(want, Compare(a, b, Options{}).Collections); diff != "" {
		t.Error(diff)
	}
}

func TestIndexDefinitionsChangeIndexStates(t *testing.T) {
	a := modeltest.SmallParts()
	b := modeltest.SmallParts()
	b.Segments = slices.Clone(a.Segments) // shared, as after a refresh
	b.Indexes = append(slices.Clone(a.Indexes), &model.Index{ID: 7, Collection: docs, Field: 103, Name: "sparse_idx"})
	d := Compare(model.Build(a), model.Build(b), Options{})
	want := []string{
		"+ indexes 7",
		"~ segments 470590569932852667 index_state: Finished to Missing",
	}
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Error(diff)
	}
}

// TestEveryKind checks that Compare finds a change in objects of each kind.
func TestEveryKind(t *testing.T) {
	p := modeltest.SmallParts()
	p.Databases[1].Properties = nil
	p.Collections[0].Properties = p.Collections[0].Properties[:1]
	p.Partitions = p.Partitions[:2]
	p.Collections[1].Fields[1].Params[0].Value = "128"
	p.Aliases[0].Collection = modeltest.Orders
	p.VChannels[0].Watcher = 9
	p.VChannels[0].Checkpoint = model.Checkpoint{}
	p.PChannels[1].Node = 9
	p.Indexes[0].Params[0].Value = "32"
	p.LoadStates[0].Status = "Loading"
	p.Replicas[1].RONodes = nil
	p.ResourceGroups[1].Nodes = []model.NodeID{10, 12}
	p.Sessions = slices.DeleteFunc(p.Sessions, func(s *model.Session) bool { return s.Node == 12 })
	p.Users[1].Roles = []string{"read"}
	p.Roles = p.Roles[:2]
	p.Grants = p.Grants[1:]
	p.PrivilegeGroups[0].Privileges = append(p.PrivilegeGroups[0].Privileges, "Flush")
	p.Config[0].Value = "true"
	p.Tasks[2].State = "Done"
	want := []string{
		"~ databases 2 properties: database.replica.number=2 to ",
		"~ pchannels by-dev-rootcoord-dml_1 node: 4 to 9",
		"~ resource-groups rg_a nodes: 10 to 10,12",
		"- nodes querynode-12",
		"~ users reader roles: public,read to read",
		"- roles public",
		"- grants read/Collection/default/docs/Search",
		"~ privilege-groups ReadGroup privileges: Query,Search to Flush,Query,Search",
		"~ config queryCoord/autoBalance value: false to true",
		"~ tasks broadcast/470590569933100003 state: Pending to Done",
		"~ collections 470590569932652633 properties: collection.ttl.seconds=86400,mmap.enabled=true to " +
			"collection.ttl.seconds=86400",
		"~ vchannels by-dev-rootcoord-dml_0_470590569932652633v0 watcher: 4 to 9",
		"~ indexes 470590569932652801 params: M=16,efConstruction=200 to M=32,efConstruction=200",
		"~ load-states 470590569932652633 state: Loaded to Loading",
		"~ replicas 470590570311974920 ro_nodes: 12 to ",
		"- partitions 470590569933053507",
		"~ fields 470590569933053506/101 params: dim=64 to dim=128",
		"~ aliases 1/articles collection_id: 470590569932652633 to 470590569933053506",
	}
	d := Compare(modeltest.Small(), model.Build(p), Options{})
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Error(diff)
	}
	moving := Compare(modeltest.Small(), model.Build(p), Options{Volatile: true})
	if len(moving.Changes) != len(want)+1 ||
		!slices.ContainsFunc(moving.Changes, func(c Change) bool { return c.Field == "checkpoint_at" }) {
		t.Errorf("the moved checkpoint is missing: %q", lines(moving))
	}
}

func TestWhatWasNotReadIsNotCompared(t *testing.T) {
	p := modeltest.SmallParts()
	p.Loaded = model.PartCatalog | model.PartSegments
	p.Users, p.Config, p.Segments[1].Bytes = nil, nil, 0
	d := Compare(modeltest.Small(), model.Build(p), Options{})
	if !d.Empty() {
		t.Errorf("changes of what was not read: %q", lines(d))
	}
	want := "vchannels pchannels users roles grants privilege-groups config tasks segments.size_bytes " +
		"segments.index_state"
	if got := strings.Join(d.NotCompared, " "); got != want {
		t.Errorf("not compared: %s", got)
	}
}

func TestReverseSwapsAddedAndRemoved(t *testing.T) {
	p := modeltest.SmallParts()
	p.Aliases, p.Segments = p.Aliases[1:], p.Segments[:5]
	a, b := modeltest.Small(), model.Build(p)
	there, back := lines(Compare(a, b, Options{})), lines(Compare(b, a, Options{}))
	for i := range there {
		there[i] = strings.Replace(there[i], "- ", "+ ", 1)
	}
	if diff := cmp.Diff(there, back); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, shared := range []bool{true, false} {
		b.Run(fmt.Sprintf("shared=%v", shared), func(b *testing.B) {
			first, second := modeltest.LargeParts(200_000), modeltest.LargeParts(200_000)
			if shared {
				copy(second.Segments, first.Segments)
				second.Indexes = first.Indexes
			}
			second.Segments = append(second.Segments[:1000], second.Segments[2000:]...)
			x, y := model.Build(first), model.Build(second)
			b.ReportAllocs()
			for b.Loop() {
				if len(Compare(x, y, Options{}).Changes) == 0 {
					b.Fatal("no changes")
				}
			}
		})
	}
}

// TestDuplicateRecords checks that a cluster with two records of the same identity does not differ from itself, and
// that their removal is one change.
func TestDuplicateRecords(t *testing.T) {
	c := model.Build(model.Parts{
		Loaded: model.PartAll, Config: []*model.ConfigEntry{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}},
	})
	if d := Compare(c, c, Options{}); !d.Empty() {
		t.Errorf("with itself: %q", lines(d))
	}
	gone := Compare(c, model.Build(model.Parts{Loaded: model.PartAll}), Options{})
	if diff := cmp.Diff([]string{"- config a"}, lines(gone)); diff != "" {
		t.Errorf("with nothing (-want +got):\n%s", diff)
	}
}
