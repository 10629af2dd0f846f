package model

import (
	"reflect"
	"slices"
)

// asking is what is known of when the processes were asked: the metadata moves on while their answers stay those of
// the last asking.
type asking struct {
	// cluster is the metadata of when they were asked, with their answers; nil if that is the Cluster itself.
	cluster *Cluster
	// unsettled are the collections that changed until they had answered, by id.
	unsettled []CollectionID
}

// WithAnswers is the same cluster with what its processes said, who were asked by earlier metadata. What is not the same
// in both is Unsettled.
func (c *Cluster) WithAnswers(r *Runtime, before *Cluster) *Cluster {
	next := c.WithRuntime(r)
	unsettled := changedCollections(before, c)
	at := before.WithRuntime(r)
	at.asking = &asking{unsettled: unsettled}
	next.asking = &asking{at, unsettled}
	return next
}

// WithAnswersOf is the same cluster with the answers that an earlier one has: nobody was asked since.
func (c *Cluster) WithAnswersOf(earlier *Cluster) *Cluster {
	next := c.WithRuntime(earlier.Runtime)
	next.asking = earlier.asking
	return next
}

// ReadAgain is the same cluster, of which a later reading, that need not have segments, was made after its processes had
// answered. What is not the same in both is Unsettled.
func (c *Cluster) ReadAgain(later *Cluster) *Cluster {
	next := *c
	next.asking = &asking{unsettled: changedCollections(c, later)}
	return &next
}

// AsAsked is the cluster of which metadata and answers are of one time: its metadata is that of when the processes were
// asked. Whoever compares one with the other compares these. It is c itself where no other time is known, as in a file.
func (c *Cluster) AsAsked() *Cluster {
	if c.asking == nil || c.asking.cluster == nil {
		return c
	}
	at := *c.asking.cluster
	if revision := c.Origin.Revision; revision != 0 && revision == at.Origin.Revision {
		return c
	}
	at.Etcd, at.Profiles, at.Storage, at.ConfigChanges, at.Starts = c.Etcd, c.Profiles, c.Storage, c.ConfigChanges, c.Starts // these have a time of their own
	return &at
}

// Unsettled are the collections that came, went, or were loaded, released or altered while the processes were asked, by id: of
// them, answers and metadata may be of different times.
func (c *Cluster) Unsettled() []CollectionID {
	if c.asking == nil {
		return nil
	}
	return c.asking.unsettled
}

// changedCollections are the collections of which two readings do not say the same. Their segments and checkpoints do not count:
// those have times of their own.
func changedCollections(before, after *Cluster) []CollectionID {
	var changed []CollectionID
	ids := make(map[CollectionID]bool, len(before.Collections))
	for _, c := range []*Cluster{before, after} {
		for id := range c.catalogued() {
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

// catalogued yields all collections that metadata has anything of, but for segments.
func (c *Cluster) catalogued() func(func(CollectionID) bool) {
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

// sameObject compares two objects; of clusters that follow one another most are one.
func sameObject[T any](a, b *T) bool { return a == b || reflect.DeepEqual(a, b) }
