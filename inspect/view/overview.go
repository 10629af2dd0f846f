package view

import (
	"slices"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// OverviewNeeds lists the parts of the metadata for an overview: all of them, because only then is the number
// of undecoded keys known. Values from parts that were not read are unknown.
const OverviewNeeds = model.PartAll

// Overview is a summary of a cluster. Its cells are of Kind Int unless a comment names another kind. A cell
// may be Unknown.
type Overview struct {
	Origin model.Origin
	// Age is the time from the moment of the state to the Env's now.
	Age     time.Duration
	Version model.Version
	// Roles holds the registered roles, coordinators first.
	Roles []RoleCount
	// Nodes holds the query nodes and streaming nodes with a session.
	Nodes []NodeLine

	Databases, Collections, Partitions, VChannels, PChannels, Aliases table.Cell
	// Indexes counts definitions that are not deleted. Unindexed counts collections without any.
	Indexes, Unindexed table.Cell
	// Rows, DeletedRows and Segments are totals of healthy segments. Bytes (Kind Bytes) is the size of their
	// logs. DeletedRows counts deletes, an upper bound of the deleted rows (model.Segment).
	Rows, DeletedRows, Segments, Bytes table.Cell
	// SealedRows counts rows of sealed segments, whether or not they need an index. Indexed (Kind Percent) is
	// the share with all indexes finished.
	SealedRows, Indexed table.Cell
	// States holds the states of segments, in the order of a segment's life. StatesUnknown is true if
	// segments were not read.
	States        []StateCount
	StatesUnknown bool
	// Load counts collections by load state. LoadUnknown is true if that was not read.
	Load        []StateCount
	LoadUnknown bool
	// RolesUnknown is true if Roles and Nodes were not read.
	RolesUnknown bool
	// OldestCheckpoint (Kind Duration) is the greatest checkpoint age over the channels of live collections.
	// OldestChannel is that channel.
	OldestCheckpoint table.Cell
	OldestChannel    string
	// Streaming is nil if there are no streaming nodes or they were not read. Cache is nil if no process has
	// metrics of tiered storage.
	Streaming *StreamingLine
	Cache     *CacheLine

	Etcd *model.Etcd
	// Keys is the number of keys that were read, Undecoded the number that could not be decoded.
	Keys, Undecoded, Tombstones table.Cell
	Gaps                        []model.Gap
}

// RoleCount counts the sessions of a role.
type RoleCount struct {
	Role                          string
	Registered, Stopping, Standby int
	// Asked is the number of queried sessions of the role, Answered the number of these that answered.
	Asked, Answered int
	// Versions holds the reported versions, sorted, without duplicates.
	Versions []string
}

// StateCount counts the objects in a state. Rows is None if the objects have no rows.
type StateCount struct {
	State string
	Count int64
	Rows  table.Cell
}

// NodeLive holds the data that a query node reports about itself. Cells are of Kind Int except CPU (Percent
// of one core) and Memory (Bytes). Each may be Unknown.
type NodeLive struct {
	// Answer is the outcome of the query, Reason the reason if it failed.
	Answer, Reason                                  string
	Sealed, SealedRows, Growing, GrowingRows, Leads table.Cell
	CPU, Memory                                     table.Cell
}

// NodeLine holds the data about one query node or streaming node, from metadata and from the node itself.
type NodeLine struct {
	Ref                  Ref
	Node                 model.NodeID
	Role, Address, State string
	Replicas             int
	ResourceGroups       []string
	Collections          []string
	// Live is nil if the processes were not queried.
	Live *NodeLive
}

// NewOverview returns the summary of a cluster.
func NewOverview(env *Env) *Overview {
	c := env.Cluster
	o := &Overview{
		Origin: c.Origin, Version: c.Version, Etcd: c.Etcd, Gaps: c.Gaps,
		Keys: count(c.Keys), Tombstones: cellIfRead(c, model.PartHistory, count(c.Tombstones)),
		// A key of config/ is plain text and always decodes. birdwatcher's backups do not contain these keys.
		Undecoded: cellIfRead(c, model.PartAll&^model.PartConfig, count(int64(len(c.Undecoded)))),
	}
	if c.Keys == 0 { // none were read, or there are none
		o.Keys = cellIfRead(c, model.PartObjects, o.Keys)
	}
	if !c.Origin.Taken.IsZero() {
		o.Age = max(0, env.Now.Sub(c.Origin.Taken))
	}
	o.countCatalog(env)
	o.countSegments(env)
	o.countRoles(env)
	o.countChannels(env)
	o.countStreaming(env)
	o.countCache(env)
	return o
}

func cellIfRead(c *model.Cluster, needs model.Part, cell table.Cell) table.Cell {
	if !c.Loaded.Has(needs) {
		return unknown()
	}
	return cell
}

func (o *Overview) countCatalog(env *Env) {
	c := env.Cluster
	var live, unindexed, partitionCount, indexCount int64
	load := map[string]int64{}
	for _, x := range c.Collections {
		if x.Dropped() {
			continue
		}
		live++
		load[loadState(env, x.ID)]++
		partitionCount += int64(len(livePartitions(env, x.ID)))
		n := int64(len(liveIndexes(env, x.ID)))
		indexCount += n
		if n == 0 {
			unindexed++
		}
	}
	part := func(n int64) table.Cell { return cellIfRead(c, model.PartObjects, count(n)) }
	index := func(n int64) table.Cell { return cellIfRead(c, model.PartObjects|model.PartIndexes, count(n)) }
	o.Databases = part(int64(len(databaseRows(env))))
	o.Collections, o.Partitions, o.Aliases = part(live), part(partitionCount), part(int64(len(c.Aliases)))
	o.Indexes, o.Unindexed = index(indexCount), index(unindexed)
	if o.LoadUnknown = !c.Loaded.Has(model.PartObjects | model.PartServing); o.LoadUnknown {
		return
	}
	for _, state := range []string{"Loaded", "Loading", "NotLoad"} {
		if load[state] > 0 {
			o.Load = append(o.Load, StateCount{State: state, Count: load[state], Rows: none()})
			delete(load, state)
		}
	}
	for _, state := range sortedKeys(load) {
		o.Load = append(o.Load, StateCount{State: state, Count: load[state], Rows: none()})
	}
}

func (o *Overview) countSegments(env *Env) {
	c, t := env.Cluster, env.Cluster.Totals()
	o.Rows = cellIfRead(c, model.PartSegments, count(t.Rows))
	o.Segments = cellIfRead(c, model.PartSegments, count(int64(t.Segments)))
	o.SealedRows = cellIfRead(c, model.PartSegments, count(t.SealedRows))
	o.DeletedRows = cellIfRead(c, model.PartSegments|model.PartLogs, count(t.DeletedRows))
	o.Bytes = cellIfRead(c, model.PartSegments|model.PartLogs, sizeOf(t))
	o.Indexed = cellIfRead(c, model.PartIndexes|model.PartSegments|model.PartSegmentIndexes,
		percent(t.IndexedRows, t.SealedRows))
	o.StatesUnknown = !c.Loaded.Has(model.PartSegments)
	for _, r := range stateRows(t) {
		o.States = append(o.States, StateCount{State: r.state, Count: r.segments, Rows: count(r.rows)})
	}
}

// roleOrder lists the roles for display, coordinators first.
var roleOrder = []string{
	"mixcoord", "rootcoord", "datacoord", "indexcoord", "querycoord", "proxy",
	"streamingnode", "datanode", "indexnode", "querynode",
}

func rankRole(role string) int {
	if i := slices.Index(roleOrder, role); i >= 0 {
		return i
	}
	return len(roleOrder)
}

func (o *Overview) countRoles(env *Env) {
	if o.RolesUnknown = !env.Cluster.Loaded.Has(model.PartSessions); o.RolesUnknown {
		return
	}
	byRole := map[string]*RoleCount{}
	for _, s := range env.Cluster.Sessions {
		r := byRole[s.Role]
		if r == nil {
			r = &RoleCount{Role: s.Role}
			byRole[s.Role] = r
		}
		switch s.State() {
		case "stopping":
			r.Stopping++
		case "standby":
			r.Standby++
		default:
			r.Registered++
		}
		if s.Version != "" {
			r.Versions = sortedUnique(append(r.Versions, s.Version))
		}
		if servesQueries(s) || s.Role == "streamingnode" {
			o.Nodes = append(o.Nodes, nodeLine(env, s))
		}
	}
	if r := env.Cluster.Runtime; r != nil {
		for _, n := range r.Nodes {
			if role := byRole[n.Role]; role != nil && n.Outcome != model.NotAsked {
				role.Asked++
				if n.Outcome == model.Answered {
					role.Answered++
				}
			}
		}
	}
	for _, role := range sortedKeys(byRole) {
		o.Roles = append(o.Roles, *byRole[role])
	}
	slices.SortStableFunc(o.Roles, func(a, b RoleCount) int { return rankRole(a.Role) - rankRole(b.Role) })
}

func nodeLine(env *Env, s *model.Session) NodeLine {
	n := NodeLine{
		Ref: Ref{Resource: nodes.Name, ID: s.Name(), Name: s.Name()}, Node: s.Node,
		Role: s.Role, Address: s.Address, State: s.State(), ResourceGroups: groupsOf(env, s.Node),
	}
	for _, r := range replicasOn(env, s.Node) {
		n.Replicas++
		name := env.Cluster.CollectionName(r.Collection)
		if name == "" {
			name = r.Collection.String()
		}
		n.Collections = append(n.Collections, name)
	}
	n.Collections = sortedUnique(n.Collections)
	if env.Cluster.Runtime != nil {
		n.Live = nodeLiveOf(env, s)
	}
	return n
}

func (o *Overview) countChannels(env *Env) {
	c := env.Cluster
	part := func(n int64) table.Cell { return cellIfRead(c, model.PartChannels, count(n)) }
	o.VChannels, o.PChannels = part(int64(len(c.VChannels))), part(int64(len(c.PChannels)))
	o.OldestCheckpoint = cellIfRead(c, model.PartChannels, none())
	if o.OldestCheckpoint.Absent == table.Unknown {
		return
	}
	for _, v := range c.VChannels {
		owner := c.Collection(v.Collection)
		if owner == nil || owner.Dropped() { // leftovers of dropped collections never move
			continue
		}
		a := age(env, v.Checkpoint.At.Time())
		if a.Absent == table.Present && (o.OldestCheckpoint.Absent != table.Present || a.Int > o.OldestCheckpoint.Int) {
			o.OldestCheckpoint, o.OldestChannel = a, v.Name
		}
	}
}
