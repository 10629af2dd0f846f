package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// goneColl is a collection that the small cluster does not have.
const goneColl = model.CollectionID(900)

// brokenRelations returns, for each relation, a change that removes one side of the relation, and the expected
// verdict.
func brokenRelations() map[string]rulestest.Case {
	stray := func(w *rulestest.World) *model.Segment {
		s := rulestest.HealthySegment(9000, "by-dev-rootcoord-dml_9_900v0")
		s.Collection, s.Partition, s.Indexes = goneColl, 901, nil
		w.Segments = append(w.Segments, s)
		return s
	}
	orphan := func(s model.Segment) func(*rulestest.World) {
		s.ID, s.Collection = 9000, goneColl
		return func(w *rulestest.World) { w.Orphans = []*model.Segment{&s} }
	}
	remains := func(w *rulestest.World) {
		w.Remains = []*model.Remains{{Collection: goneColl, Fields: 3, Partitions: 2, Functions: 1}}
	}
	const left = "info / left over: 1 "
	return map[string]rulestest.Case{
		"segments of collections that are gone": {
			Change: func(w *rulestest.World) { stray(w) },
			Want:   []string{left + "segment (50.0 MiB) of collections that are gone"},
		},
		"segments of partitions that are gone": {
			Change: func(w *rulestest.World) { w.Segment(0).Partition = 1002 },
			Want:   []string{left + "segment (50.0 MiB) of partitions that are gone"},
		},
		"log files of segments that are gone": {
			Change: orphan(model.Segment{Bytes: 4096, Logs: []model.FieldLogs{{Files: 1, Bytes: 4096}}}),
			Want:   []string{left + "log file (4.0 KiB) of segments that are gone"},
		},
		"index records of segments that are gone": {
			Change: orphan(model.Segment{Indexes: []model.SegmentIndex{{Index: rulestest.IndexID}}}),
			Want:   []string{left + "index record of segments that are gone"},
		},
		"segments with index records of definitions that are gone": {
			Change: func(w *rulestest.World) { w.Index(0).Index = 1400 },
			Want:   []string{left + "segment with index records of definitions that are gone"},
		},
		"logs of pchannels that are gone": {Change: func(w *rulestest.World) {
			w.PChannels[0].Streaming = true
			w.Woodpecker = &model.Woodpecker{Logs: []*model.Log{{Name: "by-dev-rootcoord-dml_9"}, {Name: "other_9"}}}
		}, Want: []string{left + "log of pchannels that are gone"}},
		"role memberships of users or roles that are gone": {Change: func(w *rulestest.World) {
			w.Users = []*model.User{{Name: "ann", Roles: []string{"reader"}, Unrecorded: true}}
			w.Roles = []*model.Role{{Name: "reader", Users: []string{"ann"}}}
		}, Want: []string{left + "role membership of users or roles that are gone"}},
		"privileges of roles that are gone": {Change: func(w *rulestest.World) {
			w.Grants = []*model.Grant{
				{Role: "writer", ObjectType: "Global", Object: "*", Privilege: "All", Database: "default"},
			}
			w.Roles = []*model.Role{{Name: "writer", Unrecorded: true}}
		}, Want: []string{left + "privilege of roles that are gone"}},
		"index definitions of collections that are gone": {Change: func(w *rulestest.World) {
			w.Indexes = append(w.Indexes, &model.Index{ID: 1600, Collection: goneColl, Name: "left"})
		}, Want: []string{left + "index definition of collections that are gone"}},
		"fields of collections that are gone": {
			Change: remains, Want: []string{"info / 3 fields of collections that are gone"},
		},
		"partitions of collections that are gone": {
			Change: remains, Want: []string{"info / 2 partitions of collections that are gone"},
		},
		"functions of collections that are gone": {
			Change: remains, Want: []string{"info / 1 function of collections that are gone"},
		},
		"recoverable vchannels of collections that are gone": {Change: func(w *rulestest.World) {
			w.VChannels = append(w.VChannels, &model.VChannel{
				Name: "x_900v0", Collection: goneColl, Shard: -1, State: "Normal",
			})
		}, Want: []string{left + "recoverable vchannel of collections that are gone"}},
		"targets of collections that are gone": {
			Change: func(w *rulestest.World) { w.Targets = []*model.Target{{Collection: goneColl}} },
			Want:   []string{left + "target of collections that are gone"},
		},
		"tasks of collections that are gone": {Change: func(w *rulestest.World) {
			w.Tasks = []*model.Task{
				{
					ID: 7, Type: "compaction", State: "executing", Collection: goneColl,
					StartedAt: rulestest.TimeAgo(2 * time.Hour),
				},
			}
		}, Want: []string{left + "task of collections that are gone"}},
		"statistics records of collections that are gone": {Change: func(w *rulestest.World) {
			w.PartitionStats = []*model.PartitionStats{
				{Collection: goneColl, Partition: 901, CommittedAt: rulestest.TimeAgo(25 * time.Hour)},
			}
		}, Want: []string{left + "statistics record of collections that are gone"}},
		"channel records of collections that are dropped": {Change: func(w *rulestest.World) {
			w.VChannels = append(w.VChannels, &model.VChannel{
				Name: "x_900v0", Collection: goneColl, Shard: -1,
				Checkpoint: model.Checkpoint{At: rulestest.TSOAgo(time.Hour)},
			})
		}, Want: []string{left + "channel record of collections that are dropped"}},

		"collection on fields, partitions, vchannels": {
			Change: func(w *rulestest.World) { w.Collections[0].Fields = nil },
			Want:   []string{"error collections/1000 collection docs has no fields in etcd"},
		},
		"collection on database": {
			Change: func(w *rulestest.World) { w.Collections[0].Database = 7 },
			Want:   []string{"error collections/1000 collection docs is in database 7, which has no record"},
		},
		"alias on collection": {Change: func(w *rulestest.World) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: goneColl, State: "Created"}}
		}, Want: []string{"warning aliases/default/prod alias prod points to collection 900 (gone)"}},
		"load on collection": {
			Change: func(w *rulestest.World) {
				w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: goneColl})
			},
			Want: []string{"warning load-states/900 collection 900 is gone but still has a load state"},
		},
		"load on partition": {Change: func(w *rulestest.World) {
			w.LoadStates[0].Partitions = []model.PartitionLoad{{Partition: rulestest.PartID}, {Partition: 1002}}
		}, Want: []string{"warning partitions/1002 partition 1002 of docs is gone but still has a load state"}},
		"replica on load": {
			Change: func(w *rulestest.World) { w.LoadStates = nil },
			Want:   []string{"info replicas/3000 replica 3000 of docs has no load state"},
		},
		"index on field": {
			Change: func(w *rulestest.World) { w.Indexes[0].Field = 140 },
			Want:   []string{"warning indexes/1500 index vec_idx is on field 140, which docs does not have"},
		},
		"segment on logs": {
			Change: func(w *rulestest.World) { w.Segment(0).Logs = nil },
			Want:   []string{"warning collections/1000 1 flushed segment of docs with 90,000 rows has no insert logs"},
		},
		"segment on vchannel": {Change: func(w *rulestest.World) {
			w.Segment(0).VChannel = "by-dev-rootcoord-dml_7_1000v2"
		}, Want: []string{
			"warning collections/1000 1 segment of docs is on vchannel by-dev-rootcoord-dml_7_1000v2, which the " +
				"collection does not list",
		}},
	}
}

// TestRelations checks that each broken relation is reported with its own message and severity. No relation is
// reported while all are intact, or while metadata that it needs were not read.
func TestRelations(t *testing.T) {
	const ofObjects = "fields of collections that are gone;partitions of collections that are gone;functions of " +
		"collections that are gone;alias on collection;collection on database;"
	remnants, dependent := rules.Relations()
	cases := brokenRelations()
	checks := []*check.Check{
		rulestest.ByID("orphan-records"), rulestest.ByID("checkpoint-stale-dropped"), rulestest.ByID("records-missing"),
	}
	for i, name := range slices.Concat(remnants, dependent) {
		v, known := cases[name]
		if !known {
			t.Errorf("no case breaks %q", name)
			continue
		}
		delete(cases, name)
		x := checks[0]
		switch {
		case i == len(remnants)-1:
			x = checks[1]
		case i >= len(remnants):
			x = checks[2]
		}
		t.Run(name, func(t *testing.T) {
			result := rulestest.RunCheck(t, x, v.Change)
			rulestest.CompareFindings(t, x, result, v.Want)
			for _, other := range checks {
				if list := rulestest.RunCheck(t, other, v.Change).Findings; other != x && len(list) > 0 {
					t.Errorf("%s finds %s too", other.ID, list[0].Message)
				}
			}
			blind := rulestest.RunCheck(t, x, func(w *rulestest.World) { v.Change(w); w.Loaded = model.PartObjects })
			if len(blind.Findings) > 0 != strings.Contains(ofObjects, name+";") {
				t.Errorf("without other metadata: %d findings", len(blind.Findings))
			}
		})
	}
	for name := range cases {
		t.Errorf("there is no relation %q", name)
	}
	for _, x := range checks {
		rulestest.RunCases(t, x, []rulestest.Case{{Name: "all whole"}})
	}
}

// TestIntactRelations checks that records being created, being dropped, or marked as deleted are neither
// reported as left over nor as incomplete.
func TestIntactRelations(t *testing.T) {
	dropping := func(w *rulestest.World) { w.Collections[0].State = "Dropping" }
	young := func(w *rulestest.World, s *model.Segment) {
		s.PositionAt, w.Indexes[0].CreatedAt = rulestest.TSOAgo(time.Minute), rulestest.TimeAgo(time.Minute)
	}
	rulestest.RunCases(t, rulestest.ByID("orphan-records"), []rulestest.Case{
		{Name: "being dropped", Change: func(w *rulestest.World) { dropping(w); w.Partitions = nil }},
		{
			Name: "a dropped segment",
			Change: func(w *rulestest.World) {
				w.Segment(0).Collection, w.Segment(0).State = goneColl, model.SegmentDropped
			},
		},
		{Name: "of all partitions", Change: func(w *rulestest.World) { w.Segment(0).Partition = -1 }},
		{Name: "as 2.1 wrote them", Change: func(w *rulestest.World) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Legacy: true}}}}
		}},
		{
			Name:   "definition gone, marked deleted",
			Change: func(w *rulestest.World) { w.Index(0).Index, w.Index(0).Deleted = 1400, true },
		},
		{Name: "an older definition gone, all indexed", Change: func(w *rulestest.World) {
			w.Segment(0).Indexes = append([]model.SegmentIndex{{Index: 1400, State: model.IndexFinished}},
				w.Segment(0).Indexes...)
		}, Want: []string{"info / left over: 1 segment with index records of definitions that are gone"}},
		{Name: "a young task", Change: func(w *rulestest.World) {
			w.Tasks = []*model.Task{
				{ID: 7, Type: "compaction", Collection: goneColl, StartedAt: rulestest.TimeAgo(30 * time.Minute)},
				{ID: 8, Type: "broadcast", StartedAt: rulestest.TimeAgo(9 * time.Hour)},
			}
		}},
		{Name: "much storage", Change: func(w *rulestest.World) {
			w.Segment(0).Collection, w.Segment(0).Bytes, w.Segment(0).Indexes = goneColl, 2<<30, nil
		}, Want: []string{"warning / 1 segment (2.0 GiB)"}},
		{
			Name: "collections not read", Change: func(w *rulestest.World) { w.Loaded &^= model.PartObjects },
			Skipped: "could not be read",
		},
		{
			Name: "users not read", Change: func(w *rulestest.World) { w.Loaded &^= model.PartUsers },
			Skipped: "privileges of roles that are gone: the metadata could not be read",
		},
	})
	rulestest.RunCases(t, rulestest.ByID("checkpoint-stale-dropped"), []rulestest.Case{
		{
			Name: "being dropped", Change: dropping,
			Want: []string{"info / left over: 2 channel records of collections that are dropped"},
		},
		{Name: "only a removal mark", Change: func(w *rulestest.World) {
			w.VChannels = append(w.VChannels,
				&model.VChannel{Name: "x_900v0", Collection: goneColl, Removal: "removed"})
		}, Want: []string{"info / 1 channel record"}},
		{Name: "marked as 2.6 does", Change: func(w *rulestest.World) {
			w.VChannels = append(w.VChannels, &model.VChannel{
				Name: "x_900v0", Collection: goneColl, Checkpoint: model.Checkpoint{At: model.MaxTSO},
			})
		}},
		{Name: "the control channel", Change: func(w *rulestest.World) {
			w.VChannels = append(w.VChannels, &model.VChannel{
				Name: "by-dev-rootcoord-dml_0vcchan", Checkpoint: model.Checkpoint{At: rulestest.TSOAgo(0)},
			})
		}},
	})
	rulestest.RunCases(t, rulestest.ByID("records-missing"), []rulestest.Case{
		{Name: "being dropped", Change: func(w *rulestest.World) {
			dropping(w)
			w.Collections[0].Fields, w.Partitions, w.Segment(0).Logs, w.LoadStates[0].Partitions = nil, nil, nil,
				[]model.PartitionLoad{{Partition: 1002}}
		}},
		{
			Name:   "being created",
			Change: func(w *rulestest.World) { w.Collections[0].State, w.Collections[0].VChannels = "Creating", nil },
		},
		{Name: "young", Change: func(w *rulestest.World) {
			for _, s := range w.Segments {
				young(w, s)
			}
			w.Segment(0).Logs, w.Segment(1).VChannel, w.Indexes[0].Field = nil, "by-dev-rootcoord-dml_7_1000v2", 140
		}},
		{Name: "not with logs", Change: func(w *rulestest.World) {
			for i, s := range w.Segments {
				s.Logs = nil
				switch i {
				case 0:
					s.Level = model.LevelL0
				case 1:
					s.Rows = 0
				case 2:
					s.Details = &model.SegmentDetails{ManifestPath: "m"}
				case 3:
					s.State = model.SegmentImporting
				}
			}
		}},
		{
			Name:   "a database without a record",
			Change: func(w *rulestest.World) { w.Databases, w.Collections[0].Database = nil, 0 },
		},
		{Name: "an alias of a collection that is being dropped", Change: func(w *rulestest.World) {
			dropping(w)
			w.Aliases = []*model.Alias{
				{Name: "prod", Database: 1, Collection: rulestest.CollID},
				{Name: "old", Database: 1, Collection: goneColl, State: "Dropped"},
			}
		}, Want: []string{"warning aliases/default/prod Dropping"}},
		{Name: "load state and replica are one finding", Change: func(w *rulestest.World) {
			w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: goneColl})
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: goneColl})
		}, Want: []string{"warning load-states/900 load state"}},
		{Name: "a replica alone", Change: func(w *rulestest.World) {
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: goneColl})
		}, Want: []string{"warning load-states/900 replica"}},
	})
}
