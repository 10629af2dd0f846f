package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// fixCase is a finding of a check with the parts that its fix must contain, and those it must not contain.
type fixCase struct {
	name, check string
	change      func(*rulestest.World)
	want, never []string
}

func checkFixes(t *testing.T, cases []fixCase) {
	t.Helper()
	for _, x := range cases {
		t.Run(x.check+"/"+x.name, func(t *testing.T) {
			r := rulestest.RunCheck(t, rulestest.ByID(x.check), x.change)
			if len(r.Findings) == 0 {
				t.Fatalf("nothing is found: %s", r.Reason)
			}
			text := r.Findings[0].Advice()
			for _, want := range x.want {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q: %s", want, text)
				}
			}
			for _, never := range x.never {
				if strings.Contains(text, never) {
					t.Errorf("it says %q: %s", never, text)
				}
			}
		})
	}
}

// TestFixesOfIndexes checks that a fix rebuilds an index with its old definition, and loads its collection
// again with its old parameters.
func TestFixesOfIndexes(t *testing.T) {
	failed := func(change func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Index(0).State = model.IndexFailed
			w.Indexes[0].Params = []model.Pair{{Key: "M", Value: "16"}, {Key: "note", Value: "1e3 x"}}
			if change != nil {
				change(w)
			}
		}
	}
	const create = `c.create_index("vec", {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "note": "1e3 x"}}, index_name="vec_idx")`
	gone := func(w *rulestest.World) { w.LoadStates[0].Indexes[rulestest.FieldID] = 1400 }
	checkFixes(t, []fixCase{
		{
			"loaded", "index-failed", failed(nil),
			[]string{
				`c = Collection("docs"); c.release(); c.drop_index(index_name="vec_idx"); ` + create + "; c.load()",
			},
			nil,
		},
		{
			"not loaded", "index-failed", failed(func(w *rulestest.World) { w.LoadStates = nil }),
			[]string{`c = Collection("docs"); c.drop_index(index_name="vec_idx"); ` + create},
			[]string{"release", "load()"},
		},
		{"in a resource group, with replicas", "index-failed", failed(func(w *rulestest.World) {
			w.LoadStates[0].Replicas, w.Replicas[0].ResourceGroup = 2, "rg2"
			w.Replicas = append(w.Replicas,
				&model.Replica{ID: 3001, Collection: rulestest.CollID, ResourceGroup: "rg1"})
		}), []string{`c.load(replica_number=2, _resource_groups=["rg1", "rg2"])`}, nil},
		{"of partitions and fields", "index-failed", failed(func(w *rulestest.World) {
			w.Partitions = append(w.Partitions, &model.Partition{ID: 1002, Collection: rulestest.CollID, Name: "other"})
			l := w.LoadStates[0]
			l.LoadType, l.Partitions, l.Fields = "LoadPartition",
				[]model.PartitionLoad{{Partition: 1002, Status: "Loaded"}}, []model.FieldID{100, rulestest.FieldID}
		}), []string{`c.load(partition_names=["other"], load_fields=["id", "vec"])`}, nil},
		{"chosen by Milvus", "index-failed", failed(func(w *rulestest.World) {
			w.Indexes[0].UserParams = []model.Pair{{Key: "index_type", Value: "AUTOINDEX"}}
		}), []string{`{"index_type": "AUTOINDEX", "metric_type": "L2", "params": {}}`}, nil},
		{
			"another definition is there", "index-metric-mismatch", gone,
			[]string{`c = Collection("docs"); c.release(); c.load()`},
			nil,
		},
		{
			"no definition is left: it could not be loaded again", "index-metric-mismatch",
			func(w *rulestest.World) { gone(w); w.Indexes[0].Deleted = true },
			[]string{`create_index("vec", {"index_type": "HNSW"`},
			[]string{"c.release()"},
		},
	})
}

// TestFixesOfLostIndexes checks that a collection that lost several indexes is released once, and loaded again
// once after all of them are built.
func TestFixesOfLostIndexes(t *testing.T) {
	lost := func(w *rulestest.World) {
		w.Indexes = append(w.Indexes, &model.Index{
			ID: 1501, Collection: rulestest.CollID, Field: 100, Name: "id_idx", Type: "STL_SORT",
		})
		w.Storage = &model.Storage{Location: "/data"}
		for _, id := range []model.IndexID{rulestest.IndexID, 1501, rulestest.IndexID} {
			w.Storage.Missing = append(w.Storage.Missing, model.MissingFiles{
				Segment: w.Segment(0).ID, Collection: rulestest.CollID, Kind: "index", Index: id, Want: 1,
			})
		}
	}
	checkFixes(t, []fixCase{
		{"two indexes", "files-missing", lost, []string{
			`c = Collection("docs"); c.release(); c.drop_index(index_name="vec_idx"); c.create_index("vec", {"index_type": "HNSW", "metric_type": "L2", "params": {}}, index_name="vec_idx"); ` +
				`c.drop_index(index_name="id_idx"); c.create_index("id", {"index_type": "STL_SORT", "params": {}}, index_name="id_idx"); c.load() (changes the cluster, interrupts searches of docs until it is loaded again, helps within 5 min): builds vec_idx and id_idx again`,
		}, nil},
		{
			"not loaded", "files-missing", func(w *rulestest.World) { lost(w); w.LoadStates = nil },
			[]string{`c = Collection("docs"); c.drop_index`},
			[]string{"release()", "load()", "until it is loaded"},
		},
	})
}

// TestFixesOfLoads checks that a fix loads a partition with the replicas, resource groups and fields of its
// collection, because QueryCoord rejects others.
func TestFixesOfLoads(t *testing.T) {
	checkFixes(t, []fixCase{
		{
			"a partition, with replicas", "load-stuck", func(w *rulestest.World) {
				w.Serve()
				l := w.LoadStates[0]
				l.Replicas, l.Fields = 2, []model.FieldID{100, rulestest.FieldID}
				l.Partitions = []model.PartitionLoad{{Partition: rulestest.PartID, Status: "Loading"}}
				w.Replicas[0].ResourceGroup = "rg2"
				w.Replicas = append(w.Replicas,
					&model.Replica{ID: 3001, Collection: rulestest.CollID, ResourceGroup: "rg1"})
			},
			[]string{
				`p.release(); p.load(replica_number=2, _resource_groups=["rg1", "rg2"], load_fields=["id", "vec"])`,
			},
			[]string{"p.load()"},
		},
	})
}

// TestFixesOfChannels checks that no fix flushes a collection if a channel has no consumer, because that flush
// would wait forever.
func TestFixesOfChannels(t *testing.T) {
	bare := func(w *rulestest.World) { w.VChannels[0].Checkpoint = model.Checkpoint{} }
	checkFixes(t, []fixCase{
		{"consumed", "checkpoint-missing", bare, []string{"restart datanode-5"}, []string{"flush()"}},
		{
			"by nobody", "checkpoint-missing", func(w *rulestest.World) { bare(w); w.VChannels[0].Watched = false },
			[]string{"restart DataCoord"},
			[]string{"flush()"},
		},
		{"by nobody", "checkpoint-lag", func(w *rulestest.World) {
			w.VChannels[0].Checkpoint.At, w.VChannels[0].Watched = rulestest.TSOAgo(time.Hour), false
		}, []string{"restart DataCoord"}, []string{"flush()"}},
	})
}

// TestFixesOfUnconsumed checks the same for growing segments: they are not flushed unless nodes consume all
// channels of the collection.
func TestFixesOfUnconsumed(t *testing.T) {
	large := func(w *rulestest.World) { w.Serve(); w.Grow(2900, 2_000_000, time.Hour) }
	checkFixes(t, []fixCase{
		{"consumed", "growing-too-large", large, []string{`Collection("docs").flush()`}, nil},
		{
			"one channel by nobody", "growing-too-large",
			func(w *rulestest.World) { large(w); w.VChannels[1].Watched = false },
			[]string{"flush docs once a node consumes its channels"},
			[]string{"flush()"},
		},
	})
}

// TestFixesOfEtcd checks that a fix compacts the history at a named revision, and defragments members one after
// the other, the leader last.
func TestFixesOfEtcd(t *testing.T) {
	full := rulestest.Members(3, func(m []model.EtcdMember) {
		m[1].Errors = []string{"NOSPACE"}
		m[2].Problem = "no answer"
	})
	checkFixes(t, []fixCase{
		{
			"revision known", "etcd-alarm", func(w *rulestest.World) { full(w); w.Origin.Revision = 5000 },
			[]string{
				"etcdctl compact --endpoints=e:1,e:0 4000", "etcdctl defrag --endpoints=e:1,e:0",
				"etcdctl alarm disarm --endpoints=e:1,e:0",
			},
			[]string{"REVISION"},
		},
		{
			"revision unknown", "etcd-alarm", full,
			[]string{"etcdctl endpoint status -w json --endpoints=e:1,e:0", "etcdctl compact REVISION"},
			nil,
		},
		{
			"corrupt", "etcd-alarm",
			rulestest.Members(1, func(m []model.EtcdMember) { m[0].Errors = []string{"CORRUPT"} }),
			[]string{"etcdctl snapshot save --endpoints=e:0 etcd-before-repair.db"},
			[]string{"defrag", "compact"},
		},
		{
			"corrupt, of three", "etcd-alarm",
			rulestest.Members(3, func(m []model.EtcdMember) {
				m[1].Errors = []string{"CORRUPT"}
				m[2].Problem = "no answer"
			}),
			[]string{
				"etcdctl snapshot save --endpoints=e:0 etcd-before-repair.db",
				"etcdctl endpoint hashkv --cluster --endpoints=e:1,e:0",
			},
			nil,
		},
	})
}

// TestFixesOfObjects checks the fixes of resource groups and grants: up to 2.3 nodes come from a group that can
// spare them, and one fix revokes at most 50 privileges.
func TestFixesOfObjects(t *testing.T) {
	short := func(version string, spare bool) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Version.Text = version
			w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{Name: "rg", Capacity: 2, Requests: -1})
			if spare {
				w.Another("querynode", 14)
				w.ResourceGroups[0].Nodes = []model.NodeID{4, 14}
			}
		}
	}
	grants := func(w *rulestest.World) {
		w.Grants = []*model.Grant{
			{Role: "r", ObjectType: "Collection", Object: "gone", Privilege: "Query", Database: "default"},
			{Role: "r", ObjectType: "Collection", Object: "gone", Privilege: "Search", Database: "default"},
		}
	}
	many := func(w *rulestest.World) {
		for i := range 60 {
			w.Grants = append(w.Grants, &model.Grant{
				Role: "r", ObjectType: "Collection", Object: fmt.Sprintf("gone%02d", i), Privilege: "Query",
				Database: "default",
			})
		}
	}
	checkFixes(t, []fixCase{
		{
			"2.3, and a node to spare", "resource-group-short", short("2.3.5", true),
			[]string{`utility.transfer_node("__default_resource_group", "rg", 1)`},
			nil,
		},
		{
			"2.3, the last node is none", "resource-group-short", short("2.3.5", false),
			[]string{"start query nodes"},
			[]string{"transfer_node"},
		},
		{
			"2.4 fills groups by itself", "resource-group-short", short("2.4.5", true),
			[]string{"start query nodes"},
			[]string{"transfer_node"},
		},
		{"all privileges", "orphan-grant", grants, []string{
			`role = Role("r"); role.revoke("Collection", "gone", "Query", db_name="default"); role.revoke("Collection", "gone", "Search", db_name="default") (changes the cluster, interrupts nothing, helps within 60 s): revokes them`,
		}, []string{"first"}},
		{
			"more privileges than one fix revokes", "orphan-grant", many,
			[]string{`"gone49"`, "revokes the first 50 of 60", "kitescope diagnose --only orphan-grant: then prints"},
			[]string{`"gone50"`, "revokes them"},
		},
	})
}

// TestFixesOfSegments checks the fixes of small segments: Milvus merges only indexed segments, and
// automatically only if that is on.
func TestFixesOfSegments(t *testing.T) {
	small := func(w *rulestest.World) { w.AddSmallSegments(11, 2*time.Hour) }
	checkFixes(t, []fixCase{
		{"indexed", "small-segments", small, []string{`Collection("docs").compact()`}, []string{"set_properties"}},
		{
			"no index", "small-segments", func(w *rulestest.World) { small(w); w.Indexes = nil },
			[]string{"create an index"},
			[]string{"compact()"},
		},
		{"switched off", "small-segments", func(w *rulestest.World) {
			small(w)
			w.Collections[0].Properties = []model.Pair{{Key: "collection.autocompaction.enabled", Value: "false"}}
		}, []string{`set_properties({"collection.autocompaction.enabled": "true"})`}, nil},
	})
}
