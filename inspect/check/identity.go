package check

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// WholeCluster is the object of findings about the whole cluster.
const WholeCluster = "cluster"

// ObjectKey returns the name of an object in a baseline: "collections/default/docs". It uses the name that
// stays the same where ids change (see stableName), otherwise the id.
func ObjectKey(c *model.Cluster, ref model.Ref) string {
	if ref.Resource == "" {
		return WholeCluster
	}
	if name := stableName(c, ref); name != "" {
		return ref.Resource + "/" + name
	}
	return ref.Resource + "/" + ref.ID
}

// stableName returns a name of an object that stays the same across restarts, reloads and rebuilds, when ids
// change: each start of a process gets a new server id, each load a new replica id. It returns "" if the id
// is just as stable.
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

// collectionName returns the name with the database, "default/docs", or "" if the collection is gone.
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

// addressOf returns the role and address of a session: "querynode@10.2.0.7:21123" for "querynode-19". It
// returns "" if there is none.
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

// identities returns the keys that an object may have in another state of its cluster, most reliable first:
// by id, by the stable name and, for a segment, by the segments that it was compacted from.
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

// ancestors returns the segments that a segment was compacted from, directly or indirectly, as far as etcd
// has them.
func ancestors(c *model.Cluster, id string) []string {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	const most = 1000 // limit in case of a cycle or of records that were never removed
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
