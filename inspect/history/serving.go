package history

import (
	"kitescope/inspect/diff"
	"kitescope/inspect/model"
)

const loaded = "Loaded"

// loadChanged reports changes of the load state that QueryCoord should reach.
func loadChanged(c *change) bool {
	before, _ := c.before.(*model.LoadState)
	after, _ := c.after.(*model.LoadState)
	collection := c.object().(*model.LoadState).Collection
	n := occurrence{collection: collection, object: c.entries.collection(collection)}
	switch {
	case after == nil:
		n.kind, n.before = collectionReleased, before.Status
	case before == nil:
		_, _, n.detail = diff.Describe(after)
		n.kind, n.after = collectionLoading, after.Status
		if after.Status == loaded {
			n.kind = collectionLoaded
		}
	case before.Status != after.Status:
		n.kind, n.before, n.after = collectionLoading, before.Status, after.Status
		if after.Status == loaded {
			n.kind = collectionLoaded
		}
	default:
		n.kind = collectionLoading
		if n.before, n.after = fieldsText(before, after); n.before == n.after {
			return false
		}
	}
	return c.emit(n)
}

// partitionLoadChanged reports loaded and released partitions. A partition that is released with its collection has
// an event of its own.
func partitionLoadChanged(c *change) bool {
	before, after := partitionLoad(c.before), partitionLoad(c.after)
	n := occurrence{before: before.Status, after: after.Status}
	id := after.Partition
	if c.after == nil {
		id = before.Partition
	}
	n.object = model.Ref{Resource: "partitions", ID: id.String(), Name: c.partitions[id]}
	switch {
	case c.after == nil:
		n.kind, n.collection = partitionReleased, c.before.(*model.LoadState).Collection
	case before.Status != loaded && after.Status == loaded:
		n.kind, n.collection = partitionLoaded, c.after.(*model.LoadState).Collection
	default:
		return false
	}
	return c.emit(n)
}

func partitionLoad(x any) model.PartitionLoad {
	if l, ok := x.(*model.LoadState); ok && len(l.Partitions) > 0 {
		return l.Partitions[0]
	}
	return model.PartitionLoad{}
}
