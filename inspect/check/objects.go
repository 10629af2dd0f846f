package check

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// collectionLabel is how messages call a collection: its name, with the database unless that is the
// default one; its id if the name is gone.
func collectionLabel(c *model.Cluster, id model.CollectionID) string {
	x := c.Collection(id)
	switch {
	case x == nil:
		return id.String()
	case c.DatabaseName(x.Database) != "default":
		return c.DatabaseName(x.Database) + "." + x.Name
	}
	return x.Name
}

func refCollection(c *model.Cluster, id model.CollectionID) model.Ref {
	return model.Ref{Resource: "collections", ID: id.String(), Name: c.CollectionName(id)}
}

func refVChannel(name string) model.Ref {
	return model.Ref{Resource: "vchannels", ID: name, Name: name}
}

func refSegment(id model.SegmentID) model.Ref {
	return model.Ref{Resource: "segments", ID: id.String()}
}

func refReplica(r *model.Replica) model.Ref {
	return model.Ref{Resource: "replicas", ID: r.ID.String()}
}

func refNode(role string, id model.NodeID) model.Ref {
	name := role + "-" + id.String()
	return model.Ref{Resource: "nodes", ID: name, Name: name}
}

// refTask names a background task.
func refTask(t *model.Task) model.Ref {
	return model.Ref{Resource: "tasks", ID: t.Type + "/" + model.NodeID(t.ID).String(), Name: t.Type + "-" + model.NodeID(t.ID).String()}
}

// someSegments are references to segments, by id, without repeats, no more than a finding is to name.
func someSegments(ids []model.SegmentID) []model.Ref {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	ids = ids[:min(len(ids), maxObjects)]
	refs := make([]model.Ref, len(ids))
	for i, id := range ids {
		refs[i] = refSegment(id)
	}
	return refs
}

// queryNodeNames are the names of the sessions of query nodes, by id.
func queryNodeNames(ids []model.NodeID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = "querynode-" + id.String()
	}
	return names
}

func namesOf(list []*model.Session) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name()
	}
	return names
}

func sessionNames(list []*model.Session) string { return few(namesOf(list)) }

func compactIDs(ids []model.CollectionID) []model.CollectionID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// roleLabel is how messages call a role: "query node".
func roleLabel(role string) string {
	switch role {
	case "querynode", "datanode", "indexnode", "streamingnode":
		return strings.TrimSuffix(role, "node") + " node"
	case "rootcoord", "datacoord", "querycoord", "indexcoord":
		return strings.ToUpper(role[:1]) + strings.TrimSuffix(role[1:], "coord") + "Coord"
	case "mixcoord":
		return "MixCoord"
	}
	return role
}

func liveNames(list []*model.LiveNode) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.Name()
	}
	return few(names)
}

// maxObjects is how many further objects a finding names; its message has the whole number.
const maxObjects = 50

// mostNodes is how many nodes a finding lists.
const mostNodes = 12

// defaultGroup takes whatever nodes no other group wants.
const defaultGroup = "__default_resource_group"
