// Package livetest builds fake clusters for tests of code that queries processes: metadata with matching
// responses, servers that return those responses over loopback, and servers that fail in every way.
//
//  1. Cluster builds the metadata of a cluster of a given shape.
//  2. Answers returns the responses of the processes for any metadata, in the real messages.
//  3. Serve starts servers for them (package recorded) and sets the sessions to their addresses.
//  4. Silent, Garbage, Huge and others return addresses of faulty servers.
package livetest

import (
	"fmt"
	"time"

	"kitescope/inspect/model"
)

// Spec is the shape of a cluster.
type Spec struct {
	Version     string // of Milvus, e.g. "2.3.5" or "2.6.3"; "" means 2.3.5
	QueryNodes  int
	Collections int
	Segments    int // flushed ones, in all collections
	Growing     int // growing ones, in all collections
	Standalone  bool
}

// Now is the time of the clusters.
var Now = time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)

// Secret is a secret in the configuration of every process.
const Secret = "s3cr3t-live-minio"

const firstID = 470590569932000000

// QueryNode returns the ServerID of the i-th query node.
func QueryNode(i int) model.NodeID { return model.NodeID(100 + i) }

// Cluster builds metadata of a shape. Its addresses are in another network.
func Cluster(spec Spec) *model.Cluster {
	if spec.Version == "" {
		spec.Version = "2.3.5"
	}
	p := model.Parts{
		Origin:    model.Origin{Kind: "etcd", Root: "by-dev", MetaPath: "meta", Revision: 100, Taken: Now},
		Loaded:    model.PartAll,
		Version:   model.Version{Text: spec.Version, From: "sessions"},
		Databases: []*model.Database{{ID: 1, Name: "default", State: "Created"}},
	}
	group := &model.ResourceGroup{Name: "__default_resource_group", Capacity: 1000000, Requests: -1, Limits: -1}
	for i := range spec.QueryNodes {
		group.Nodes = append(group.Nodes, QueryNode(i))
	}
	p.ResourceGroups = []*model.ResourceGroup{group}
	for i := range spec.Collections {
		addCollection(&p, i, group.Nodes)
	}
	for i := range spec.Segments + spec.Growing {
		addSegment(&p, i, i >= spec.Segments)
	}
	p.Sessions = sessions(spec)
	return model.Build(p)
}

func collectionID(i int) model.CollectionID { return model.CollectionID(firstID + 1000*i) }

func addCollection(p *model.Parts, i int, nodes []model.NodeID) {
	id := collectionID(i)
	pchannel := fmt.Sprintf("by-dev-rootcoord-dml_%d", i)
	vchannel := fmt.Sprintf("%s_%dv0", pchannel, id)
	partition := model.PartitionID(id) + 1
	p.Collections = append(p.Collections, &model.Collection{
		ID: id, Database: 1, Name: fmt.Sprintf("collection_%d", i), State: "Created", Shards: 1,
		VChannels: []string{vchannel},
		Fields: []*model.Field{
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true},
			{ID: 101, Name: "vec", Type: "FloatVector", Dim: 128},
		},
	})
	p.Partitions = append(p.Partitions, &model.Partition{
		ID: partition, Collection: id, Name: "_default", State: "PartitionCreated",
	})
	p.PChannels = append(p.PChannels, &model.PChannel{Name: pchannel})
	p.VChannels = append(p.VChannels, &model.VChannel{
		Name: vchannel, PChannel: pchannel, Collection: id,
		Checkpoint: model.Checkpoint{
			At: model.TSOFromTime(Now.Add(-time.Minute)), Message: []byte{9, 0, 0, 0, 0, 0, 0, 0}, PChannel: pchannel,
		},
	})
	p.Indexes = append(p.Indexes, &model.Index{
		ID: model.IndexID(id) + 2, Collection: id, Field: 101, Name: "vec", Type: "HNSW", Metric: "L2",
	})
	p.LoadStates = append(p.LoadStates, &model.LoadState{
		Collection: id, Status: "Loaded", Percent: new(int32(100)), Replicas: 1, LoadType: "LoadCollection",
	})
	p.Replicas = append(p.Replicas, &model.Replica{
		ID: model.ReplicaID(id) + 3, Collection: id, ResourceGroup: "__default_resource_group", Nodes: nodes,
	})
}

func addSegment(p *model.Parts, i int, growing bool) {
	n := i % len(p.Collections)
	s := &model.Segment{
		ID: model.SegmentID(firstID + 10_000_000 + i), Collection: collectionID(n),
		Partition: model.PartitionID(collectionID(n)) + 1,
		VChannel:  p.VChannels[n].Name, State: model.SegmentFlushed, Level: model.LevelL1, Rows: 1000 + int64(i%7),
		MaxRows: 8192,
		StartAt: model.TSOFromTime(Now.Add(-time.Hour)),
	}
	if growing {
		s.State, s.Rows = model.SegmentGrowing, 0
	}
	p.Segments = append(p.Segments, s)
}

// sessions returns the sessions of the processes of a shape.
func sessions(spec Spec) []*model.Session {
	var list []*model.Session
	add := func(role string, id model.NodeID, host, port int, labels ...model.Pair) {
		key := "by-dev/meta/session/" + role + "-" + id.String()
		if spec.Standalone {
			id, host = 1, 1
		}
		list = append(list, &model.Session{
			Node: id, Role: role, Address: fmt.Sprintf("10.1.%d.%d:%d", host/250, host%250+1, port),
			Version: spec.Version, Key: key, Labels: labels,
			HostName: fmt.Sprintf("host-%d", host),
		})
	}
	if model26(spec.Version) {
		add("mixcoord", 1, 1, 53100)
		for i := range 2 {
			add("streamingnode", model.NodeID(7+i), 7+i, 22222)
			add("querynode", model.NodeID(7+i), 7+i, 22222, model.Pair{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"})
		}
	} else {
		add("rootcoord", 1, 1, 53100)
		add("datacoord", 2, 2, 13333)
		add("indexcoord", 2, 2, 13333)
		add("querycoord", 3, 3, 19531)
		add("indexnode", 6, 6, 21121)
	}
	add("proxy", 4, 4, 19529)
	add("datanode", 5, 5, 21124)
	for i := range spec.QueryNodes {
		add("querynode", QueryNode(i), 100+i, 21123)
	}
	return list
}

func model26(version string) bool { return version >= "2.6" }
