package model

import (
	"cmp"
	"maps"
	"slices"
)

// Database returns a database by id, nil if there is none.
func (c *Cluster) Database(id DatabaseID) *Database { return c.databases[id] }

// DatabaseName returns the database's name, "default" for ids 0 and 1, which need no record, or else the id.
func (c *Cluster) DatabaseName(id DatabaseID) string {
	if d := c.databases[id]; d != nil {
		return d.Name
	}
	if id == 0 || id == 1 {
		return "default"
	}
	return id.String()
}

// Collection returns a collection by id, nil if there is none.
func (c *Cluster) Collection(id CollectionID) *Collection { return c.collections[id] }

// CollectionName returns the collection's name, "" if it does not exist.
func (c *Cluster) CollectionName(id CollectionID) string {
	if x := c.collections[id]; x != nil {
		return x.Name
	}
	return ""
}

// Partition returns a partition by id, nil if there is none.
func (c *Cluster) Partition(id PartitionID) *Partition { return c.partitions[id] }

// PartitionName returns the partition's name, "*" for id -1, or "" if it does not exist.
func (c *Cluster) PartitionName(id PartitionID) string {
	if x := c.partitions[id]; x != nil {
		return x.Name
	}
	if id == -1 {
		return "*"
	}
	return ""
}

// Segment returns a segment by id, nil if there is none.
func (c *Cluster) Segment(id SegmentID) *Segment {
	i, ok := slices.BinarySearchFunc(c.Segments, id,
		func(s *Segment, id SegmentID) int { return cmp.Compare(s.ID, id) })
	if !ok {
		return nil
	}
	return c.Segments[i]
}

// Index returns an index definition by id, nil if there is none.
func (c *Cluster) Index(id IndexID) *Index { return c.indexes[id] }

// VChannel returns a vchannel by name, nil if there is none.
func (c *Cluster) VChannel(name string) *VChannel { return c.vchannels[name] }

// DroppedChannel reports whether the collection id in a vchannel's name is of a dropped collection. It returns
// false if the collections were not read.
func (c *Cluster) DroppedChannel(name string) bool {
	if !c.Loaded.Has(PartObjects) {
		return false
	}
	_, id := SplitVChannel(name)
	x := c.Collection(id)
	return id != 0 && (x == nil || x.Dropped())
}

// PChannel returns a pchannel by name, nil if there is none.
func (c *Cluster) PChannel(name string) *PChannel { return c.pchannels[name] }

// WatcherRole returns the role of the node that consumes a vchannel: "streamingnode" if that node has the
// pchannel (2.6), else "datanode".
func (c *Cluster) WatcherRole(v *VChannel) string {
	if p := c.PChannel(v.PChannel); p != nil && p.Streaming && p.Node == v.Watcher {
		return "streamingnode"
	}
	return "datanode"
}

// LoadState returns a collection's load state, nil if it should not be loaded.
func (c *Cluster) LoadState(id CollectionID) *LoadState { return c.loadStates[id] }

// SessionsOf returns the sessions with a node id. There are several in a standalone process, or if roles number
// their nodes independently.
func (c *Cluster) SessionsOf(id NodeID) []*Session { return c.sessions[id] }

// SessionIn returns the session with a node id and one of the roles, nil if there is none.
func (c *Cluster) SessionIn(id NodeID, roles ...string) *Session {
	for _, s := range c.sessions[id] {
		if slices.Contains(roles, s.Role) {
			return s
		}
	}
	return nil
}

// PartitionsOf returns a collection's partitions, by id.
func (c *Cluster) PartitionsOf(id CollectionID) []*Partition { return c.partitionsOf[id] }

// SegmentsOf returns a collection's segments in every state, by id.
func (c *Cluster) SegmentsOf(id CollectionID) []*Segment { return c.segmentsOf[id] }

// SegmentOwners returns the collections that have segments, including those without a record, by id.
func (c *Cluster) SegmentOwners() []CollectionID { return slices.Sorted(maps.Keys(c.segmentsOf)) }

// VChannelsOf returns a collection's vchannels, by name.
func (c *Cluster) VChannelsOf(id CollectionID) []*VChannel { return c.vchannelsOf[id] }

// IndexesOf returns a collection's index definitions, including deleted ones, by id.
func (c *Cluster) IndexesOf(id CollectionID) []*Index { return c.indexesOf[id] }

// AliasesOf returns a collection's aliases, by name.
func (c *Cluster) AliasesOf(id CollectionID) []*Alias { return c.aliasesOf[id] }

// ReplicasOf returns a collection's replicas, by id.
func (c *Cluster) ReplicasOf(id CollectionID) []*Replica { return c.replicasOf[id] }

// Totals returns the totals of all segments.
func (c *Cluster) Totals() Totals { return c.totals }

// CollectionTotals returns the totals of a collection's segments.
func (c *Cluster) CollectionTotals(id CollectionID) Totals { return deref(c.totalsOfCollection[id]) }

// PartitionTotals returns the totals of a partition's segments.
func (c *Cluster) PartitionTotals(id PartitionID) Totals { return deref(c.totalsOfPartition[id]) }

// VChannelTotals returns the totals of a vchannel's segments.
func (c *Cluster) VChannelTotals(name string) Totals { return deref(c.totalsOfVChannel[name]) }

func deref(t *Totals) Totals {
	if t == nil {
		return Totals{}
	}
	return *t
}

// Field returns a field of the collection by id, nil if there is none.
func (c *Collection) Field(id FieldID) *Field {
	for _, f := range c.Fields {
		if f.ID == id {
			return f
		}
	}
	return nil
}

// IndexState returns the worst state of a segment over all live index definitions of its collection. It is
// IndexNotNeeded if the segment gets no indexes (see WantsIndex), and IndexUnknown if index records were not
// read.
func (c *Cluster) IndexState(s *Segment) IndexState {
	if !c.Loaded.Has(PartSegmentIndexes) {
		return IndexUnknown
	}
	if !c.WantsIndex(s) {
		return IndexNotNeeded
	}
	worst := IndexNotNeeded
	for _, x := range c.indexesOf[s.Collection] {
		if x.Deleted {
			continue
		}
		state := IndexMissing
		for i := range s.Indexes {
			if s.Indexes[i].Index == x.ID && !s.Indexes[i].Deleted {
				state = s.Indexes[i].State
			}
		}
		if indexSeverity(state) > indexSeverity(worst) {
			worst = state
		}
	}
	return worst
}

// WantsIndex reports whether a segment gets the indexes of its collection. It does if it is flushed or flushing
// and not L0, as in DataCoord's index service.
func (c *Cluster) WantsIndex(s *Segment) bool {
	return (s.State == SegmentFlushed || s.State == SegmentFlushing) && s.Level != LevelL0 && !s.Fake
}

// indexSeverity orders states by severity, from 0 (no index needed) to 6.
func indexSeverity(s IndexState) int {
	switch s {
	case IndexNotNeeded:
		return 0
	case IndexFinished:
		return 1
	case IndexInProgress:
		return 2
	case IndexUnissued, IndexStateNone:
		return 3
	case IndexRetry:
		return 4
	case IndexMissing:
		return 5
	default:
		return 6 // Failed, and states added by newer releases
	}
}
