package model

import (
	"cmp"
	"slices"
)

// Build sorts and links parts. It takes ownership of the slices, but not of the objects, which clusters of
// successive refreshes share if unchanged. Slices that are already sorted may be shared, too.
func Build(p Parts) *Cluster {
	c := &Cluster{Parts: p, cache: &derivedCache{}}
	order(c.Segments, bySegmentID)
	c.sort()
	c.linkCatalog()
	c.segmentsOf = groupSegments(c.Segments)
	c.addUp()
	return c
}

// linkCatalog builds the indexes of everything but segments.
func (c *Cluster) linkCatalog() {
	c.databases = byKey(c.Databases, func(d *Database) DatabaseID { return d.ID })
	c.collections = byKey(c.Collections, func(x *Collection) CollectionID { return x.ID })
	c.partitions = byKey(c.Partitions, func(x *Partition) PartitionID { return x.ID })
	c.indexes = byKey(c.Indexes, func(x *Index) IndexID { return x.ID })
	c.vchannels = byKey(c.VChannels, func(x *VChannel) string { return x.Name })
	c.pchannels = byKey(c.PChannels, func(x *PChannel) string { return x.Name })
	c.loadStates = byKey(c.LoadStates, func(x *LoadState) CollectionID { return x.Collection })
	c.sessions = groupBy(c.Sessions, func(x *Session) NodeID { return x.Node })
	c.partitionsOf = groupBy(c.Partitions, func(x *Partition) CollectionID { return x.Collection })
	c.vchannelsOf = groupBy(c.VChannels, func(x *VChannel) CollectionID { return x.Collection })
	c.indexesOf = groupBy(c.Indexes, func(x *Index) CollectionID { return x.Collection })
	c.aliasesOf = groupBy(c.Aliases, func(x *Alias) CollectionID { return x.Collection })
	c.replicasOf = groupBy(c.Replicas, func(x *Replica) CollectionID { return x.Collection })
}

// sort sorts every list except Segments. A list that is already sorted is only read, because successive
// clusters share it.
func (c *Cluster) sort() {
	order(c.Databases, func(a, b *Database) int { return cmp.Compare(a.ID, b.ID) })
	order(c.Collections, func(a, b *Collection) int { return cmp.Compare(a.ID, b.ID) })
	order(c.Partitions, func(a, b *Partition) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.ID, b.ID))
	})
	order(c.Aliases, func(a, b *Alias) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Name, b.Name))
	})
	order(c.VChannels, func(a, b *VChannel) int { return cmp.Compare(a.Name, b.Name) })
	order(c.PChannels, func(a, b *PChannel) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Orphans, bySegmentID)
	order(c.Indexes, func(a, b *Index) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Key, b.Key)) })
	sortServing(c)
	sortAccess(c)
	order(c.Tasks, func(a, b *Task) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Key, b.Key))
	})
	order(c.PartitionStats, func(a, b *PartitionStats) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Partition, b.Partition),
			cmp.Compare(a.VChannel, b.VChannel), cmp.Compare(a.Version, b.Version))
	})
	order(c.Snapshots, func(a, b *Snapshot) int { return cmp.Compare(a.ID, b.ID) })
	order(c.History, func(a, b *HistoryEntry) int { return cmp.Compare(a.Key, b.Key) })
	order(c.Allocators, func(a, b *Allocator) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Undecoded, func(a, b *Undecoded) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Reason, b.Reason))
	})
}

func sortServing(c *Cluster) {
	order(c.LoadStates, func(a, b *LoadState) int { return cmp.Compare(a.Collection, b.Collection) })
	order(c.Targets, func(a, b *Target) int { return cmp.Compare(a.Collection, b.Collection) })
	order(c.Replicas, func(a, b *Replica) int {
		return cmp.Or(cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.ID, b.ID))
	})
	order(c.ResourceGroups, func(a, b *ResourceGroup) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Sessions, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Key, b.Key))
	})
}

func sortAccess(c *Cluster) {
	order(c.Users, func(a, b *User) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Roles, func(a, b *Role) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Grants, func(a, b *Grant) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.ObjectType, b.ObjectType),
			cmp.Compare(a.Database, b.Database),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Privilege, b.Privilege), cmp.Compare(a.Grantor, b.Grantor))
	})
	order(c.PrivilegeGroups, func(a, b *PrivilegeGroup) int { return cmp.Compare(a.Name, b.Name) })
	order(c.Config, func(a, b *ConfigEntry) int { return cmp.Compare(a.Name, b.Name) })
}

func order[T any](list []*T, compare func(a, b *T) int) {
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

func bySegmentID(a, b *Segment) int { return cmp.Compare(a.ID, b.ID) }

// addUp computes the totals of collections, partitions, vchannels and the cluster.
func (c *Cluster) addUp() {
	c.totalsOfCollection = make(map[CollectionID]*Totals, len(c.Collections))
	c.totalsOfPartition = make(map[PartitionID]*Totals, len(c.Partitions))
	c.totalsOfVChannel = make(map[string]*Totals, len(c.VChannels))
	var partition, vchannel *Totals
	var partitionID PartitionID
	var vchannelName string
	for id, segments := range c.segmentsOf {
		t := new(Totals)
		for _, s := range segments {
			state := c.IndexState(s)
			t.Add(s, state)
			if partition == nil || s.Partition != partitionID {
				partition, partitionID = entry(c.totalsOfPartition, s.Partition), s.Partition
			}
			if vchannel == nil || s.VChannel != vchannelName {
				vchannel, vchannelName = entry(c.totalsOfVChannel, s.VChannel), s.VChannel
			}
			partition.Add(s, state)
			vchannel.Add(s, state)
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

// groupSegments groups segments by collection in a single array. It makes two passes to avoid growing slices,
// which matters with a million segments.
func groupSegments(list []*Segment) map[CollectionID][]*Segment {
	counts := make(map[CollectionID]int)
	for _, s := range list {
		counts[s.Collection]++
	}
	backing := make([]*Segment, len(list))
	groups := make(map[CollectionID][]*Segment, len(counts))
	next := 0
	for id, n := range counts {
		groups[id] = backing[next : next : next+n]
		next += n
	}
	for _, s := range list {
		groups[s.Collection] = append(groups[s.Collection], s)
	}
	return groups
}

func groupBy[K comparable, T any](list []*T, key func(*T) K) map[K][]*T {
	m := make(map[K][]*T)
	for _, x := range list {
		k := key(x)
		m[k] = append(m[k], x)
	}
	return m
}

// WithGaps returns a copy of the cluster with further gaps.
func (c *Cluster) WithGaps(more ...Gap) *Cluster {
	if len(more) == 0 {
		return c
	}
	next := *c
	next.Gaps = slices.Concat(c.Gaps, more)
	return &next
}

// WithConfigChanges returns a copy of the cluster with recent changes of its dynamic configuration.
func (c *Cluster) WithConfigChanges(changes []ConfigChange) *Cluster {
	next := *c
	next.ConfigChanges = changes
	return &next
}

// WithRecent returns a copy of the cluster with other recent activity.
func (c *Cluster) WithRecent(a *EtcdActivity) *Cluster {
	next := *c
	next.Recent = a
	return &next
}

// WithEtcd returns a copy of the cluster with another state of etcd.
func (c *Cluster) WithEtcd(e *Etcd) *Cluster {
	next := *c
	next.Etcd = e
	return &next
}
