package view

import (
	"slices"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

var vchannels = define(definition[*model.VChannel]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "vchannels",
			Slashes:    true,
			Names:      []string{"name"},
			Shorthands: collectionShorthands("vchannel", "name", "ch", "name", "node", "watcher"),
		},
		Aliases: []string{"vch", "channel", "channels"},
		Kind:    "VChannel",
		Doc:     "Virtual channels: the shards of collections, with their checkpoints and consumers.",
		Needs:   model.PartObjects | model.PartChannels,
	},
	rows: func(e *Env) []*model.VChannel {
		return naturalOrder(e.Cluster.VChannels, func(v *model.VChannel) string { return v.Name })
	},
	columns: concat(
		[]column[*model.VChannel]{
			col(table.Column{Name: "name", Doc: "Name of the virtual channel."},
				func(_ *Env, v *model.VChannel) table.Cell { return text(v.Name) }),
			col(table.Column{
				Name: "pchannel", Show: table.Wide, Priority: 4,
				Doc: "Physical channel: the topic of the message queue.",
			},
				func(_ *Env, v *model.VChannel) table.Cell { return text(v.PChannel) }),
		},
		collectionColumns(func(v *model.VChannel) model.CollectionID { return v.Collection }),
		vchannelState, vchannelContent, vchannelLive,
	),
	ref:   func(_ *Env, v *model.VChannel) Ref { return Ref{ID: v.Name, Name: v.Name} },
	owner: func(e *Env, v *model.VChannel) (Ref, bool) { return collectionRef(e, v.Collection) },
	links: func(_ *Env, v *model.VChannel) []Link {
		return []Link{
			link("segments", "segments", "vchannel="+v.Name), link("pchannel", "pchannels", "name="+v.PChannel),
			link("watcher", "nodes", "id="+v.Watcher.String()),
		}
	},
	sections: func(s *scope, v *model.VChannel) []Section {
		return []Section{
			sectionOf(s, "segments by state", segmentStates, stateRows(s.Cluster.VChannelTotals(v.Name))),
			section(s, "watcher", "nodes", watchersOf(s.Env, v), "id", "role", "address", "version", "state",
				"replicas", "resource_groups", "channels"),
		}
	},
})

// naturalOrder returns a copy of list in the natural order of names (dml_2 before dml_10). A Cluster keeps
// channels in byte order for binary search.
func naturalOrder[T any](list []T, name func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return words.CompareNatural(name(a), name(b)) })
	return list
}

var vchannelState = []column[*model.VChannel]{
	col(table.Column{
		Name: "shard", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Position in the collection's list of channels, none if the collection does not list it.",
	},
		func(_ *Env, v *model.VChannel) table.Cell {
			if v.Shard < 0 {
				return none()
			}
			return count(int64(v.Shard))
		}),
	col(table.Column{
		Name: "checkpoint_at", Title: "CHECKPOINT", Kind: table.Time, Show: table.Wide, Priority: 3,
		Doc: "Time up to which all messages are in storage, none if no checkpoint is recorded.",
	},
		func(_ *Env, v *model.VChannel) table.Cell { return tso(v.Checkpoint.At) }),
	col(table.Column{Name: "checkpoint_age_seconds", Kind: table.Duration, Doc: "Time since checkpoint_at."},
		func(e *Env, v *model.VChannel) table.Cell { return age(e, v.Checkpoint.At.Time()) }),
	col(table.Column{
		Name: "watcher", Kind: table.NamedID, Priority: 1,
		Doc: "The node that consumes it: a data node, on 2.6 a streaming node.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			if !v.Watched || v.Watcher == model.UnassignedNode {
				return none()
			}
			return nodeCell(e, v.Watcher, e.Cluster.WatcherRole(v), "streamingnode", "datanode")
		}),
	col(table.Column{
		Name: "watcher_address", Title: "ADDRESS", Priority: 3, Doc: "Address of that node, none if it has no session.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			for _, s := range watchersOf(e, v) {
				return text(s.Address)
			}
			return none()
		}),
	col(table.Column{
		Name: "watch_state", Kind: table.State, Priority: 2,
		Doc: "WatchSuccess, ToWatch, ...; on 2.6 the state of the pchannel's assignment.",
	},
		func(_ *Env, v *model.VChannel) table.Cell { return text(v.WatchState) }),
	col(table.Column{
		Name: "other_watchers", Kind: table.NamedIDs, Show: table.Hidden,
		Doc: "Other nodes with a watch record of the same channel: a conflict.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			return nodeCells(e, v.OtherWatchers, "datanode", "streamingnode")
		}),
	col(table.Column{
		Name: "watch_progress", Rare: true, Title: "PROGRESS", Kind: table.Int, Show: table.Hidden,
		Doc: "Progress of the watch in percent, as last recorded by the data node; none once it has succeeded.",
	},
		func(_ *Env, v *model.VChannel) table.Cell {
			for i := range v.Watches {
				if v.Watches[i].Node == v.Watcher && v.WatchState != "WatchSuccess" {
					return count(int64(v.Watches[i].Progress))
				}
			}
			return none()
		}),
	col(table.Column{
		Name: "truncated_at", Rare: true, Title: "TRUNCATED", Kind: table.Time, Show: table.Hidden,
		Doc: "When its collection was emptied last (2.6 and later), none if never.",
	},
		func(_ *Env, v *model.VChannel) table.Cell { return tso(v.TruncatedAt) }),
	col(table.Column{Name: "removal", Show: table.Hidden, Doc: "Text of the removal mark: removed or non-removed."},
		func(_ *Env, v *model.VChannel) table.Cell { return text(v.Removal) }),
	col(table.Column{
		Name: "state", Kind: table.State, Show: table.Hidden,
		Doc: "State of the channel on its streaming node (2.6).",
	},
		func(_ *Env, v *model.VChannel) table.Cell { return text(v.State) }),
	col(table.Column{
		Name: "streaming_at", Rare: true, Title: "STREAMED", Kind: table.Time, Show: table.Hidden,
		Doc: "Time tick of the last change to the streaming node's record of the channel (2.6 and later), not of its " +
			"rows.",
	},
		func(_ *Env, v *model.VChannel) table.Cell { return tso(v.StreamedAt) }),
}

var vchannelContent = []column[*model.VChannel]{
	col(table.Column{
		Name: "segments", Kind: table.Int, Show: table.Wide, Priority: 4,
		Doc: "Healthy segments: dropped ones not counted.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			return count(int64(e.Cluster.VChannelTotals(v.Name).Segments))
		}).withNeeds(model.PartSegments),
	col(table.Column{
		Name: "rows", Kind: table.Int, Show: table.Wide, Priority: 4, Doc: "Rows of its healthy segments as recorded.",
	},
		func(e *Env, v *model.VChannel) table.Cell { return count(e.Cluster.VChannelTotals(v.Name).Rows) }).
		withNeeds(model.PartSegments),
	col(table.Column{
		Name: "growing_segments", Title: "GROWING", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Growing segments on it.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			return count(int64(e.Cluster.VChannelTotals(v.Name).ByState[model.SegmentGrowing]))
		}).withNeeds(model.PartSegments),
}

// watchersOf returns the sessions of the node that watches v. It prefers the roles that consume channels,
// because all roles of a standalone process may share one id.
func watchersOf(e *Env, v *model.VChannel) []*model.Session {
	if !v.Watched {
		return nil
	}
	if s := e.Cluster.SessionIn(v.Watcher, "streamingnode", "datanode"); s != nil {
		return []*model.Session{s}
	}
	return e.Cluster.SessionsOf(v.Watcher)
}

var pchannels = define(definition[*model.PChannel]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "pchannels", Names: []string{"name"}, Shorthands: map[string]string{"pchannel": "name"},
		},
		Aliases: []string{"pch", "topics"},
		Kind:    "PChannel",
		Doc:     "Physical channels: topics of the message queue, shared by vchannels.",
		Needs:   model.PartObjects | model.PartChannels,
	},
	rows: func(e *Env) []*model.PChannel {
		return naturalOrder(e.Cluster.PChannels, func(p *model.PChannel) string { return p.Name })
	},
	columns: concat(pchannelColumns, pchannelStreaming),
	ref:     func(_ *Env, p *model.PChannel) Ref { return Ref{ID: p.Name, Name: p.Name} },
	links: func(_ *Env, p *model.PChannel) []Link {
		return []Link{link("vchannels", "vchannels", "pchannel="+p.Name)}
	},
	sections: func(s *scope, p *model.PChannel) []Section {
		return []Section{section(s, "vchannels", "vchannels", vchannelsOn(s.Env, p.Name))}
	},
})

var pchannelColumns = []column[*model.PChannel]{
	col(table.Column{Name: "name", Doc: "Name of the physical channel."}, func(_ *Env, p *model.PChannel) table.Cell {
		return text(p.Name)
	}),
	col(table.Column{Name: "vchannels", Kind: table.Int, Doc: "Virtual channels on it."},
		func(e *Env, p *model.PChannel) table.Cell { return count(int64(len(vchannelsOn(e, p.Name)))) }),
	col(table.Column{
		Name: "collections", Kind: table.List, Priority: 4,
		Doc: "Names of the collections with a shard on it, ids of those that are gone.",
	},
		func(e *Env, p *model.PChannel) table.Cell { return list(collectionsOn(e, p.Name)) }),
	col(table.Column{Name: "state", Kind: table.State, Priority: 1, Doc: "State of the assignment (2.6)."},
		func(_ *Env, p *model.PChannel) table.Cell { return text(p.State) }),
	col(table.Column{
		Name: "node", Kind: table.NamedID, Priority: 1, Doc: "Streaming node that it is assigned to (2.6).",
	},
		func(e *Env, p *model.PChannel) table.Cell { return nodeCell(e, p.Node, "streamingnode") }),
	col(table.Column{
		Name: "node_address", Title: "ADDRESS", Show: table.Wide, Priority: 2, Doc: "Address of that node.",
	},
		func(e *Env, p *model.PChannel) table.Cell { return text(nodeAddress(e, p.Node, "streamingnode")) }),
	col(table.Column{
		Name: "term", Kind: table.Int, Show: table.Wide, Priority: 3,
		Doc: "Number of times that it was assigned (2.6).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return streamingOnly(p, count(p.Term)) }),
	col(table.Column{
		Name: "access_mode", Title: "ACCESS", Show: table.Wide, Priority: 3, Doc: "ReadWrite or ReadOnly (2.6).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return text(p.AccessMode) }),
	col(table.Column{
		Name: "assigned_at", Title: "ASSIGNED", Kind: table.Time, Show: table.Hidden,
		Doc: "When it was assigned last (2.6 and later).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return timeCell(p.AssignedAt) }),
	col(table.Column{
		Name: "past_assignments", Rare: true, Title: "BEFORE", Kind: table.NamedIDs, Show: table.Hidden,
		Doc: "Nodes that it was assigned to before and that have not been seen to close it, as TERM: NODE ACCESS " +
			"(2.6 and later).",
	},
		func(e *Env, p *model.PChannel) table.Cell {
			var ids, names []string
			for _, x := range p.Past {
				term := strconv.FormatInt(x.Term, 10) + ": "
				ids = append(ids, term+x.Node.String()+" "+x.AccessMode)
				names = append(names, term+nodeName(e, x.Node, "streamingnode")+" "+x.AccessMode)
			}
			return table.Cell{List: append(ids, names...)}
		}),
	col(table.Column{
		Name: "replication", Rare: true, Kind: table.List, Show: table.Hidden,
		Doc: "Directions of replication between clusters recorded in its log, as SOURCE>TARGET (2.6 and later); the " +
			"configuration is in get replication.",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return list(p.Replication) }),
	col(table.Column{
		Name: "queue_change", Rare: true, Title: "CHANGE", Show: table.Hidden,
		Doc: "Change to another message queue in progress, with its stage (2.6 and later).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return text(p.Alter) }),
	col(table.Column{
		Name: "checkpoint_at", Title: "CHECKPOINT", Kind: table.Time, Show: table.Wide, Priority: 3,
		Doc: "Time of the write-ahead log's consumer (2.6).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return tso(p.Checkpoint.At) }),
	col(table.Column{
		Name: "checkpoint_age_seconds", Kind: table.Duration, Show: table.Wide, Priority: 3,
		Doc: "Time since checkpoint_at.",
	},
		func(e *Env, p *model.PChannel) table.Cell { return age(e, p.Checkpoint.At.Time()) }),
	col(table.Column{
		Name: "control", Kind: table.Bool, Rare: true, Show: table.Hidden,
		Doc: "It carries the control channel, for messages to the whole cluster (2.6).",
	},
		func(e *Env, p *model.PChannel) table.Cell {
			return yesNo(e.Cluster.Streaming != nil && e.Cluster.Streaming.ControlPChannel == p.Name)
		}).withNeeds(model.PartServing),
	col(table.Column{
		Name: "streaming", Kind: table.Bool, Show: table.Hidden, Doc: "The streaming service has a record of it (2.6).",
	},
		func(_ *Env, p *model.PChannel) table.Cell { return yesNo(p.Streaming) }),
}

func streamingOnly(p *model.PChannel, c table.Cell) table.Cell {
	if !p.Streaming {
		return none()
	}
	return c
}

func vchannelsOn(e *Env, pchannel string) []*model.VChannel {
	var list []*model.VChannel
	for _, v := range e.Cluster.VChannels {
		if v.PChannel == pchannel {
			list = append(list, v)
		}
	}
	return list
}

func collectionsOn(e *Env, pchannel string) []string {
	var names []string
	for _, v := range vchannelsOn(e, pchannel) {
		name := e.Cluster.CollectionName(v.Collection)
		if name == "" {
			name = v.Collection.String()
		}
		names = append(names, name)
	}
	return sortedUnique(names)
}

// nodeAddress returns the address of a node's session under one of the roles, otherwise under any role, or
// "".
func nodeAddress(e *Env, id model.NodeID, roles ...string) string {
	if s := e.Cluster.SessionIn(id, roles...); s != nil {
		return s.Address
	}
	for _, s := range e.Cluster.SessionsOf(id) {
		return s.Address
	}
	return ""
}

// nodeAddresses returns the cell of nodes of a role with their addresses: "querynode-12 10.0.0.7:21123".
func nodeAddresses(e *Env, list []model.NodeID, role string) table.Cell {
	list = slices.Sorted(slices.Values(list))
	c := nodeCells(e, list, role)
	for i, id := range list {
		if address := nodeAddress(e, id, role); address != "" {
			c.List[i] += " " + address
			c.List[len(list)+i] += " " + address
		}
	}
	return c
}
