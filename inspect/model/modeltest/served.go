package modeltest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// largeServed builds a large cluster of Milvus 2.4.17 that is mostly healthy. Half of its query nodes jointly
// serve most collections. The others are split into small resource groups.
type largeServed struct {
	model.Parts
	live  model.RuntimeParts
	nodes []model.NodeID // query nodes
	rows  int64          // next pseudo-random number
}

// Shape of the large cluster.
const (
	servedCollections = 50
	servedPChannels   = 16
	servedPartitions  = 4
	servedVersion     = "2.4.17"
	defaultGroup      = "__default_resource_group"
	servedGroups      = 5 // in addition to the default one
)

// ServedLarge returns a cluster of some segments in 50 collections, served by at least 10 query nodes. It
// includes the responses of all processes, etcd and the queue. It resembles a cluster in use, with ongoing
// inserts and compactions and a few faults: an idle node, a collection with flushed segments that are still
// growing, indexes that are not loaded or failed, a session of a dead process, a differing configuration, and
// segments of a partition that is gone.
func ServedLarge(segments, nodes int) *model.Cluster {
	p := &largeServed{}
	p.Origin = model.Origin{
		Kind: "etcd", Location: "etcd://127.0.0.1:2379/by-dev", Root: "by-dev", MetaPath: "meta", Revision: 42,
		Taken: Now,
	}
	p.Loaded = model.PartAll
	p.Version = model.Version{Text: servedVersion, From: "sessions"}
	p.Databases = []*model.Database{{ID: 1, Name: "default", State: "Created"}}
	p.Allocators = []*model.Allocator{
		{Name: "gid/timestamp", At: Now.Add(2 * time.Second), Key: "by-dev/kv/gid/timestamp"},
	}
	p.sessions(nodes)
	p.groups()
	for i := range servedPChannels {
		p.PChannels = append(p.PChannels, &model.PChannel{Name: pchannelName(i)})
	}
	for i := range servedCollections {
		p.collection(i)
	}
	for i := range segments {
		p.segment(i)
	}
	p.tasks()
	p.Etcd = &model.Etcd{
		At: Now, Activity: &model.EtcdActivity{Over: 30 * time.Second, Revisions: 900, Writes: 850},
		Members: []model.EtcdMember{
			{
				Name: "etcd-0", Endpoint: "10.0.0.1:2379", Version: "3.5.16", Leader: true, DBSize: 700 << 20,
				DBInUse: 500 << 20, DBQuota: 4 << 30,
			},
			{
				Name: "etcd-1", Endpoint: "10.0.0.2:2379", Version: "3.5.16", DBSize: 700 << 20, DBInUse: 500 << 20,
				DBQuota: 4 << 30,
			},
			{
				Name: "etcd-2", Endpoint: "10.0.0.3:2379", Version: "3.5.16", DBSize: 700 << 20, DBInUse: 500 << 20,
				DBQuota: 4 << 30,
			},
		},
	}
	p.Profiles = p.profiles()
	p.Storage = &model.Storage{Location: "/data", DiskSpace: &model.DiskSpace{Free: 1 << 40, Size: 4 << 40}}
	c := model.Build(p.Parts)
	return c.WithRuntime(model.BuildRuntime(p.runtime(c)))
}

// random returns the next number below n of a fixed pseudo-random sequence.
func (p *largeServed) random(n int64) int64 {
	p.rows = (p.rows*6364136223846793005 + 1442695040888963407) & (1<<63 - 1)
	return (p.rows >> 20) % n
}

func pchannelName(i int) string { return "by-dev-rootcoord-dml_" + strconv.Itoa(i) }

func (p *largeServed) sessions(nodes int) {
	add := func(id int, role string, port int) *model.Session {
		s := &model.Session{
			Node: model.NodeID(id), Role: role, Address: fmt.Sprintf("10.1.%d.%d:%d", id/250, id%250+1, port),
			Version:  servedVersion,
			HostName: role + "-" + strconv.Itoa(id), Lease: int64(7587000000000000000 + id),
			Key: "by-dev/meta/session/" + role + "-" + strconv.Itoa(id),
		}
		p.Sessions = append(p.Sessions, s)
		return s
	}
	add(1, "rootcoord", 53100)
	add(2, "datacoord", 13333)
	add(3, "querycoord", 19531)
	for i := range 4 {
		add(10+i, "proxy", 19529)
	}
	for i := range 8 {
		add(20+i, "datanode", 21124)
		add(40+i, "indexnode", 21121)
	}
	for i := range nodes {
		s := add(1000+i, "querynode", 21123)
		s.IndexEngine = model.EngineRange{Minimal: 0, Current: 5}
		p.nodes = append(p.nodes, s.Node)
	}
}

// groups splits the query nodes. Half of them and the remainder, with the idle last node, are in the default
// group.
func (p *largeServed) groups() {
	half := len(p.nodes) / 2
	each := (len(p.nodes) - half - 1) / servedGroups
	add := func(name string, nodes []model.NodeID, requests int32) {
		p.ResourceGroups = append(p.ResourceGroups, &model.ResourceGroup{
			Name: name, Capacity: int32(len(nodes)), Nodes: nodes, Requests: requests, Limits: requests,
		}) //nolint:gosec // few
	}
	used := half + servedGroups*each
	for i := range servedGroups {
		add("rg_"+strconv.Itoa(i), p.nodes[half+i*each:half+(i+1)*each], int32(each)) //nolint:gosec // few
	}
	add(defaultGroup, slices.Concat(p.nodes[:half], p.nodes[used:]), 0)
}

// groupOf returns the resource group of the i-th collection. Every fifth one is not in the default group.
func (p *largeServed) groupOf(i int) *model.ResourceGroup {
	if i%5 == 4 {
		return p.ResourceGroups[i/5%servedGroups]
	}
	return p.ResourceGroups[servedGroups]
}

func collectionAt(i int) model.CollectionID { return model.CollectionID(453590569932000000 + 1000*i) }

// shardsOf returns the number of shards of the i-th collection.
func shardsOf(i int) int {
	if i%10 == 0 {
		return 8
	}
	return 2
}

func (p *largeServed) collection(i int) {
	id := collectionAt(i)
	x := &model.Collection{
		ID: id, Database: 1, Name: "docs_" + strconv.Itoa(i), State: "Created", Shards: shardsOf(i),
		CreatedAt: ago(60 * 24 * time.Hour), Layout: "2.2.9",
		ConsistencyLevel: "Bounded", Key: "by-dev/meta/root-coord/database/collection-info/1/" + id.String(),
		Fields: []*model.Field{
			{ID: 0, Name: "RowID", Type: "Int64"},
			{ID: 1, Name: "Timestamp", Type: "Int64"},
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true},
			{ID: 101, Name: "vec", Type: "FloatVector", Dim: 768},
			{ID: 102, Name: "text", Type: "VarChar"},
		},
	}
	for v := range x.Shards {
		topic := pchannelName((i*3 + v) % servedPChannels)
		name := topic + "_" + id.String() + "v" + strconv.Itoa(v)
		x.VChannels, x.PChannels = append(x.VChannels, name), append(x.PChannels, topic)
		p.VChannels = append(p.VChannels, &model.VChannel{
			Name: name, PChannel: topic, Collection: id, Shard: v, Removal: "non-removed", Watched: true,
			Watcher: model.NodeID(20 + (i+v)%8), WatchState: "WatchSuccess",
			WatchedAt: Now.Add(-3 * 24 * time.Hour),
			Checkpoint: model.Checkpoint{
				At: ago(20 * time.Second), Message: []byte{0, 8, 0, 0, 0, 0, 0, 0}, PChannel: name,
			},
		})
	}
	for k := range servedPartitions {
		p.Partitions = append(p.Partitions, &model.Partition{
			ID: partitionAt(i, k), Collection: id, Name: "part_" + strconv.Itoa(k), State: "Created",
			CreatedAt: x.CreatedAt,
		})
	}
	p.Collections = append(p.Collections, x)
	p.Indexes = append(p.Indexes, &model.Index{
		ID: model.IndexID(id) + 500, Collection: id, Field: 101, Name: "vec_idx", Type: "HNSW", Metric: "COSINE",
		CreatedAt: Now.Add(-59 * 24 * time.Hour), Layout: "2.2",
		Params: []model.Pair{{Key: "M", Value: "16"}, {Key: "efConstruction", Value: "200"}},
	})
	g := p.groupOf(i)
	members := g.Nodes
	if g.Name == defaultGroup {
		members = members[:len(members)-1] // without the idle node
	}
	if i == 0 {
		members = g.Nodes
	}
	p.Replicas = append(p.Replicas, &model.Replica{
		ID: model.ReplicaID(id) + 700, Collection: id, ResourceGroup: g.Name, Nodes: members,
	})
	p.LoadStates = append(p.LoadStates, &model.LoadState{
		Collection: id, Status: "Loaded", Percent: new(int32(100)), Replicas: 1, LoadType: "LoadCollection",
		Indexes: map[model.FieldID]model.IndexID{101: model.IndexID(id) + 500},
	})
}

func partitionAt(collection, k int) model.PartitionID {
	return model.PartitionID(int64(collectionAt(collection)) + 1 + int64(k))
}

// segment adds the i-th segment. In each collection one in 200 is growing. One in 100 is compacted, and the
// next one is its result. A few are L0, just flushed, or small.
func (p *largeServed) segment(i int) {
	n := i % servedCollections
	k := i / servedCollections
	x := p.Collections[n]
	age := time.Duration(1+p.random(50*24)) * time.Hour
	s := &model.Segment{
		ID: model.SegmentID(453590580000000000 + int64(i)), Collection: x.ID,
		Partition: partitionAt(n, k%servedPartitions), VChannel: x.VChannels[k/servedPartitions%len(x.VChannels)],
		State: model.SegmentFlushed, Level: model.LevelL1, Rows: 290_000 + p.random(40_000), MaxRows: 330_000,
		StartAt: ago(age), PositionAt: ago(age - 20*time.Minute),
		LogKeys: true, ExpireAt: ago(age - 20*time.Minute),
	}
	s.DeletedRows = p.random(s.Rows / 20)
	s.Bytes = s.Rows * 3100
	switch role := k % 200; {
	case role == 0:
		s.State, s.Rows, s.DeletedRows, s.Bytes = model.SegmentGrowing, p.random(2_000), 0, 0
		s.StartAt, s.PositionAt, s.ExpireAt = ago(4*time.Minute), ago(30*time.Second), ago(-time.Second)
	case role == 1 || role == 101:
		s.State, s.Compacted, s.DroppedAt = model.SegmentDropped, true, ago(40*time.Minute)
	case role == 2 || role == 102:
		s.CompactedFrom, s.ByCompaction = []model.SegmentID{s.ID - servedCollections}, true
		s.PositionAt = ago(41 * time.Minute)
	case role == 3:
		s.Level, s.Partition, s.Rows, s.DeletedRows, s.Bytes = model.LevelL0, -1, 0, 400+p.random(4000), 1<<20
		s.StartAt, s.PositionAt = ago(9*time.Minute), ago(5*time.Minute)
	case role == 4 && k < 200:
		s.StartAt, s.PositionAt = ago(12*time.Minute), ago(2*time.Minute)
	case role == 5:
		s.StartAt, s.PositionAt, s.Rows, s.DeletedRows = ago(30*time.Minute), ago(29*time.Minute), 40_000, 0
	case n == 6 && role < 80:
		s.Rows, s.DeletedRows = 40_000, 0
	}
	if s.State == model.SegmentFlushed && s.Level != model.LevelL0 {
		s.Indexes = []model.SegmentIndex{p.segmentIndex(i, s)}
		s.IndexBytes = s.Indexes[0].Bytes
	}
	s.Logs = []model.FieldLogs{
		{Kind: model.InsertLog, Field: 100, Files: 4, Rows: s.Rows, Bytes: s.Rows * 8},
		{Kind: model.InsertLog, Field: 101, Files: 8, Rows: s.Rows, Bytes: s.Rows * 3000},
	}
	p.addFaults(n, k, s)
	p.Segments = append(p.Segments, s)
}

// segmentIndex returns the index of a segment, which is still being built if the segment was just flushed.
func (p *largeServed) segmentIndex(i int, s *model.Segment) model.SegmentIndex {
	x := model.SegmentIndex{
		Segment: s.ID, Collection: s.Collection, Partition: s.Partition, Index: model.IndexID(s.Collection) + 500,
		Build: model.BuildID(453590590000000000 + i), State: model.IndexFinished, Rows: s.Rows,
		Bytes: s.Rows * 3300, Files: 4, EngineVersion: 5, CreatedAt: s.PositionAt.Time().Add(10 * time.Second),
		FinishedAt: s.PositionAt.Time().Add(time.Minute), Node: model.NodeID(40 + i%8),
	}
	if s.PositionAt.Time().After(Now.Add(-3 * time.Minute)) {
		x.State, x.FinishedAt, x.Bytes, x.Files = model.IndexInProgress, time.Time{}, 0, 0
	}
	return x
}

// addFaults adds faults to a few segments of collections 7 to 9.
func (p *largeServed) addFaults(collection, k int, s *model.Segment) {
	switch {
	case collection == 7 && k < 4: // of a deleted partition
		s.Partition = 5
	case collection == 8 && k == 20:
		s.Indexes[0].State, s.Indexes[0].FailReason, s.Indexes[0].FinishedAt = model.IndexFailed,
			"knowhere: out of memory", time.Time{}
	case collection == 9 && k%200 >= 20 && k%4 == 0:
		s.DeletedRows = s.Rows / 2
	}
}

func (p *largeServed) tasks() {
	for i := range 40 {
		p.Tasks = append(p.Tasks, &model.Task{
			ID: int64(453590600000000000 + i), Type: "compaction", SubType: "MixCompaction",
			Collection: collectionAt(i), State: "completed", Node: model.NodeID(20 + i%8),
			VChannel: p.Collections[i].VChannels[0], StartedAt: Now.Add(-45 * time.Minute),
			EndedAt: Now.Add(-40 * time.Minute),
		})
	}
}
