package modeltest

import (
	"time"

	"kitescope/inspect/model"
)

// woodpecker returns the logs of another Milvus that shares this etcd.
func woodpecker() *model.Woodpecker {
	return &model.Woodpecker{Logs: []*model.Log{{
		Name: "other-rootcoord-dml_0", ID: 1, Created: Now.Add(-9 * time.Hour), Modified: Now.Add(-time.Hour),
		Truncated: model.LogPosition{Segment: 1, Entry: 9},
		Segments: []model.LogSegment{
			{ID: 0, State: model.LogTruncated, Last: 39, Bytes: 9220, Completed: Now.Add(-2 * time.Hour)},
			{ID: 1, State: model.LogSealed, Last: 40, Bytes: 9471, Completed: Now.Add(-time.Hour)},
			{ID: 2, State: model.LogActive, Last: -1},
		},
		Readers: []model.LogReader{
			{
				Name: "other-r-recovery-1", Read: model.LogPosition{Segment: 1, Entry: 20},
				OpenedAt: Now.Add(-time.Hour), ReadAt: Now.Add(-time.Minute),
			},
		},
	}}}
}

// replicationTarget returns a replication configuration in which this cluster is the target.
func replicationTarget() *model.Streaming {
	return &model.Streaming{
		Version: 1,
		Clusters: []model.ReplicationCluster{
			{ID: "east", URI: "http://east:19530", PChannels: []string{"east-dml_0", "east-dml_1"}},
			{
				ID: "by-dev", URI: "http://west:19530",
				PChannels: []string{"by-dev-rootcoord-dml_0", "by-dev-rootcoord-dml_1"},
			},
		},
		Links: []model.ReplicationLink{{Source: "east", Target: "by-dev"}},
	}
}

func pchannels() []*model.PChannel {
	return []*model.PChannel{
		{Name: "by-dev-rootcoord-dml_0"},
		{
			Name: "by-dev-rootcoord-dml_1", Streaming: true, State: "Assigned", Term: 3, Node: 4,
			AccessMode: "ReadWrite", Checkpoint: model.Checkpoint{At: ago(5 * time.Second)},
			Replicated: &model.ReplicatePosition{
				Cluster: "east", PChannel: "east-dml_1", Message: "CAMQBQ==", At: ago(7 * time.Second),
			},
		},
		{Name: "by-dev-rootcoord-dml_14"},
		{Name: "by-dev-rootcoord-dml_3"},
	}
}

func serving(p *model.Parts) {
	p.VChannels = []*model.VChannel{
		{
			Name: docs0, PChannel: "by-dev-rootcoord-dml_0", Collection: Docs, Shard: 0, Watched: true, Watcher: 4,
			WatchState: "WatchSuccess",
			Checkpoint: model.Checkpoint{At: ago(12 * time.Second), PChannel: "by-dev-rootcoord-dml_0"},
			Removal:    "non-removed",
		},
		{
			Name: docs1, PChannel: "by-dev-rootcoord-dml_1", Collection: Docs, Shard: 1, Watched: true, Watcher: 4,
			WatchState:    "ToWatch",
			Checkpoint:    model.Checkpoint{At: ago(73*time.Minute + 1500*time.Millisecond)},
			OtherWatchers: []model.NodeID{9},
		},
		{Name: "by-dev-rootcoord-dml_14_470590569933053506v0", PChannel: "by-dev-rootcoord-dml_14", Collection: Orders},
		{
			Name: "by-dev-rootcoord-dml_3_470590569931111111v0", PChannel: "by-dev-rootcoord-dml_3",
			Collection: 470590569931111111, Shard: -1,
			Checkpoint: model.Checkpoint{At: ago(50 * 24 * time.Hour)}, Removal: "removed",
		},
	}
	p.PChannels = pchannels()
	p.Woodpecker = woodpecker()
	p.Streaming = replicationTarget()
	p.LoadStates = []*model.LoadState{{
		Collection: Docs, Status: "Loaded", Percent: new(int32(100)), Replicas: 2, LoadType: "LoadCollection",
		Partitions: []model.PartitionLoad{{Partition: 470590569932652643, Status: "Loaded", Percent: new(int32(100))}},
		Released:   []model.PartitionID{470590569932652700},
		Indexes:    map[model.FieldID]model.IndexID{102: 470590569932652801}, Fields: []model.FieldID{100, 102},
		Key: "by-dev/meta/querycoord-collection-loadinfo/470590569932652633",
	}}
	p.Replicas = []*model.Replica{
		{
			ID: 470590570311974919, Collection: Docs, ResourceGroup: "__default_resource_group",
			Nodes:        []model.NodeID{6, 3},
			ChannelNodes: map[string][]model.NodeID{docs0: {3}},
		},
		{
			ID: 470590570311974920, Collection: Docs, ResourceGroup: "rg_a", Nodes: []model.NodeID{10},
			RONodes: []model.NodeID{12},
		},
	}
	p.ResourceGroups = []*model.ResourceGroup{
		{Name: "__default_resource_group", Capacity: 1000000, Nodes: []model.NodeID{3, 6}, Requests: -1, Limits: -1},
		{
			Name: "rg_a", Capacity: 1, Nodes: []model.NodeID{10}, Requests: 1, Limits: 2,
			TransferFrom: []string{"__default_resource_group"},
		},
	}
	session := func(id model.NodeID, role, address string) *model.Session {
		return &model.Session{
			Node: id, Role: role, Address: address, Version: "2.4.5", HostName: "host-" + role,
			Lease: 7587000000000000000 + int64(id), Revision: 1000 + int64(id),
			Key: "by-dev/meta/session/" + role + "-" + id.String(),
		}
	}
	p.Sessions = []*model.Session{
		session(1, "rootcoord", "10.0.0.1:53100"), session(2, "proxy", "10.0.0.2:19529"),
		session(3, "querynode", "10.0.0.3:21123"),
		session(4, "datanode", "10.0.0.4:21124"), session(6, "querynode", "10.0.0.6:21123"),
		session(10, "querynode", "10.0.0.10:21123"),
		session(12, "querynode", "10.0.0.12:21123"), session(14, "rootcoord", "10.0.0.14:53100"),
	}
	p.Sessions[0].Exclusive = true
	p.Sessions[2].IndexEngine = model.EngineRange{Minimal: 0, Current: 6}
	p.Sessions[2].Labels = []model.Pair{{Key: "zone", Value: "a"}}
	p.Sessions[6].Stopping, p.Sessions[6].Version = true, "2.4.4"
	p.Sessions[7].Standby = true
	p.Etcd = &model.Etcd{At: Now, Members: []model.EtcdMember{
		{
			Endpoint: "127.0.0.1:2379", Version: "3.5.9", Leader: true, DBSize: 700 << 10, DBInUse: 650 << 10,
			DBQuota: 2 << 30,
		},
		{Endpoint: "127.0.0.1:2479", Version: "3.5.9", DBSize: 700 << 10, Errors: []string{"NOSPACE"}},
		{Endpoint: "127.0.0.1:2579", Problem: "context deadline exceeded"},
	}}
}

func background(p *model.Parts) {
	p.Targets = []*model.Target{{
		Collection: Docs, Version: 1795160941182139900,
		Key: "by-dev/meta/queryCoord-Collection-Target/470590569932652633",
		VChannels: []model.TargetVChannel{{
			Name: docs0, Segments: []model.SegmentID{470590569932852601, 470590569932852602}, Rows: 6000,
			Growing: []model.SegmentID{470590569932852690}, SeekAt: ago(time.Minute),
		}},
	}}
	p.Snapshots = []*model.Snapshot{{
		ID: 470590569933300001, Name: "nightly", Description: "before the import", Collection: Docs, State: "Committed",
		CreatedAt: Now.Add(-3 * time.Hour),
		Location:  "files/snapshots/1", Pins: 1, ProtectedUntil: Now.Add(time.Hour),
		Key: "datacoord-meta/snapshot/1/470590569933300001",
	}}
	p.PartitionStats = []*model.PartitionStats{{
		Collection: Docs, Partition: 470590569932652643, VChannel: docs0, Version: 7, Current: true,
		Segments: []model.SegmentID{470590569932852667}, CommittedAt: Now.Add(-time.Hour),
		Key: "by-dev/meta/datacoord-meta/partition-stats/1",
	}}
	p.History = []*model.HistoryEntry{
		{
			Key: "snapshots/root-coord/collection/1_ts1", OriginalKey: "root-coord/collection/1", Kind: "collection",
			At: ago(time.Hour), ID: 1, Name: "old",
		},
		{
			Key: "snapshots/root-coord/collection/1_ts2", OriginalKey: "root-coord/collection/1", Kind: "collection",
			At: ago(time.Minute), Tombstone: true,
		},
	}
	p.Allocators = []*model.Allocator{
		{Name: "gid/timestamp", At: Now.Add(3 * time.Second), Key: "by-dev/kv/gid/timestamp"},
	}
	p.Orphans = []*model.Segment{{
		ID: 470590569932852999, Collection: Docs, Partition: 470590569932652643, Bytes: 4096,
		Logs: []model.FieldLogs{{Kind: model.InsertLog, Field: 100, Files: 2, Bytes: 4096}},
		Indexes: []model.SegmentIndex{
			{
				Segment: 470590569932852999, Collection: Docs, Index: 470590569932652801, Build: 5,
				State: model.IndexFinished,
			},
		},
	}}
}

func access(p *model.Parts) {
	p.Users = []*model.User{
		{Name: "root", Roles: []string{"admin"}}, {Name: "reader", Roles: []string{"read", "public"}},
	}
	p.Roles = []*model.Role{
		{Name: "admin", Users: []string{"root"}},
		{Name: "read", Users: []string{"reader"}},
		{Name: "public", Users: []string{"reader"}},
	}
	p.Grants = []*model.Grant{
		{
			Role: "read", ObjectType: "Collection", Database: "default", Object: "docs", Privilege: "Search",
			Grantor: "root",
		},
		{
			Role: "read", ObjectType: "Collection", Database: "default", Object: "docs", Privilege: "Query",
			Grantor: "root",
		},
		{Role: "public", ObjectType: "Global", Database: "*", Object: "*", Privilege: "ReadGroup", Grantor: "root"},
	}
	p.PrivilegeGroups = []*model.PrivilegeGroup{{Name: "ReadGroup", Privileges: []string{"Query", "Search"}}}
	p.Config = []*model.ConfigEntry{
		{Name: "queryCoord/autoBalance", Value: "false", ModRevision: 1500},
		{Name: "minio/secretAccessKey", Value: "<redacted>", Redacted: true, ModRevision: 1501},
	}
	p.Tasks = []*model.Task{
		{
			ID: 470590569933100001, Type: "compaction", SubType: "MixCompaction", Collection: Docs,
			Partition: 470590569932652643, State: "completed", Node: 4,
			Trigger: 470590569933100000, Segments: []model.SegmentID{470590569932852601, 470590569932852602},
			Results:  []model.SegmentID{470590569932852667},
			VChannel: docs0, StartedAt: Now.Add(-23 * time.Hour), EndedAt: Now.Add(-22 * time.Hour),
		},
		{
			ID: 470590569933100002, Type: "import-job", Collection: Orders, State: "Failed", Progress: "3/5 files",
			Reason: "file not found: /a,b.parquet", StartedAt: Now.Add(-2 * time.Hour),
		},
		{ID: 470590569933100003, Type: "broadcast", State: "Pending"},
	}
	p.Undecoded = []*model.Undecoded{
		{Key: "by-dev/meta/datacoord-meta/s/1/2/x3", Reason: "segment: no id: \"x3\"", Size: 12},
		{Key: "by-dev/meta/strange/\x1b]0;owned\x07", Reason: "unknown key", Size: 3},
	}
	p.Gaps = []model.Gap{{Where: "by-dev/meta/session/", Reason: "permission denied", Count: 2}}
}
