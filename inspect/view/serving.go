package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var loadStates = define(definition[*model.LoadState]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "load-states", Names: []string{"collection", "collection_id"}, Handle: "collection_id",
			Shorthands: collectionShorthands(),
		},
		Aliases: []string{"load", "loads", "loaded"},
		Doc:     "Collections marked loaded in QueryCoord metadata.",
		Needs:   model.PartObjects | model.PartServing,
	},
	rows: func(e *Env) []*model.LoadState { return e.Cluster.LoadStates },
	columns: concat(
		collectionColumns(func(l *model.LoadState) model.CollectionID { return l.Collection }),
		loadColumns,
	),
	ref: func(e *Env, l *model.LoadState) Ref {
		return Ref{ID: l.Collection.String(), Name: e.Cluster.CollectionName(l.Collection)}
	},
	owner: func(e *Env, l *model.LoadState) (Ref, bool) { return collectionRef(e, l.Collection) },
	links: func(_ *Env, l *model.LoadState) []Link {
		where := "collection_id=" + l.Collection.String()
		return []Link{link("replicas", "replicas", where), link("partitions", "partitions", where)}
	},
	sections: func(s *scope, l *model.LoadState) []Section {
		return []Section{
			section(s, "partitions", "partitions", s.Cluster.PartitionsOf(l.Collection), "id", "name", "load_state",
				"rows"),
			section(s, "replicas", "replicas", s.Cluster.ReplicasOf(l.Collection), "id", "resource_group", "nodes",
				"ro_nodes"),
		}
	},
	key: func(_ *Env, l *model.LoadState) string { return l.Key },
})

var loadColumns = []column[*model.LoadState]{
	col(table.Column{Name: "state", Kind: table.State, Doc: "Loaded, Loading or Invalid."},
		func(_ *Env, l *model.LoadState) table.Cell { return text(l.Status) }),
	col(table.Column{
		Name: "percent", Kind: table.Percent, Priority: 2,
		Doc: "Loaded share, from QueryCoord if queried, otherwise as recorded: 2.2 and later do not record it.",
	},
		loadPercent),
	col(table.Column{Name: "replicas", Kind: table.Int, Priority: 1, Doc: "Number of replicas requested."},
		func(_ *Env, l *model.LoadState) table.Cell { return count(int64(l.Replicas)) }),
	col(table.Column{
		Name: "load_type", Title: "TYPE", Priority: 3,
		Doc: "LoadCollection, or LoadPartition if single partitions were loaded.", Vocabulary: true,
	},
		func(_ *Env, l *model.LoadState) table.Cell { return text(l.LoadType) }),
	col(table.Column{
		Name: "partitions", Kind: table.List, Priority: 4,
		Doc: "Names of the partitions with a load record, ids of those that are gone.",
	},
		func(e *Env, l *model.LoadState) table.Cell {
			names := make([]string, 0, len(l.Partitions))
			for _, p := range l.Partitions {
				names = append(names, partitionLabel(e, p.Partition))
			}
			return list(names)
		}),
	col(table.Column{
		Name: "released", Kind: table.List, Show: table.Wide, Priority: 5,
		Doc: "Names of the partitions that were released.",
	},
		func(e *Env, l *model.LoadState) table.Cell {
			names := make([]string, 0, len(l.Released))
			for _, p := range l.Released {
				names = append(names, partitionLabel(e, p))
			}
			return list(names)
		}),
	col(table.Column{
		Name: "fields", Kind: table.List, Show: table.Hidden,
		Doc: "Names of the fields that are loaded; empty means all.",
	},
		func(e *Env, l *model.LoadState) table.Cell {
			names := make([]string, 0, len(l.Fields))
			for _, f := range l.Fields {
				names = append(names, fieldLabel(e, l.Collection, f))
			}
			return list(names)
		}),
	col(table.Column{
		Name: "recovered", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "Number of times that QueryCoord resumed the load after a restart, none if never.",
	},
		func(_ *Env, l *model.LoadState) table.Cell { return countOrNone(l.Recovered) }),
	col(table.Column{
		Name: "user_replicas", Rare: true, Kind: table.Bool, Show: table.Hidden,
		Doc: "A user set the number of replicas: the cluster's settings do not change it (2.6 and later).",
	},
		func(_ *Env, l *model.LoadState) table.Cell { return yesNo(l.UserReplicas) }),
	col(table.Column{Name: "indexes", Kind: table.Pairs, Show: table.Hidden, Doc: "Loaded index, by field."},
		func(e *Env, l *model.LoadState) table.Cell {
			var flat []string
			for _, f := range sortedKeys(l.Indexes) {
				flat = append(flat, fieldLabel(e, l.Collection, f), indexName(e, l.Indexes[f]))
			}
			return list(flat)
		}),
}

func partitionLabel(e *Env, id model.PartitionID) string {
	if name := e.Cluster.PartitionName(id); name != "" {
		return name
	}
	return id.String()
}

func fieldLabel(e *Env, c model.CollectionID, f model.FieldID) string {
	if name := fieldName(e, c, f); name != "" {
		return name
	}
	return f.String()
}

var replicas = define(definition[*model.Replica]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "replicas", Names: []string{"id"},
			Shorthands: collectionShorthands("group", "resource_group", "rg", "resource_group", "node", "nodes"),
		},
		Aliases: []string{"rep"},
		Doc:     "Groups of query nodes, each serving a whole collection.",
		Needs:   model.PartObjects | model.PartServing,
	},
	rows: func(e *Env) []*model.Replica { return e.Cluster.Replicas },
	columns: concat(
		[]column[*model.Replica]{
			col(table.Column{Name: "id", Kind: table.ID, Doc: "Replica id."},
				func(_ *Env, r *model.Replica) table.Cell { return id(r.ID) }),
		},
		collectionColumns(func(r *model.Replica) model.CollectionID { return r.Collection }),
		replicaColumns,
	),
	ref:   func(_ *Env, r *model.Replica) Ref { return Ref{ID: r.ID.String()} },
	owner: func(e *Env, r *model.Replica) (Ref, bool) { return collectionRef(e, r.Collection) },
	links: func(_ *Env, r *model.Replica) []Link {
		list := []Link{link("resource group", "resource-groups", "name="+r.ResourceGroup)}
		if words := idWords(replicaNodes(r)); words != "" {
			list = append([]Link{link("nodes", "nodes", "id="+words)}, list...)
		}
		return list
	},
	sections: func(s *scope, r *model.Replica) []Section {
		return []Section{
			section(s, "nodes", "nodes", sessionsOf(s.Env, replicaNodes(r), "querynode", "streamingnode"), "id", "role",
				"address", "version", "state"),
			section(s, "vchannels", "vchannels", s.Cluster.VChannelsOf(r.Collection), "name", "checkpoint_age_seconds",
				"watcher"),
		}
	},
})

var replicaColumns = []column[*model.Replica]{
	col(table.Column{Name: "resource_group", Priority: 1, Doc: "Name of the resource group."},
		func(_ *Env, r *model.Replica) table.Cell { return text(r.ResourceGroup) }),
	col(table.Column{Name: "nodes", Kind: table.NamedIDs, Doc: "Query nodes that read and write."},
		func(e *Env, r *model.Replica) table.Cell { return nodeCells(e, r.Nodes, "querynode", "streamingnode") }),
	col(table.Column{
		Name: "node_addresses", Title: "ADDRESSES", Kind: table.NamedIDs, Show: table.Wide, Priority: 6,
		Doc: "The same nodes with their addresses.",
	},
		func(e *Env, r *model.Replica) table.Cell { return nodeAddresses(e, r.Nodes, "querynode") }),
	col(table.Column{
		Name: "ro_nodes", Title: "LEAVING", Kind: table.NamedIDs, Priority: 3,
		Doc: "Query nodes that are leaving: read only.",
	},
		func(e *Env, r *model.Replica) table.Cell {
			return nodeCells(e, r.RONodes, "querynode", "streamingnode")
		}),
	col(table.Column{
		Name: "streaming_nodes", Title: "STREAMING", Kind: table.NamedIDs, Show: table.Wide, Priority: 5,
		Doc: "Query nodes inside streaming nodes (2.6).",
	},
		func(e *Env, r *model.Replica) table.Cell { return nodeCells(e, r.StreamingNodes, "streamingnode") }),
	col(table.Column{
		Name: "ro_streaming_nodes", Title: "STREAMING LEAVING", Kind: table.NamedIDs, Show: table.Hidden,
		Doc: "Streaming nodes that are leaving (2.6).",
	},
		func(e *Env, r *model.Replica) table.Cell { return nodeCells(e, r.ROStreamingNodes, "streamingnode") }),
	col(table.Column{
		Name: "channel_nodes", Kind: table.NamedPairs, Show: table.Hidden,
		Doc: "Nodes that a channel is confined to, by vchannel (2.4 and later).",
	},
		func(e *Env, r *model.Replica) table.Cell { return nodesByChannel(e, r.ChannelNodes) }),
	col(table.Column{
		Name: "shard_leaders", Kind: table.NamedPairs, Show: table.Hidden,
		Doc: "Leader by vchannel, recorded up to 2.1 only.",
	},
		func(e *Env, r *model.Replica) table.Cell {
			leaders := make(map[string][]model.NodeID, len(r.ShardLeaders))
			for ch, id := range r.ShardLeaders {
				leaders[ch] = []model.NodeID{id}
			}
			return nodesByChannel(e, leaders)
		}),
}

// nodesByChannel returns the cell of the query nodes of each vchannel.
func nodesByChannel(e *Env, nodes map[string][]model.NodeID) table.Cell {
	var ids, names []string
	for _, ch := range sortedKeys(nodes) {
		c := nodeCells(e, nodes[ch], "querynode")
		half := len(c.List) / 2
		ids, names = append(ids, ch, strings.Join(c.List[:half], ",")),
			append(names, ch, strings.Join(c.List[half:], ","))
	}
	return table.Cell{List: append(ids, names...)}
}

func replicaNodes(r *model.Replica) []model.NodeID {
	all := slices.Concat(r.Nodes, r.RONodes, r.StreamingNodes, r.ROStreamingNodes)
	slices.Sort(all)
	return slices.Compact(all)
}
