package check

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// WholeCluster is the object of findings that are about no single thing.
const WholeCluster = "cluster"

// ObjectKey is a finding's object as a baseline writes it: "collections/default/docs". It is the
// name that stays where ids do not, see stableName, else the id.
func ObjectKey(c *model.Cluster, ref model.Ref) string {
	if ref.Resource == "" {
		return WholeCluster
	}
	if name := stableName(c, ref); name != "" {
		return ref.Resource + "/" + name
	}
	return ref.Resource + "/" + ref.ID
}

// stableName names an object over restarts, reloads and rebuilds, where the id does not: a
// server id is another at each start of a process, a replica's at each load. "" if the id is as good.
func stableName(c *model.Cluster, ref model.Ref) string {
	id, err := strconv.ParseInt(ref.ID, 10, 64)
	switch ref.Resource {
	case "nodes":
		return addressOf(c, ref.ID)
	case "databases":
		if err == nil && c.Database(model.DatabaseID(id)) != nil {
			return c.DatabaseName(model.DatabaseID(id))
		}
	case "collections", "load-states":
		if err == nil {
			return collectionName(c, model.CollectionID(id))
		}
	case "partitions":
		if p := c.Partition(model.PartitionID(id)); err == nil && p != nil {
			return below(collectionName(c, p.Collection), p.Name)
		}
	case "indexes":
		if x := c.Index(model.IndexID(id)); err == nil && x != nil {
			return below(collectionName(c, x.Collection), x.Name)
		}
	case "replicas":
		i := slices.IndexFunc(c.Replicas, func(r *model.Replica) bool { return int64(r.ID) == id })
		if err == nil && i >= 0 {
			return below(collectionName(c, c.Replicas[i].Collection), c.Replicas[i].ResourceGroup)
		}
	}
	return ""
}

// collectionName is "default/docs", "" if the collection is gone.
func collectionName(c *model.Cluster, id model.CollectionID) string {
	x := c.Collection(id)
	if x == nil {
		return ""
	}
	return c.DatabaseName(x.Database) + "/" + x.Name
}

func below(owner, name string) string {
	if owner == "" || name == "" {
		return ""
	}
	return owner + "/" + name
}

// addressOf is "querynode@10.2.0.7:21123" of the session "querynode-19", "" if there is none.
func addressOf(c *model.Cluster, name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return ""
	}
	id, err := strconv.ParseInt(name[i+1:], 10, 64)
	if err != nil {
		return ""
	}
	s := c.SessionIn(model.NodeID(id), name[:i])
	if s == nil || s.Address == "" {
		return ""
	}
	return s.Role + "@" + s.Address
}

// identities are the objects that a finding may have had in another state of its cluster,
// the surest first: by id, by the name that stays, and of a segment those that it was
// compacted from.
func identities(c *model.Cluster, ref model.Ref) []string {
	if ref.Resource == "" {
		return []string{WholeCluster}
	}
	keys := []string{ref.Resource + "/" + ref.ID}
	if key := ObjectKey(c, ref); key != keys[0] {
		keys = append(keys, key)
	}
	if ref.Resource == "segments" {
		keys = append(keys, ancestors(c, ref.ID)...)
	}
	return keys
}

// ancestors follows compactions back as far as etcd still knows them.
func ancestors(c *model.Cluster, id string) []string {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	const most = 1000 // a circle, or records that nobody cleared away
	var keys []string
	queue := []model.SegmentID{model.SegmentID(n)}
	seen := map[model.SegmentID]bool{queue[0]: true}
	for len(queue) > 0 && len(seen) < most {
		s := c.Segment(queue[0])
		queue = queue[1:]
		if s == nil {
			continue
		}
		for _, from := range s.CompactedFrom {
			if !seen[from] {
				seen[from] = true
				queue = append(queue, from)
				keys = append(keys, "segments/"+from.String())
			}
		}
	}
	return keys
}
