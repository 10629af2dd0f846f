package model

import (
	"reflect"
	"slices"
)

// queryState relates the metadata to the time at which the processes were queried. Metadata are updated later, but
// the responses are those of the last query.
type queryState struct {
	// cluster is the metadata at the time of the query, with the responses; nil if that is the Cluster itself.
	cluster *Cluster
	// changed are the collections that changed before the last response, by id.
	changed []CollectionID
}

// WithAnswers returns a copy of the cluster with the responses of processes that were queried based on the
// metadata of before. Collections that differ between the two are in ChangedDuringQuery.
func (c *Cluster) WithAnswers(r *Runtime, before *Cluster) *Cluster {
	next := c.WithRuntime(r)
	unsettled := changedCollections(before, c)
	at := before.WithRuntime(r)
	at.queryState = &queryState{changed: unsettled}
	next.queryState = &queryState{at, unsettled}
	return next
}

// WithAnswersOf returns a copy of the cluster with the responses in an earlier one, because processes were not
// queried since.
func (c *Cluster) WithAnswersOf(earlier *Cluster) *Cluster {
	next := c.WithRuntime(earlier.Runtime)
	next.queryState = earlier.queryState
	return next
}

// WithReread returns a copy of the cluster that is compared with later, a reading made after the processes had
// responded. later need not have segments. Collections that differ between the two are in ChangedDuringQuery.
func (c *Cluster) WithReread(later *Cluster) *Cluster {
	next := *c
	next.queryState = &queryState{changed: changedCollections(c, later)}
	return &next
}

// AtQuery returns a cluster whose metadata are of the time at which the processes were queried. Use it to
// compare metadata with responses. It is c itself if the revision is the same or no other time is known, as in
// a file.
func (c *Cluster) AtQuery() *Cluster {
	if c.queryState == nil || c.queryState.cluster == nil {
		return c
	}
	at := *c.queryState.cluster
	if revision := c.Origin.Revision; revision != 0 && revision == at.Origin.Revision {
		return c
	}
	// These have times of their own.
	at.Etcd, at.Profiles, at.Storage, at.ConfigChanges, at.Starts = c.Etcd, c.Profiles, c.Storage, c.ConfigChanges,
		c.Starts
	return &at
}

// ChangedDuringQuery returns the collections that were created, dropped, loaded, released or altered while the
// processes were queried, by id. Their responses and metadata may be of different times.
func (c *Cluster) ChangedDuringQuery() []CollectionID {
	if c.queryState == nil {
		return nil
	}
	return c.queryState.changed
}

// changedCollections returns the collections that differ between two readings, by id. Segments and checkpoints
// are not compared, because they change at other times.
func changedCollections(before, after *Cluster) []CollectionID {
	var changed []CollectionID
	ids := make(map[CollectionID]bool, len(before.Collections))
	for _, c := range []*Cluster{before, after} {
		for id := range c.collectionIDs() {
			ids[id] = true
		}
	}
	for id := range ids {
		if !sameCollection(before, after, id) {
			changed = append(changed, id)
		}
	}
	slices.Sort(changed)
	return changed
}

// collectionIDs yields every collection with a record, load state or replica. Ids may repeat.
func (c *Cluster) collectionIDs() func(func(CollectionID) bool) {
	return func(yield func(CollectionID) bool) {
		for _, x := range c.Collections {
			if !yield(x.ID) {
				return
			}
		}
		for _, l := range c.LoadStates {
			if !yield(l.Collection) {
				return
			}
		}
		for _, r := range c.Replicas {
			if !yield(r.Collection) {
				return
			}
		}
	}
}

func sameCollection(a, b *Cluster, id CollectionID) bool {
	return sameObject(a.Collection(id), b.Collection(id)) && sameObject(a.LoadState(id), b.LoadState(id)) &&
		slices.EqualFunc(a.PartitionsOf(id), b.PartitionsOf(id), sameObject) &&
		slices.EqualFunc(a.ReplicasOf(id), b.ReplicasOf(id), sameObject)
}

// sameObject reports whether two objects are equal. Successive clusters share most objects.
func sameObject[T any](a, b *T) bool { return a == b || reflect.DeepEqual(a, b) }
