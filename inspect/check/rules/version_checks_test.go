package rules_test

import (
	"testing"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

func TestMixedVersions(t *testing.T) {
	hold(t, named("mixed-versions"), []verdict{
		{"one", nil, nil, ""},
		{"two", func(w *world) { w.Sessions[3].Version = "2.4.6" }, []string{"warning / different versions are running: 2.4.5 (datacoord-2, datanode-5, indexnode-6 and 3 more), 2.4.6 (querynode-4)"}, ""},
		{"written differently", func(w *world) { w.Sessions[3].Version = "v2.4.5" }, nil, ""},
		{"stopping ones do not count", func(w *world) { w.Sessions[3].Version, w.Sessions[3].Stopping = "2.4.4", true }, nil, ""},
		{"two builds", func(w *world) { w.asked(); w.live("querynode").System.BuildTime = "Tuesday" }, []string{"info / 2 builds of one version are running"}, ""},
		{"no versions", func(w *world) {
			for _, s := range w.Sessions {
				s.Version = ""
			}
		}, nil, "carry no version"},
		{"nobody", func(w *world) { w.Sessions = nil }, nil, "no process is registered"},
	})
}

func TestLayoutOlder(t *testing.T) {
	upgraded := func(w *world) {
		w.KeysByKind = map[string]int64{"index-2.1": 4, "segment-index-2.1": 9, "index-meta-2.1": 9, "collection-load-2.1": 6, "collection": 1}
		w.Collections[0].Layout = "2.1"
		w.Version.Text = "2.2.16"
		w.Indexes = nil
	}
	indexed := func(w *world, n int64) { w.Indexes, w.KeysByKind["index"] = well().Indexes, n }
	hold(t, named("layout-older"), []verdict{
		{"of its own", nil, nil, ""},
		{"not migrated", upgraded, []string{"error / Milvus 2.2.16 runs on unmigrated metadata of 2.1 and does not see 4 index definitions and the load states of 6 collections"}, ""},
		{"not migrated, under 2.3", func(w *world) { upgraded(w); w.Version.Text = "2.3.5" }, []string{"error / does not see 4 index definitions and the load states of 6 collections"}, ""},
		{"made again, and works", func(w *world) {
			upgraded(w)
			indexed(w, 1)
			w.Version.Text, w.KeysByKind["collection-load"] = "2.3.5", 1
		}, []string{"info / 28 keys of Milvus 2.1 are left over, ignored by Milvus 2.3.5"}, ""},
		{"indexes made again, all released", func(w *world) {
			upgraded(w)
			indexed(w, 1)
			w.LoadStates = nil
		}, []string{"info / are left over"}, ""},
		{"one made again, one not", func(w *world) {
			upgraded(w)
			indexed(w, 1)
			w.KeysByKind["collection-load"] = 1
			w.Collections = append(w.Collections, &model.Collection{ID: 1001, Database: 1, Name: "old", State: "Created", Layout: "2.1", Fields: w.Collections[0].Fields})
		}, []string{"info / 1 of 2 collections from before the upgrade has no index"}, ""},
		{"all from before was dropped", func(w *world) { upgraded(w); w.Collections[0].State = "Dropped" }, []string{"info / are left over"}, ""},
		{"migrated, with leftovers", func(w *world) {
			upgraded(w)
			indexed(w, 4)
			w.KeysByKind["collection-load"] = 6
			w.Collections[0].Layout = "2.2"
		}, []string{"info / 28 keys of Milvus 2.1 are left over"}, ""},
		{"2.1 itself", func(w *world) { upgraded(w); w.Version.Text = "2.1" }, nil, ""},
		{"before databases", func(w *world) { w.Collections[0].Layout = "2.2" }, nil, ""},
		{"not all read", func(w *world) { upgraded(w); w.Loaded &^= model.PartRest }, nil, "could not be read"},
	})
}

func TestLayoutRollback(t *testing.T) {
	old := func(text string) func(*world) {
		return func(w *world) {
			w.Version.Text = text
			w.KeysByKind = map[string]int64{"collection": 1}
		}
	}
	rewritten := func(w *world) { old("2.1")(w); w.segment(0).LogKeys = true }
	hold(t, named("layout-rollback"), []verdict{
		{"of its own", nil, nil, ""},
		{"2.1 of its own", old("2.1"), nil, ""},
		{"rewritten segment", rewritten, []string{"error collections/1000 1 segment of docs, 90,000 rows, was rewritten by a newer Milvus: the running 2.1 finds no data in it"}, ""},
		{"both layouts: 2.1 reads its own", func(w *world) { rewritten(w); w.segment(0).TwoLayouts = true }, nil, ""},
		{"rewritten and dropped", func(w *world) { rewritten(w); w.segment(0).State = model.SegmentDropped }, nil, ""},
		{"log keys are usual from 2.2 on", func(w *world) { old("2.2.9")(w); w.segment(0).LogKeys = true }, nil, ""},
		{"keys of a newer one", func(w *world) { old("2.1")(w); w.KeysByKind["binlog"], w.KeysByKind["channel-checkpoint"] = 4, 13 }, []string{"warning / 17 keys of Milvus 2.2 or later exist, but 2.1 is running"}, ""},
		{"2.4 under 2.3", func(w *world) { old("2.3.5")(w); w.KeysByKind["compaction-task"] = 3 }, []string{"warning / 3 keys of Milvus 2.4 or later"}, ""},
		{"2.6 under 2.5", func(w *world) { old("2.5.1")(w); w.KeysByKind["pchannel"], w.KeysByKind["compaction-task"] = 16, 3 }, []string{"warning / 16 keys of Milvus 2.6 or later"}, ""},
		{"deletes in L0 segments under 2.3", func(w *world) {
			old("2.3.5")(w)
			w.segment(0).Level, w.segment(0).DeletedRows = model.LevelL0, 77
		}, []string{"error collections/1000 1 L0 segment of docs holds 77 deletes that Milvus 2.3.5 cannot read"}, ""},
		{"L0 segments under 2.4", func(w *world) { old("2.4.0")(w); w.segment(0).Level = model.LevelL0 }, nil, ""},
		{"targets are written by 2.3.13, too", func(w *world) { old("2.3.13")(w); w.KeysByKind["target"] = 3 }, nil, ""},
		{"an upgrade to 2.6 is under way", func(w *world) {
			old("2.5.12")(w)
			w.KeysByKind["pchannel"], w.Version.Others = 16, []string{"2.6.4"}
		}, nil, ""},
		{"an upgrade to 2.4 is under way", func(w *world) {
			old("2.3.5")(w)
			w.segment(0).Level, w.Version.Others = model.LevelL0, []string{"2.4.9"}
		}, nil, ""},
		{"2.6 under 2.5 while 2.4 is upgraded to that", func(w *world) {
			old("2.4.9")(w)
			w.KeysByKind["pchannel"], w.Version.Others = 16, []string{"2.5.1"}
		}, []string{"warning / 16 keys of Milvus 2.6 or later"}, ""},
		{"unknown version", old(""), nil, "running version is unknown"},
	})
}

func TestUndecoded(t *testing.T) {
	hold(t, named("undecoded-records"), []verdict{
		{"none", nil, nil, ""},
		{"some", func(w *world) {
			w.Undecoded = []*model.Undecoded{{Key: "a", Reason: "unknown key"}, {Key: "b", Reason: "unknown key"}, {Key: "c", Reason: "SegmentInfo: proto: cannot parse at 12"}}
		}, []string{"info / 3 of 20 keys cannot be decoded, most often: unknown key"}, ""},
		{"not all read", func(w *world) { w.Loaded &^= model.PartUsers }, nil, "could not be read"},
	})
}

func TestParseRelease(t *testing.T) {
	for text, want := range map[string]facts.Release{
		"2.3.5": {Major: 2, Minor: 3}, "v2.6.1-dev": {Major: 2, Minor: 6}, "2.2.9 or newer": {Major: 2, Minor: 2}, "2.1": {Major: 2, Minor: 1}, "3.0 or newer": {Major: 3, Minor: 0}, "": {}, "two": {}, "2.x": {}, "2.10.4": {Major: 2, Minor: 10},
	} {
		if got := facts.ParseRelease(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if (facts.Release{}).Before(facts.Release{Major: 2, Minor: 2}) || (facts.Release{Major: 2, Minor: 10}).Before(facts.Release{Major: 2, Minor: 9}) || !(facts.Release{Major: 2, Minor: 9}).Before(facts.Release{Major: 3, Minor: 0}) {
		t.Error("releases are compared wrongly")
	}
}
