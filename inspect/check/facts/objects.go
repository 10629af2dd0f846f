package facts

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Existing returns the collections that are not dropped.
func (f *Facts) Existing() []*model.Collection {
	return slices.DeleteFunc(slices.Clone(f.Collections), (*model.Collection).Dropped)
}

// CollectionLabel returns the label of a collection in messages: its name, prefixed with the database unless that
// is the default one, or its id if the name is gone.
func CollectionLabel(c *model.Cluster, id model.CollectionID) string {
	x := c.Collection(id)
	switch {
	case x == nil:
		return id.String()
	case c.DatabaseName(x.Database) != "default":
		return c.DatabaseName(x.Database) + "." + x.Name
	}
	return x.Name
}

// RefCollection returns a reference to a collection.
func RefCollection(c *model.Cluster, id model.CollectionID) model.Ref {
	return model.Ref{Resource: "collections", ID: id.String(), Name: c.CollectionName(id)}
}

// RefVChannel returns a reference to a vchannel.
func RefVChannel(name string) model.Ref {
	return model.Ref{Resource: "vchannels", ID: name, Name: name}
}

// RefSegment returns a reference to a segment.
func RefSegment(id model.SegmentID) model.Ref {
	return model.Ref{Resource: "segments", ID: id.String()}
}

// RefReplica returns a reference to a replica.
func RefReplica(r *model.Replica) model.Ref {
	return model.Ref{Resource: "replicas", ID: r.ID.String()}
}

// RefNode returns a reference to a session by its role and server id.
func RefNode(role string, id model.NodeID) model.Ref {
	name := id.Name(role)
	return model.Ref{Resource: "nodes", ID: name, Name: name}
}

// RefNodes returns references to nodes by their names, as returned by QueryNodeNames.
func RefNodes(names []string) []model.Ref {
	refs := make([]model.Ref, len(names))
	for i, name := range names {
		refs[i] = model.Ref{Resource: "nodes", ID: name, Name: name}
	}
	return refs
}

// Refs returns references to at most the first MaxObjects elements of list.
func Refs[T any](list []T, ref func(T) model.Ref) []model.Ref {
	refs := make([]model.Ref, min(len(list), MaxObjects))
	for i := range refs {
		refs[i] = ref(list[i])
	}
	return refs
}

// RefTask returns a reference to a background task.
func RefTask(t *model.Task) model.Ref {
	return model.Ref{
		Resource: "tasks", ID: t.Type + "/" + model.NodeID(t.ID).String(),
		Name: t.Type + "-" + model.NodeID(t.ID).String(),
	}
}

// SomeSegments returns references to the first MaxObjects segments by id, without duplicates. It sorts ids in
// place.
func SomeSegments(ids []model.SegmentID) []model.Ref {
	slices.Sort(ids)
	return Refs(slices.Compact(ids), RefSegment)
}

// QueryNodeNames returns the session names of query nodes, sorted by id, without duplicates.
func QueryNodeNames(ids []model.NodeID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Name("querynode")
	}
	return names
}

// NamesOf returns the names of sessions.
func NamesOf(list []*model.Session) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name()
	}
	return names
}

// SessionNames lists sessions for messages, e.g. "a, b and 4 more".
func SessionNames(list []*model.Session) string { return words.Summarize(NamesOf(list)) }

// CompactIDs sorts ids in place and removes duplicates.
func CompactIDs(ids []model.CollectionID) []model.CollectionID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// RoleLabel returns the label of a role in messages, e.g. "query node".
func RoleLabel(role string) string {
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

// LiveNames lists processes for messages.
func LiveNames(list []*model.LiveNode) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.Name()
	}
	return words.Summarize(names)
}

// MaxObjects is the maximum number of further objects that a finding names; its message has the total.
const MaxObjects = 50

// MostNodes is the maximum number of nodes that a finding lists.
const MostNodes = 12

// DefaultGroup is the resource group that takes all nodes that no other group needs.
const DefaultGroup = "__default_resource_group"
