package report_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/report"
)

func TestTopByNode(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	f := b.Frame("f", profile.NoMapping)
	for _, s := range []struct {
		value  int64
		stack  []uint32
		labels []profile.Label
	}{
		{5, []uint32{f}, []profile.Label{{Key: profile.NodeLabel, Str: "querynode-1"}}},
		{
			2,
			[]uint32{f, f},
			[]profile.Label{
				{Key: profile.NodeLabel, Str: "querynode-2"}, {Key: "bytes", Num: 64, Unit: "B", IsNum: true},
			},
		},
		{9, nil, []profile.Label{{Key: profile.NodeLabel, Str: "querynode-2"}}},
		{1, []uint32{f}, nil},
	} {
		if err := b.Sample(s.stack, []int64{s.value}, s.labels...); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Profile()
	for _, test := range []struct {
		name    string
		options report.Options
		want    map[string]int64
	}{
		{
			"nodes, with samples that have no stack",
			report.Options{By: profile.ByNode},
			map[string]int64{"querynode-2": 11, "querynode-1": 5, report.NoNode: 1},
		},
		{
			"nodes of a filter",
			report.Options{By: profile.ByNode, Filter: profile.Filter{Focus: rx("f")}},
			map[string]int64{"querynode-2": 2, "querynode-1": 5, report.NoNode: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			top, err := report.NewTop(p, test.options)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for _, e := range top.Entries {
				got[e.Function] = e.Flat
				if e.Cum != e.Flat || e.FlatSamples != e.Flat {
					t.Errorf("%+v", e)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if top.Total != 17 {
				t.Errorf("total %d", top.Total)
			}
		})
	}
}

// TestTopByClassAddsUp checks that the flat values by class add up to the total, because each sample has a
// class.
func TestTopByClassAddsUp(t *testing.T) {
	for _, name := range []string{
		"milvus-cpu-flat.pb.gz", "milvus-cpu-hnswcos-nq1-20s.pb.gz", "milvus-goroutine.pb.gz",
		"milvus-threadcreate.pb.gz", "t3/querynode1.cpu.pb.gz",
	} {
		p := decode(t, filepath.Join(fixtures, name))
		top, err := report.NewTop(p, report.Options{By: profile.ByClass})
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, e := range top.Entries {
			sum += e.Flat
			if e.Cum < e.Flat {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if sum != top.Total || sum == 0 {
			t.Errorf("%s: classes add up to %d of %d", name, sum, top.Total)
		}
	}
}

// TestTopByClassOfRealProfiles checks known facts about the recorded profiles. If native code has no names, its
// libraries are still shown, including thread pools without a caller in Go.
func TestTopByClassOfRealProfiles(t *testing.T) {
	for _, test := range []struct {
		name, class string
		low, high   float64
	}{
		{"milvus-cpu-flat.pb.gz", "native libknowhere.so", 33, 34},
		{"milvus-cpu-hnsw.pb.gz", "native libknowhere.so", 51, 52},
		{"milvus-cpu-flat.pb.gz", "gc", 5.5, 6.5},
		{"milvus-cpu-hnswcos-nq1-20s.pb.gz", "gc", 17, 21},
		{"milvus-goroutine.pb.gz", "idle", 99, 100},
		{"t5/querynode1.cpu.pb.gz", "native libknowhere.so", 40, 44},
	} {
		top, err := report.NewTop(decode(t, filepath.Join(fixtures, test.name)), report.Options{By: profile.ByClass})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(top.Entries, func(e report.Entry) bool { return e.Function == test.class })
		if i < 0 {
			t.Errorf("%s: no %s", test.name, test.class)
			continue
		}
		if share := top.Percent(top.Entries[i].Flat); share < test.low || share > test.high {
			t.Errorf("%s: %s is %.2f%%, want %v to %v", test.name, test.class, share, test.low, test.high)
		}
	}
}

func TestTopFoldsPreemption(t *testing.T) {
	p := decode(t, filepath.Join(fixtures, "milvus-cpu-flat.pb.gz"))
	flat := func(o report.Options) (preempt, all int64) {
		top, err := report.NewTop(p, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range top.Entries {
			if e.Function == "runtime.asyncPreempt" {
				preempt = e.Flat
			}
			all += e.Flat
		}
		return preempt, all
	}
	before, all := flat(report.Options{})
	after, same := flat(report.Options{FoldPreempt: true})
	if before == 0 || after != 0 || all != same {
		t.Errorf("asyncPreempt had %d and has %d; all %d and %d", before, after, all, same)
	}
}

func TestHeader(t *testing.T) {
	p := decode(t, filepath.Join(fixtures, "milvus-cpu-flat.pb.gz"))
	p.Origin.Name = "flat"
	top, err := report.NewTop(p, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if top.Total != 9_540_000_000 || top.Samples != 954 || top.Type.String() != "cpu/nanoseconds" ||
		top.Origin.Name != "flat" ||
		!slices.Equal(top.BuildIDs, []string{"28c2478c87020b9b0ff1eccb05e6ee19bd736773"}) || top.Time.IsZero() ||
		top.Duration == 0 {
		t.Errorf("%+v", top.Header)
	}
	if e := top.Entries[0]; e.Function != "[libknowhere.so]" || e.FlatSamples != e.Flat/10_000_000 ||
		e.Class != profile.Native {
		t.Errorf("%+v", e)
	}
	heap, err := report.NewTop(decode(t, filepath.Join(fixtures, "milvus-heap.pb.gz")), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if heap.Samples != -1 || heap.Entries[0].FlatSamples != -1 {
		t.Errorf("events of a heap profile are unknown, not %d and %d", heap.Samples, heap.Entries[0].FlatSamples)
	}
}

func TestProfilesWithoutSamples(t *testing.T) {
	p := decode(t, filepath.Join(fixtures, "milvus-block.pb.gz"))
	for by := range profile.ByNode {
		top, err := report.NewTop(p, report.Options{By: by})
		if err != nil || len(top.Entries) != 0 || top.Total != 0 || top.Percent(5) != 0 {
			t.Errorf("%s: %+v, %v", by, top, err)
		}
	}
	if _, err := report.NewTop(&profile.Profile{}, report.Options{}); err == nil {
		t.Error("a profile without types has no top")
	}
}
