package tuitest

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Epoch returns the current time of the fixtures: 2026-11-20 09:30:00 UTC.
func Epoch() time.Time { return time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC) }

// FirstID is the id of the first collection of Fixture.
const FirstID = 470590760626290000

// FixtureParts returns a small cluster with everything that a screen has to handle: wide names, long names, control
// characters, collections that no longer exist, every state.
func FixtureParts() model.Parts {
	now := Epoch()
	tso := func(ago time.Duration) model.TSO { return model.TSOFromTime(now.Add(-ago)) }
	p := model.Parts{
		Origin: model.Origin{
			Kind: "etcd", Location: "etcd://127.0.0.1:2379/by-dev", Root: "by-dev", MetaPath: "meta", Revision: 1643,
			Taken: now,
		},
		Loaded: model.PartAll, Version: model.Version{Text: "2.3.5", From: "sessions"}, Keys: 487,
		Databases: []*model.Database{
			{ID: 1, Name: "default", State: "Created"},
			{ID: 2, Name: "tenant_a", State: "Created", CreatedAt: tso(90 * time.Hour)},
		},
	}
	names := []string{
		"docs_hnsw_cos", "items_ivf", "图像向量检索库",
		"tenant_orders_with_a_name_that_is_far_too_long_for_any_column_of_a_table", "empty", "evil\x1b[31mred\x07",
	}
	for i, name := range names {
		addCollection(&p, i, name, tso)
	}
	p.Aliases = []*model.Alias{
		{Name: "prod", Database: 1, Collection: FirstID, State: "Created", CreatedAt: tso(50 * time.Hour)},
	}
	for i := range 30 {
		p.Segments = append(p.Segments, fixtureSegment(i, tso))
	}
	slices.SortFunc(p.Segments, func(a, b *model.Segment) int { return int(a.ID - b.ID) })
	for i, role := range []string{
		"rootcoord", "datacoord", "querycoord", "proxy", "datanode", "indexnode", "querynode", "querynode", "querynode",
	} {
		p.Sessions = append(p.Sessions, &model.Session{
			Node: model.NodeID(i + 1), Role: role, Address: fmt.Sprintf("10.0.0.%d:2%04d", i+1, 1000+i),
			Version:  "2.3.5",
			Stopping: i == 8, Key: fmt.Sprintf("by-dev/meta/session/%s-%d", role, i+1), Revision: int64(20 + i),
		})
	}
	p.Replicas = []*model.Replica{
		{ID: 7001, Collection: FirstID, ResourceGroup: "__default_resource_group", Nodes: []model.NodeID{7, 8}},
	}
	p.ResourceGroups = []*model.ResourceGroup{
		{Name: "__default_resource_group", Capacity: 1000000, Nodes: []model.NodeID{7, 8, 9}, Requests: -1, Limits: -1},
	}
	p.LoadStates = []*model.LoadState{
		{Collection: FirstID, Status: "Loaded", Percent: new(int32(100)), Replicas: 1, LoadType: "LoadCollection"},
	}
	p.Undecoded = []*model.Undecoded{{Key: "by-dev/meta/strange\x1b]0;owned\x07key", Reason: "unknown key", Size: 12}}
	p.Etcd = &model.Etcd{
		At: now,
		Members: []model.EtcdMember{
			{
				Endpoint: "127.0.0.1:2379", Version: "3.5.5", Leader: true, DBSize: 733184, DBInUse: 500000,
				DBQuota: 4 << 30,
			},
		},
	}
	p.Keyspace = fixtureKeys()
	return p
}

func addCollection(p *model.Parts, i int, name string, tso func(time.Duration) model.TSO) {
	id := model.CollectionID(FirstID + 100*i)
	c := &model.Collection{
		ID: id, Database: model.DatabaseID(1 + i%2), Name: name, State: "Created", Shards: 2,
		ConsistencyLevel: "Bounded",
		CreatedAt:        tso(time.Duration(48-i) * time.Hour), Layout: "2.2.9",
		Key: "by-dev/meta/root-coord/database/collection-info/1/" + id.String(),
		Fields: []*model.Field{
			{ID: 0, Collection: id, Name: "RowID", Type: "Int64"},
			{ID: 1, Collection: id, Name: "Timestamp", Type: "Int64"},
			{ID: 100, Collection: id, Name: "pk", Type: "Int64", PrimaryKey: true},
			{
				ID: 101, Collection: id, Name: "embedding", Type: "FloatVector", Dim: 128,
				Params: []model.Pair{{Key: "dim", Value: "128"}},
			},
		},
	}
	for shard := range 2 {
		pch := fmt.Sprintf("by-dev-rootcoord-dml_%d", (2*i+shard)%4)
		vch := fmt.Sprintf("%s_%sv%d", pch, id, shard)
		c.VChannels, c.PChannels = append(c.VChannels, vch), append(c.PChannels, pch)
		p.VChannels = append(p.VChannels, &model.VChannel{
			Name: vch, PChannel: pch, Collection: id, Shard: shard, Watched: true, Watcher: 5,
			WatchState: "WatchSuccess",
			Checkpoint: model.Checkpoint{At: tso(time.Duration(3+shard+60*i) * time.Second), PChannel: pch},
		})
		if !slices.ContainsFunc(p.PChannels, func(x *model.PChannel) bool { return x.Name == pch }) {
			p.PChannels = append(p.PChannels, &model.PChannel{Name: pch})
		}
	}
	for k, part := range []string{"_default", "2026-11"} {
		p.Partitions = append(p.Partitions, &model.Partition{
			ID: model.PartitionID(int64(id) + 10 + int64(k)), Collection: id, Name: part, State: "Created",
			CreatedAt: c.CreatedAt,
		})
	}
	if i < 4 {
		p.Indexes = append(p.Indexes, &model.Index{
			ID: model.IndexID(int64(id) + 50), Collection: id, Field: 101, Name: "vec_idx", Type: "HNSW",
			Metric: "COSINE", Params: []model.Pair{{Key: "M", Value: "16"}, {Key: "efConstruction", Value: "200"}},
		})
	}
	p.Collections = append(p.Collections, c)
}

func fixtureSegment(i int, tso func(time.Duration) model.TSO) *model.Segment {
	coll := model.CollectionID(FirstID + 100*(i%4))
	if i == 29 {
		coll = FirstID + 900 // of a collection that no longer exists
	}
	states := []model.SegmentState{
		model.SegmentFlushed, model.SegmentFlushed, model.SegmentGrowing, model.SegmentFlushed, model.SegmentDropped,
		model.SegmentSealed, model.SegmentFlushing, model.SegmentFlushed, model.SegmentImporting,
	}
	s := &model.Segment{
		ID: model.SegmentID(FirstID + 5000 + 7*i), Collection: coll,
		Partition: model.PartitionID(int64(coll) + 10 + int64(i/4%2)),
		VChannel:  fmt.Sprintf("by-dev-rootcoord-dml_%d_%sv%d", (2*(i%4)+i%2)%4, coll, i%2),
		State:     states[i%len(states)], Level: model.LevelL1,
		Rows: int64(1000 + 337*i), MaxRows: 100000, DeletedRows: int64(i % 3), Bytes: int64(1+i) * 1234567,
		StartAt: tso(time.Duration(100+i) * time.Minute), PositionAt: tso(time.Duration(i) * time.Minute),
		Logs: []model.FieldLogs{
			{Kind: model.InsertLog, Field: 100, Files: 2, Rows: 1000, Bytes: 80000},
			{Kind: model.InsertLog, Field: 101, Files: 2, Rows: 1000, Bytes: 1 << 20},
		},
	}
	if s.State == model.SegmentFlushed && i != 7 {
		s.Indexes = []model.SegmentIndex{
			{
				Segment: s.ID, Collection: coll, Partition: s.Partition, Index: model.IndexID(int64(coll) + 50),
				Build: model.BuildID(9000 + i), State: model.IndexFinished, Rows: s.Rows, Bytes: s.Bytes / 2, Files: 3,
			},
		}
	}
	return s
}

// Fixture returns the cluster of FixtureParts.
func Fixture() *model.Cluster { return model.Build(FixtureParts()) }

// FixtureLater returns the fixture after a refresh: one segment is new, one has grown, one is gone.
func FixtureLater() *model.Cluster {
	p := FixtureParts()
	p.Origin.Revision += 7
	p.Origin.Taken = p.Origin.Taken.Add(30 * time.Second)
	grown := *p.Segments[2]
	grown.Rows += 500
	p.Segments[2] = &grown
	fresh := *p.Segments[0]
	fresh.ID += 3
	fresh.State = model.SegmentGrowing
	p.Segments = append(slices.Delete(p.Segments, 4, 5), &fresh)
	slices.SortFunc(p.Segments, func(a, b *model.Segment) int { return int(a.ID - b.ID) })
	return model.Build(p)
}

// ManySegments returns a cluster of n segments in 250 collections.
func ManySegments(n int) *model.Cluster {
	p := FixtureParts()
	p.Segments = make([]*model.Segment, n)
	list := make([]model.Segment, n)
	channels := make([]string, 500)
	for i := range channels {
		channels[i] = fmt.Sprintf("by-dev-rootcoord-dml_%d_%dv%d", i%16, FirstID+100*(i/2), i%2)
	}
	for i := range list {
		coll := model.CollectionID(FirstID + 100*(i%250))
		list[i] = model.Segment{
			ID: model.SegmentID(FirstID + 100000 + int64(i)), Collection: coll,
			Partition: model.PartitionID(int64(coll) + 10), VChannel: channels[i%500],
			State: model.SegmentFlushed, Level: model.LevelL1, Rows: int64(i*7919%100000 + 1),
			Bytes: int64(i % 1000 * 123457),
		}
		if i%97 == 0 {
			list[i].State = model.SegmentGrowing
		}
		p.Segments[i] = &list[i]
	}
	for i := 6; i < 250; i++ {
		p.Collections = append(p.Collections, &model.Collection{
			ID: model.CollectionID(FirstID + 100*i), Database: 1, Name: fmt.Sprintf("collection_%03d", i),
			State: "Created", Shards: 2,
		})
	}
	return model.Build(p)
}

// keyspace is a Keyspace of texts.
type keyspace struct {
	keys   []string
	values map[string]string
}

func fixtureKeys() *keyspace {
	k := &keyspace{values: map[string]string{}}
	for i := range 6 {
		id := FirstID + 100*i
		k.values[fmt.Sprintf("by-dev/meta/root-coord/database/collection-info/1/%d", id)] = fmt.Sprintf(
			"{\n  \"schema\": {\n    \"name\": \"c%d\"\n  },\n  \"shards_num\": 2\n}", i,
		)
	}
	k.values["by-dev/meta/strange\x1b]0;owned\x07key"] = "raw \x1b[2J bytes"
	for key := range k.values {
		k.keys = append(k.keys, key)
	}
	sort.Strings(k.keys)
	return k
}

func (k *keyspace) Len() int { return len(k.keys) }

func (k *keyspace) Info(i int) model.KeyInfo {
	info := model.KeyInfo{Key: k.keys[i], Size: len(k.values[k.keys[i]]), ModRevision: int64(100 + i)}
	if strings.Contains(info.Key, "collection-info") {
		info.Kind = "collection"
	}
	return info
}

// Collection returns the number at the end of the i-th key.
func (k *keyspace) Collection(i int) model.CollectionID {
	id, _ := strconv.ParseInt(k.keys[i][strings.LastIndexByte(k.keys[i], '/')+1:], 10, 64)
	return model.CollectionID(id)
}

func (k *keyspace) Find(key string) (int, bool) { return slices.BinarySearch(k.keys, key) }

func (k *keyspace) ObjectKeys(resource, id string) []string {
	if resource == "collections" {
		return []string{"by-dev/meta/root-coord/database/collection-info/1/" + id}
	}
	return nil
}

func (k *keyspace) Record(i int) model.Record {
	return model.Record{KeyInfo: k.Info(i), Message: "json", Text: k.values[k.keys[i]]}
}
