package model

import (
	"cmp"
	"slices"
)

// Build sorts and links parts. It takes ownership of the slices, not of what they
// point to: clusters of successive refreshes share unchanged objects.
func Build(p Parts) *Cluster {
	c := &Cluster{Parts: p}
	c.sort()
	c.databases = byKey(c.Databases, func(d *Database) DatabaseID { return d.ID })
	c.collections = byKey(c.Collections, func(x *Collection) CollectionID { return x.ID })
	c.partitions = byKey(c.Partitions, func(x *Partition) PartitionID { return x.ID })
	c.indexes = byKey(c.Indexes, func(x *Index) IndexID { return x.ID })
	c.vchannels = byKey(c.VChannels, func(x *VChannel) string { return x.Name })
	c.pchannels = byKey(c.PChannels, func(x *PChannel) string { return x.Name })
	c.loadStates = byKey(c.LoadStates, func(x *LoadState) CollectionID { return x.Collection })
	c.sessions = groupBy(c.Sessions, func(x *Session) NodeID { return x.Node })
	c.partitionsOf = groupBy(c.Partitions, func(x *Partition) CollectionID { return x.Collection })
	c.segmentsOf = groupBy(c.Segments, func(x *Segment) CollectionID { return x.Collection })
	c.vchannelsOf = groupBy(c.VChannels, func(x *VChannel) CollectionID { return x.Collection })
	c.indexesOf = groupBy(c.Indexes, func(x *Index) CollectionID { return x.Collection })
	c.aliasesOf = groupBy(c.Aliases, func(x *Alias) CollectionID { return x.Collection })
	c.replicasOf = groupBy(c.Replicas, func(x *Replica) CollectionID { return x.Collection })
	c.addUp()
	return c
}

func (c *Cluster) sort() {
	slices.SortFunc(c.Databases, func(a, b *Database) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Collections, func(a, b *Collection) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Partitions, func(a, b *Partition) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.Aliases, func(a, b *Alias) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(c.VChannels, func(a, b *VChannel) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.PChannels, func(a, b *PChannel) int { return cmp.Compare(a.Name, b.Name) })
	if !slices.IsSortedFunc(c.Segments, bySegmentID) { // a refresh hands them over sorted
		slices.SortFunc(c.Segments, bySegmentID)
	}
	slices.SortFunc(c.Indexes, func(a, b *Index) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.LoadStates, func(a, b *LoadState) int { return cmp.Compare(a.Collection, b.Collection) })
	slices.SortFunc(c.Replicas, func(a, b *Replica) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(c.ResourceGroups, func(a, b *ResourceGroup) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Sessions, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(c.Users, func(a, b *User) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Roles, func(a, b *Role) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Grants, func(a, b *Grant) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.ObjectType, b.ObjectType), cmp.Compare(a.Database, b.Database),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Privilege, b.Privilege))
	})
	slices.SortFunc(c.PrivilegeGroups, func(a, b *PrivilegeGroup) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Config, func(a, b *ConfigEntry) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Tasks, func(a, b *Task) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	slices.SortFunc(c.Undecoded, func(a, b *Undecoded) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Reason, b.Reason))
	})
}

func bySegmentID(a, b *Segment) int { return cmp.Compare(a.ID, b.ID) }

// addUp computes the totals of everything that holds segments.
func (c *Cluster) addUp() {
	c.totalsOfCollection = make(map[CollectionID]*Totals, len(c.Collections))
	c.totalsOfPartition = make(map[PartitionID]*Totals, len(c.Partitions))
	c.totalsOfVChannel = make(map[string]*Totals, len(c.VChannels))
	for id, segments := range c.segmentsOf {
		t := new(Totals)
		for _, s := range segments {
			state := c.IndexState(s)
			t.Add(s, state)
			entry(c.totalsOfPartition, s.Partition).Add(s, state)
			entry(c.totalsOfVChannel, s.VChannel).Add(s, state)
			c.totals.Add(s, state)
		}
		c.totalsOfCollection[id] = t
	}
}

func entry[K comparable](m map[K]*Totals, k K) *Totals {
	t := m[k]
	if t == nil {
		t = new(Totals)
		m[k] = t
	}
	return t
}

func byKey[K comparable, T any](list []*T, key func(*T) K) map[K]*T {
	m := make(map[K]*T, len(list))
	for _, x := range list {
		m[key(x)] = x
	}
	return m
}

func groupBy[K comparable, T any](list []*T, key func(*T) K) map[K][]*T {
	m := make(map[K][]*T)
	for _, x := range list {
		k := key(x)
		m[k] = append(m[k], x)
	}
	return m
}
