package history

import (
	"kitescope/inspect/diff"
	"kitescope/inspect/model"
)

// creatingState is the state of objects that RootCoord has written but not finished creating.
const creatingState = "Creating"

func collectionChanged(c *change) bool {
	before, _ := c.before.(*model.Collection)
	after, _ := c.after.(*model.Collection)
	if after == nil {
		delete(c.creating, before.ID)
		delete(c.live, before.ID)
		if before.Dropped() {
			return false // reported when it was marked
		}
		return c.emitObject(collectionDropped)
	}
	c.entries.name(model.Ref{Resource: collections, ID: after.ID.String(), Name: after.Name})
	if after.State == creatingState {
		c.creating[after.ID] = true
		return false
	}
	created := before == nil || before.State == creatingState
	if created && after.State != "Dropping" {
		c.created = append(c.created, after.ID)
		return c.emitObject(collectionCreated)
	}
	if after.Dropped() {
		delete(c.live, after.ID)
	}
	if after.Dropped() && (before == nil || !before.Dropped()) {
		n := occurrence{kind: collectionDropped, after: string(after.State)}
		n.object, n.collection, _ = diff.Describe(after)
		if before != nil {
			n.before = string(before.State)
		}
		return c.emit(n)
	}
	return before != nil && c.emitAltered(collectionAltered)
}

func partitionChanged(c *change) bool {
	before, _ := c.before.(*model.Partition)
	after, _ := c.after.(*model.Partition)
	if after != nil {
		c.partitions[after.ID] = after.Name
	}
	switch {
	case after == nil:
		return !before.State.Dropped() && c.emitObject(partitionDropped)
	case after.State == creatingState:
		return false
	case after.State.Dropped():
		return (before == nil || !before.State.Dropped()) && c.emitObject(partitionDropped)
	case before == nil || before.State == creatingState:
		return c.emitObject(partitionCreated)
	}
	return c.emitAltered(partitionAltered)
}

// fieldChanged reports fields that are added to a collection or removed. Fields of a new collection are part of
// its creation.
func fieldChanged(c *change) bool {
	field, ok := c.object().(*model.Field)
	return ok && c.schemaChanged(field.Collection, "field "+field.Name)
}

func functionChanged(c *change) bool {
	f, ok := c.object().(*model.Function)
	return ok && c.schemaChanged(c.collection, "function "+f.Name)
}

// schemaChanged defers the event to the end of the revision, which may also create or drop the collection.
func (c *change) schemaChanged(id model.CollectionID, what string) bool {
	if c.beginning || id == 0 {
		return false
	}
	n := occurrence{kind: collectionAltered, collection: id, object: c.entries.collection(id)}
	switch {
	case c.before == nil:
		n.after = what
	case c.after == nil:
		n.before = what
	default:
		if n.before, n.after = fieldsText(c.before, c.after); n.before == n.after {
			return false
		}
		n.detail = what
	}
	c.schema = append(c.schema, n)
	return true
}

// fieldsText formats the fields that differ between two states of an object.
func fieldsText(before, after any) (from, to string) {
	for i, f := range diff.Fields(before, after) {
		if i > 0 {
			from, to = from+" ", to+" "
		}
		from, to = from+f.Field+"="+f.From, to+f.Field+"="+f.To
	}
	return from, to
}

// endSchemas reports schema changes of collections that existed before the revision and still exist.
func (r *Reader) endSchemas() {
	for _, n := range r.schema {
		if !r.creating[n.collection] && r.live[n.collection] {
			r.emit(n)
		}
	}
	r.schema = r.schema[:0]
	for _, id := range r.created {
		delete(r.creating, id)
		r.live[id] = true
	}
	r.created = r.created[:0]
}

func indexChanged(c *change) bool {
	before, _ := c.before.(*model.Index)
	after, _ := c.after.(*model.Index)
	if after == nil {
		return !before.Deleted && c.emitObject(indexDropped)
	}
	c.indexes[after.ID] = after.Name
	switch {
	case before == nil:
		return !after.Deleted && c.emitObject(indexCreated)
	case after.Deleted && !before.Deleted:
		return c.emitObject(indexDropped)
	}
	return c.emitAltered(indexAltered)
}
