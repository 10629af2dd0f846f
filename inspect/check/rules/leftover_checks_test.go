package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

func TestOrphanSegments(t *testing.T) {
	stray := func(w *world) *model.Segment {
		s := wellSegment(9000, "by-dev-rootcoord-dml_9_900v0")
		s.Collection, s.Partition = 900, 901
		w.Segments = append(w.Segments, s)
		return s
	}
	hold(t, named("orphan-segments"), []verdict{
		{"none", nil, nil, ""},
		{"collection gone", func(w *world) { stray(w) }, []string{"info segments/9000 1 segment with 90,000 rows belongs to collection 900 (gone)"}, ""},
		{"much storage", func(w *world) { stray(w).Bytes = 2 << 30 }, []string{"warning segments/9000 collection 900"}, ""},
		{"dropped", func(w *world) { stray(w).State = model.SegmentDropped }, nil, ""},
		{"of a collection that is being dropped", func(w *world) { w.Collections[0].State = "Dropping"; w.Partitions = nil }, nil, ""},
		{"partition gone", func(w *world) { w.segment(0).Partition = 1002 }, []string{"info collections/1000 1 segment with 90,000 rows belongs to dropped partitions of docs"}, ""},
		{"of all partitions", func(w *world) { w.segment(0).Partition = -1 }, nil, ""},
		{"both", func(w *world) { stray(w); w.segment(0).Partition = 1002 }, []string{"info segments/9000 collection 900", "info collections/1000 partitions of docs"}, ""},
		{"collections not read", func(w *world) { stray(w); w.Loaded &^= model.PartObjects }, nil, "could not be read"},
	})
}

func TestOrphanRecords(t *testing.T) {
	logs := &model.Segment{ID: 9000, Collection: wellColl, Bytes: 4096, Logs: []model.FieldLogs{{Files: 3, Bytes: 4096}}}
	hold(t, named("orphan-binlogs"), []verdict{
		{"none", nil, nil, ""},
		{"logs", func(w *world) { w.Orphans = []*model.Segment{logs} }, []string{"info / 3 log files (4.0 KiB) belong to 1 segment without a record"}, ""},
		{"many logs", func(w *world) {
			large := *logs
			large.Bytes = 3 << 30
			w.Orphans = []*model.Segment{&large}
		}, []string{"warning / 3.0 GiB"}, ""},
		{"only indexes", func(w *world) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Index: wellIndex}}}}
		}, nil, ""},
	})
	hold(t, named("orphan-index"), []verdict{
		{"none", nil, nil, ""},
		{"segment gone", func(w *world) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Index: wellIndex}}}}
		}, []string{"info / left over: 1 index record of segments that are gone"}, ""},
		{"as 2.1 wrote them", func(w *world) {
			w.Orphans = []*model.Segment{{ID: 9000, Indexes: []model.SegmentIndex{{Legacy: true}}}}
		}, nil, ""},
		{"definition gone", func(w *world) { w.index(0).Index = 1400 }, []string{"info / left over: 1 segment with index records of definitions that are gone"}, ""},
		{"an older definition gone, all indexed", func(w *world) {
			w.segment(0).Indexes = append([]model.SegmentIndex{{Index: 1400, State: model.IndexFinished}}, w.segment(0).Indexes...)
		}, []string{"info / left over: 1 segment with index records of definitions that are gone"}, ""},
		{"definition gone, marked deleted", func(w *world) { w.index(0).Index, w.index(0).Deleted = 1400, true }, nil, ""},
		{"definition marked deleted", func(w *world) { w.Indexes[0].Deleted = true }, nil, ""},
		{"collection gone", func(w *world) { w.Indexes = append(w.Indexes, &model.Index{ID: 1600, Collection: 900, Name: "left"}) }, []string{"info / left over: 1 index definition of collections that are gone"}, ""},
	})
}

func TestOrphanNames(t *testing.T) {
	hold(t, named("orphan-load"), []verdict{
		{"none", nil, nil, ""},
		{"load state", func(w *world) { w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 900}) }, []string{"warning load-states/900 collection 900 is gone but still has a load state"}, ""},
		{"replica", func(w *world) { w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: 900}) }, []string{"warning load-states/900 replica"}, ""},
		{"both are one finding", func(w *world) {
			w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 900})
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: 900})
		}, []string{"warning load-states/900 load state"}, ""},
		{"being dropped", func(w *world) { w.Collections[0].State = "Dropping" }, nil, ""},
	})
	alias := func(collection model.CollectionID, state model.ObjectState) func(*world) {
		return func(w *world) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: collection, State: state}}
		}
	}
	hold(t, named("orphan-alias"), []verdict{
		{"none", nil, nil, ""},
		{"of a collection", alias(wellColl, "Created"), nil, ""},
		{"of nothing", alias(900, "Created"), []string{"warning aliases/default/prod alias prod points to collection 900 (gone)"}, ""},
		{"of a dropped collection", func(w *world) { alias(wellColl, "")(w); w.Collections[0].State = "Dropping" }, []string{"warning aliases/default/prod Dropping"}, ""},
		{"dropped itself", alias(900, "Dropped"), nil, ""},
	})
	task := func(collection model.CollectionID, age time.Duration) func(*world) {
		return func(w *world) {
			w.Tasks = []*model.Task{{ID: 7, Type: "compaction", State: "executing", Collection: collection, StartedAt: backT(age)}}
		}
	}
	hold(t, named("orphan-task"), []verdict{
		{"none", nil, nil, ""},
		{"of a collection", task(wellColl, 2*time.Hour), nil, ""},
		{"of nothing", task(900, 2*time.Hour), []string{"info / 1 task of collections that are gone, 1 of them unfinished"}, ""},
		{"of nothing, young", task(900, 30*time.Minute), nil, ""},
		{"of everything", task(0, 2*time.Hour), nil, ""},
	})
}

func TestGrantOnAlias(t *testing.T) {
	at := func(version string, more ...model.Grant) func(*world) {
		return func(w *world) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: wellColl}}
			w.Grants = []*model.Grant{{Role: "reader", ObjectType: "Collection", Database: "default", Object: "prod", Privilege: "Search", Grantor: "root"}}
			for i := range more {
				w.Grants = append(w.Grants, &more[i])
			}
			for _, s := range w.Sessions {
				if s.Role == "proxy" {
					s.Version = version
				}
			}
		}
	}
	on := func(object, privilege string) model.Grant {
		return model.Grant{Role: "reader", ObjectType: "Collection", Database: "default", Object: object, Privilege: privilege, Grantor: "ann"}
	}
	set := func(value string, next func(*world)) func(*world) {
		return func(w *world) {
			next(w)
			w.Config = append(w.Config, &model.ConfigEntry{Name: "proxy/resolveAliasForPrivilege", Value: value})
		}
	}
	found := []string{"warning roles/reader role reader has 1 privilege on alias prod, and proxies look for it on the collection"}
	hold(t, named("grant-on-alias"), []verdict{
		{"none", nil, nil, ""},
		{"2.6.22", set("true", at("2.6.22")), found, ""},
		{"3.0.1", set("true", at("3.0.1")), found, ""},
		{"2.6.11", set("true", at("2.6.11")), found, ""},
		{"2.6.10", at("2.6.10"), nil, ""},
		{"2.6 of an unknown patch", at("2.6"), nil, ""},
		{"2.5.16", at("2.5.16"), nil, ""},
		{"turned off", set("false", at("2.6.22")), nil, ""},
		{"on the collection too", set("true", at("2.6.22", on("docs", "Search"))), nil, ""},
		{"another on the collection", set("true", at("2.6.22", on("docs", "Query"))), found, ""},
		{"on all", set("true", at("2.6.22", on("*", "All"))), nil, ""},
		{"of another role", set("true", at("2.6.22", model.Grant{Role: "x", ObjectType: "Collection", Database: "default", Object: "docs", Privilege: "Search"})), found, ""},
		{"an alias of nothing", set("true", func(w *world) { at("2.6.22")(w); w.Aliases[0].Collection = 900 }), nil, ""},
		{"grants not read", func(w *world) { at("2.6.22")(w); w.Loaded &^= model.PartUsers }, nil, "could not be read"},
	})
}

func TestDynamicMismatch(t *testing.T) {
	unsaid := func(w *world) {
		c := w.Collections[0]
		c.DynamicUnsaid, c.Fields = true, append(c.Fields, &model.Field{ID: 103, Name: "$meta", Dynamic: true})
	}
	hold(t, named("dynamic-mismatch"), []verdict{
		{"none", nil, nil, ""},
		{"unsaid", unsaid, []string{"warning collections/1000 docs has the dynamic field $meta, and its record says that it has none"}, ""},
		{"being dropped", func(w *world) { unsaid(w); w.Collections[0].State = "Dropping" }, nil, ""},
	})
}

func TestMixedLogs(t *testing.T) {
	mixed := func(w *world) { w.segment(0).MixedLogs = true }
	hold(t, named("mixed-logs"), []verdict{
		{"none", nil, nil, ""},
		{"mixed", mixed, []string{"warning collections/1000 1 segment of docs with 90,000 rows has insert logs of two storage versions"}, ""},
		{"dropped", func(w *world) { mixed(w); w.segment(0).State = model.SegmentDropped }, nil, ""},
		{"of a collection that is being dropped", func(w *world) { mixed(w); w.Collections[0].State = "Dropping" }, nil, ""},
		{"logs not read", func(w *world) { mixed(w); w.Loaded &^= model.PartLogs }, nil, "could not be read"},
	})
}

func TestShardSkew(t *testing.T) {
	rows := func(a, b int64) func(*world) {
		return func(w *world) {
			for i, s := range w.Segments {
				s.Rows = []int64{a, b}[i%2]
			}
		}
	}
	hold(t, named("shard-skew"), []verdict{
		{"even", nil, nil, ""},
		{"a little uneven", rows(90_000, 50_000), nil, ""},
		{"uneven", rows(90_000, 10_000), []string{"info collections/1000 the largest of 2 shards of docs has 180,000 of 200,000 rows, 1.8 times the mean"}, ""},
		{"very uneven and large", rows(900_000, 0), []string{"warning collections/1000 2.0 times the mean"}, ""},
		{"uneven and small", rows(9_000, 0), nil, ""},
		{"one shard", func(w *world) { rows(900_000, 0)(w); w.Collections[0].VChannels = w.Collections[0].VChannels[:1] }, nil, ""},
		{"dropped", func(w *world) { rows(900_000, 0)(w); w.Collections[0].State = "Dropping" }, nil, ""},
	})
}

func TestPartitionKeySkew(t *testing.T) {
	keyed := func(n int, largest, others int64) func(*world) {
		return func(w *world) {
			w.Collections[0].Fields[2].PartitionKey = true
			w.Partitions, w.Segments = nil, nil
			for i := range n {
				id := model.PartitionID(5000 + i)
				w.Partitions = append(w.Partitions, &model.Partition{ID: id, Collection: wellColl, Name: "_default_" + model.NodeID(i).String()})
				s := wellSegment(model.SegmentID(6000+i), wellCh0)
				s.Partition, s.Rows = id, others
				if i == 3 {
					s.Rows = largest
				}
				w.Segments = append(w.Segments, s)
			}
		}
	}
	hold(t, named("partition-key-skew"), []verdict{
		{"no key", func(w *world) { keyed(16, 2_000_000, 0)(w); w.Collections[0].Fields[2].PartitionKey = false }, nil, ""},
		{"even", keyed(16, 100_000, 100_000), nil, ""},
		{"uneven", keyed(16, 100_000, 10_000), []string{"info collections/1000 the largest of 16 partitions of docs has 100,000 of 250,000 rows, 6.4 times the mean (partition key tag)"}, ""},
		{"nearly all in one", keyed(16, 2_000_000, 1000), []string{"warning collections/1000 15.9 times the mean"}, ""},
		{"a large tenant among 64 partitions", keyed(64, 1_500_000, 100_000), nil, ""},
		{"a third of 64 partitions", keyed(64, 2_000_000, 60_000), []string{"info collections/1000 22.1 times the mean"}, ""},
		{"a hundredth of 1,024 partitions", keyed(1024, 1_000_000, 100_000), nil, ""},
		{"small", keyed(16, 50_000, 0), nil, ""},
		{"empty", keyed(16, 0, 0), nil, ""},
	})
}

func TestResourceGroupShort(t *testing.T) {
	group := func(g model.ResourceGroup, replicas bool) func(*world) {
		return func(w *world) {
			w.ResourceGroups = append(w.ResourceGroups, &g)
			if replicas {
				w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, ResourceGroup: g.Name, Nodes: g.Nodes})
			}
		}
	}
	hold(t, named("resource-group-short"), []verdict{
		{"the default group wants nothing", nil, nil, ""},
		{"as many as asked", group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4}, Requests: 1, Limits: 2}, true), nil, ""},
		{"fewer", group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4}, Requests: 2, Limits: 2}, true), []string{"warning resource-groups/rg resource group rg asks for 2 query nodes and has 1"}, ""},
		{"assigned, and gone", group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4, 99}, Requests: 2, Limits: 2}, true), []string{"warning resource-groups/rg has 1"}, ""},
		{"capacity of 2.3", group(model.ResourceGroup{Name: "rg", Capacity: 2, Nodes: []model.NodeID{4}, Requests: -1}, false), []string{"warning resource-groups/rg asks for 2 query nodes"}, ""},
		{"none, with replicas", group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{99}, Requests: 1}, true), []string{"error resource-groups/rg has no registered query node for its 1 replica"}, ""},
		{"none, without replicas", group(model.ResourceGroup{Name: "rg", Requests: 1}, false), []string{"warning resource-groups/rg asks for 1 query node and has 0"}, ""},
		{"empty and wants none", group(model.ResourceGroup{Name: "rg"}, false), nil, ""},
		{"stopping nodes do not count", func(w *world) { w.Sessions[3].Stopping = true }, []string{"error resource-groups/" + facts.DefaultGroup + " has no registered query node"}, ""},
		{"replica of no group", func(w *world) { w.Replicas[0].ResourceGroup = "gone" }, []string{"error replicas/3000 in resource group gone, but that does not exist"}, ""},
		{"no query node", func(w *world) { w.Sessions = w.Sessions[:3] }, nil, "no query node is registered"},
		{"2.1 has none", func(w *world) { w.Version.Text = "2.1" }, nil, "Milvus 2.1"},
	})
}

func TestNearLimit(t *testing.T) {
	databases := func(n int) func(*world) {
		return func(w *world) {
			for i := len(w.Databases); i < n; i++ {
				w.Databases = append(w.Databases, &model.Database{ID: model.DatabaseID(100 + i), Name: "d"})
			}
		}
	}
	partitions := func(n int) func(*world) {
		return func(w *world) {
			for i := len(w.Partitions); i < n; i++ {
				w.Partitions = append(w.Partitions, &model.Partition{ID: model.PartitionID(8000 + i), Collection: wellColl, Name: "p"})
			}
		}
	}
	hold(t, named("near-limit"), configured([]verdict{
		{"far", nil, nil, ""},
		{"near", databases(48), []string{"info / 48 of 64 databases: 75% of rootCoord.maxDatabaseNum"}, ""},
		{"at it", databases(60), []string{"warning / 60 of 64 databases"}, ""},
		{"another limit", func(w *world) {
			databases(60)(w)
			w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxDatabaseNum", Value: "1000"}}
		}, nil, ""},
		{"partitions", partitions(950), []string{"warning / 950 of 1,024 partitions of docs"}, ""},
		{"more were allowed before 2.4", func(w *world) { partitions(950)(w); w.Version.Text = "2.3.5" }, nil, ""},
		{"a partition key has as many partitions as it was given", func(w *world) { partitions(1024)(w); w.Collections[0].Fields[2].PartitionKey = true }, nil, ""},
		{"a database's own limit", func(w *world) {
			w.Databases[0].Properties = []model.Pair{{Key: "database.max.collections", Value: "1"}}
		}, []string{"warning / 1 of 1 collections of database default: 100% of database.max.collections"}, ""},
		{"a limit of none", func(w *world) { w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxDatabaseNum", Value: "0"}} }, nil, ""},
		{"capacity is told by 2.3.5", func(w *world) {
			w.Collections[0].Shards, w.Version.Text = 60_000, "2.3.5"
			w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxGeneralCapacity", Value: "65536"}}
		}, []string{"warning / 60,000 of 65,536 partitions times shards"}, ""},
		{"capacity", func(w *world) { partitions(1)(w); w.Collections[0].Shards = 60_000 }, []string{"warning / 60,000 of 65,536 partitions times shards"}, ""},
	}))
	hold(t, named("near-limit"), []verdict{{"processes were not asked", nil, nil, "): the nodes were not asked"}})
}
