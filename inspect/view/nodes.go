package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var nodes = define(definition[*model.Session]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "nodes", Names: []string{"id", "name", "role", "address", "host"}, Handle: "name",
			Shorthands: map[string]string{"node": "id", "addr": "address"},
		},
		Aliases: []string{"session", "sessions", "no"},
		Doc:     "Sessions: one per role of each process registered in etcd.",
		Needs:   model.PartSessions,
	},
	rows:    func(e *Env) []*model.Session { return e.Cluster.Sessions },
	columns: concat(nodeColumns, nodeLive, nodeStreaming, nodeCache),
	ref: func(_ *Env, s *model.Session) Ref {
		return Ref{ID: s.Name(), Name: s.Name()}
	},
	links: func(_ *Env, s *model.Session) []Link {
		links := []Link{
			link("channels", "vchannels", "watcher="+s.Node.String()),
			link("replicas", "replicas", "nodes="+s.Node.String()),
			link("index builds", "segment-indexes", "node="+s.Node.String()),
			link("serves", "segments", "served_by="+s.Node.String()),
			link("calls", "calls", "node="+s.Name()),
			link("settings", "settings", "sessions="+s.Name()),
		}
		first := map[string]string{"querynode": "serves", "indexnode": "index builds"}[s.Role]
		if i := slices.IndexFunc(links, func(l Link) bool { return l.Title == first }); i > 0 {
			l := links[i]
			links = slices.Insert(slices.Delete(links, i, i+1), 0, l)
		}
		return links
	},
	sections: func(s *scope, x *model.Session) []Section {
		return []Section{
			section(s, "replicas", "replicas", replicasOn(s.Env, x.Node), "id", "collection", "database",
				"resource_group"),
			section(s, "channels", "vchannels", watchedBy(s.Env, x), "name", "collection", "checkpoint_age_seconds",
				"watch_state"),
			section(s, "leads", "vchannels", ledBy(s.Env, x), "name", "collection", "checkpoint_age_seconds",
				"served_growing_rows"),
			section(s, "not answered", "calls", failedCalls(s.Env, x), "method", "about", "outcome", "reason"),
		}
	},
	key: func(_ *Env, s *model.Session) string { return s.Key },
})

var nodeColumns = []column[*model.Session]{
	col(table.Column{
		Name: "id", Title: "NODE", Kind: table.NamedID, Doc: "Server id; it changes at each start of the process.",
	},
		func(_ *Env, s *model.Session) table.Cell { return table.Cell{Int: int64(s.Node), Text: s.Name()} }),
	col(table.Column{
		Name: "name", Show: table.Hidden, Doc: "role-id: the name of the session; several roles may share an id.",
	},
		func(_ *Env, s *model.Session) table.Cell { return text(s.Name()) }),
	col(table.Column{
		Name: "role", Show: table.Wide, Priority: 5,
		Doc: "rootcoord, mixcoord, proxy, querynode, datanode, indexnode, streamingnode, ...", Vocabulary: true,
	},
		func(_ *Env, s *model.Session) table.Cell { return text(s.Role) }),
	col(table.Column{Name: "address", Doc: "Address of the gRPC server, host:port."},
		func(_ *Env, s *model.Session) table.Cell { return text(s.Address) }),
	col(table.Column{
		Name: "host", Show: table.Wide, Priority: 4, Doc: "Host name as the process sees it (2.3 and later).",
	},
		func(_ *Env, s *model.Session) table.Cell { return text(s.HostName) }),
	col(table.Column{Name: "version", Priority: 1, Doc: "Milvus version of the process, none if not recorded."},
		func(_ *Env, s *model.Session) table.Cell { return text(s.Version) }),
	col(table.Column{Name: "state", Kind: table.State, Doc: "registered, stopping or standby, from metadata alone."},
		func(_ *Env, s *model.Session) table.Cell { return text(s.State()) }),
	col(table.Column{
		Name: "replicas", Kind: table.Int, Priority: 2,
		Doc: "Replicas that a query node belongs to, including leaving ones.",
	},
		func(e *Env, s *model.Session) table.Cell {
			if !servesQueries(s) {
				return none()
			}
			return count(int64(len(replicasOn(e, s.Node))))
		}).withNeeds(model.PartServing),
	col(table.Column{
		Name: "resource_groups", Title: "RESOURCE GROUP", Kind: table.List, Priority: 3,
		Doc: "Resource groups that list a query node.",
	},
		func(e *Env, s *model.Session) table.Cell {
			if !servesQueries(s) {
				return none()
			}
			return list(groupsOf(e, s.Node))
		}).withNeeds(model.PartServing),
	col(table.Column{
		Name: "channels", Kind: table.Int, Priority: 2,
		Doc: "Virtual channels that a data node or streaming node consumes.",
	},
		func(e *Env, s *model.Session) table.Cell {
			if !consumesChannels(s) {
				return none()
			}
			return count(int64(len(watchedBy(e, s))))
		}).withNeeds(model.PartChannels),
	col(table.Column{
		Name: "exclusive", Kind: table.Bool, Show: table.Hidden, Doc: "Only one of this role may be active.",
	},
		func(_ *Env, s *model.Session) table.Cell { return yesNo(s.Exclusive) }),
	col(table.Column{Name: "lease", Kind: table.ID, Show: table.Hidden, Doc: "etcd lease of the session."},
		func(_ *Env, s *model.Session) table.Cell { return idOrNone(model.NodeID(s.Lease)) }),
	col(table.Column{
		Name: "index_engine", Show: table.Hidden,
		Doc: "Range of vector index versions that a query node reads, lowest..current.",
	},
		func(_ *Env, s *model.Session) table.Cell { return engine(s.IndexEngine) }),
	col(table.Column{
		Name: "scalar_index_engine", Title: "SCALAR ENGINE", Show: table.Hidden,
		Doc: "Range of scalar index versions that a query node reads, lowest..current.",
	},
		func(_ *Env, s *model.Session) table.Cell { return engine(s.ScalarIndexEngine) }),
	col(table.Column{Name: "labels", Kind: table.Pairs, Show: table.Hidden, Doc: "Labels of the server."},
		func(_ *Env, s *model.Session) table.Cell { return pairs(s.Labels) }),
	col(table.Column{
		Name: "revision", Kind: table.Int, Show: table.Hidden,
		Doc: "etcd revision at which it was last written: higher is later.",
	},
		func(_ *Env, s *model.Session) table.Cell { return countOrNone(s.Revision) }),
}

func engine(r model.EngineRange) table.Cell {
	if r == (model.EngineRange{}) {
		return none()
	}
	return text(model.NodeID(r.Minimal).String() + ".." + model.NodeID(r.Current).String())
}

func servesQueries(s *model.Session) bool { return s.Role == "querynode" }

func consumesChannels(s *model.Session) bool {
	return s.Role == "datanode" || s.Role == "streamingnode"
}

func replicasOn(e *Env, id model.NodeID) []*model.Replica {
	var list []*model.Replica
	for _, r := range e.Cluster.Replicas {
		if slices.Contains(r.Nodes, id) || slices.Contains(r.RONodes, id) || slices.Contains(r.StreamingNodes, id) ||
			slices.Contains(r.ROStreamingNodes, id) {
			list = append(list, r)
		}
	}
	return list
}

func groupsOf(e *Env, id model.NodeID) []string {
	var names []string
	for _, g := range e.Cluster.ResourceGroups {
		if slices.Contains(g.Nodes, id) {
			names = append(names, g.Name)
		}
	}
	return names
}

func watchedBy(e *Env, s *model.Session) []*model.VChannel {
	var list []*model.VChannel
	if !consumesChannels(s) {
		return nil
	}
	for _, v := range e.Cluster.VChannels {
		if v.Watched && (v.Watcher == s.Node || slices.Contains(v.OtherWatchers, s.Node)) {
			list = append(list, v)
		}
	}
	return list
}

// sessionsOf returns the sessions of nodes under one of the roles, in the order of list.
func sessionsOf(e *Env, list []model.NodeID, roles ...string) []*model.Session {
	var found []*model.Session
	for _, id := range list {
		if s := e.Cluster.SessionIn(id, roles...); s != nil {
			found = append(found, s)
		}
	}
	return found
}

// idWords returns ids separated by commas, for a selector.
func idWords(list []model.NodeID) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = id.String()
	}
	return strings.Join(words, ",")
}

// nodeCell returns the cell of a node, with its name from nodeName. 0 is none.
func nodeCell(e *Env, id model.NodeID, role string, others ...string) table.Cell {
	if id == 0 {
		return none()
	}
	return table.Cell{Int: int64(id), Text: nodeName(e, id, role, others...)}
}

// nodeCells returns the cell of a list of nodes.
func nodeCells(e *Env, list []model.NodeID, role string, others ...string) table.Cell {
	both := make([]string, 2*len(list))
	for i, id := range list {
		both[i], both[len(list)+i] = id.String(), nodeName(e, id, role, others...)
	}
	return table.Cell{List: both}
}

// nodeName returns the name of a node's session: under role, otherwise under one of others, otherwise under
// any role. A node that is gone is named after role. If role is "", because nodes of several roles do such
// work, its name is its id.
func nodeName(e *Env, id model.NodeID, role string, others ...string) string {
	for _, roles := range [][]string{{role}, others} {
		if s := e.Cluster.SessionIn(id, roles...); s != nil {
			return s.Name()
		}
	}
	switch all := e.Cluster.SessionsOf(id); {
	case len(all) > 0:
		return all[0].Name()
	case role == "":
		return id.String()
	}
	return id.Name(role)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

var resourceGroups = define(definition[*model.ResourceGroup]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "resource-groups", Names: []string{"name"}, Shorthands: map[string]string{"node": "nodes"},
		},
		Aliases: []string{"rg", "rgs"},
		Doc:     "Named sets of query nodes.",
		Needs:   model.PartServing,
	},
	rows: func(e *Env) []*model.ResourceGroup { return e.Cluster.ResourceGroups },
	columns: []column[*model.ResourceGroup]{
		col(table.Column{Name: "name", Doc: "Name of the resource group."},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return text(g.Name) }),
		col(table.Column{Name: "capacity", Kind: table.Int, Doc: "Maximum number of nodes, as recorded."},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return count(int64(g.Capacity)) }),
		col(table.Column{Name: "nodes", Kind: table.NamedIDs, Doc: "Its query nodes."},
			func(e *Env, g *model.ResourceGroup) table.Cell { return nodeCells(e, g.Nodes, "querynode") }),
		col(table.Column{
			Name: "node_addresses", Title: "ADDRESSES", Kind: table.NamedIDs, Show: table.Wide, Priority: 4,
			Doc: "The same nodes with their addresses.",
		},
			func(e *Env, g *model.ResourceGroup) table.Cell { return nodeAddresses(e, g.Nodes, "querynode") }),
		col(table.Column{Name: "replicas", Kind: table.Int, Priority: 1, Doc: "Replicas in it."},
			func(e *Env, g *model.ResourceGroup) table.Cell { return count(int64(len(replicasIn(e, g.Name)))) }),
		col(table.Column{
			Name: "requests", Kind: table.Int, Show: table.Wide, Priority: 2,
			Doc: "Nodes that it requests (2.4 and later).",
		},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return countIfConfigured(g.Requests) }),
		col(table.Column{
			Name: "limits", Kind: table.Int, Show: table.Wide, Priority: 2,
			Doc: "Maximum number of nodes (2.4 and later).",
		},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return countIfConfigured(g.Limits) }),
		col(table.Column{
			Name: "transfer_from", Title: "FROM", Kind: table.List, Show: table.Hidden,
			Doc: "Groups that it may take nodes from (2.4 and later).",
		},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return list(g.TransferFrom) }),
		col(table.Column{
			Name: "transfer_to", Title: "TO", Kind: table.List, Show: table.Hidden,
			Doc: "Groups that it may give nodes to (2.4 and later).",
		},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return list(g.TransferTo) }),
		col(table.Column{
			Name: "node_labels", Rare: true, Title: "LABELS", Kind: table.Pairs, Show: table.Hidden,
			Doc: "Labels that its nodes must have, if any are set.",
		},
			func(_ *Env, g *model.ResourceGroup) table.Cell { return pairs(g.NodeLabels) }),
	},
	ref: func(_ *Env, g *model.ResourceGroup) Ref { return Ref{ID: g.Name, Name: g.Name} },
	links: func(_ *Env, g *model.ResourceGroup) []Link {
		return []Link{link("replicas", "replicas", "resource_group="+g.Name)}
	},
	sections: func(s *scope, g *model.ResourceGroup) []Section {
		return []Section{
			section(s, "nodes", "nodes", sessionsOf(s.Env, g.Nodes, "querynode"), "id", "role", "address", "version",
				"state"),
			section(s, "replicas", "replicas", replicasIn(s.Env, g.Name), "id", "collection", "database", "nodes"),
		}
	},
})

func countIfConfigured(n int32) table.Cell {
	if n < 0 {
		return none()
	}
	return count(int64(n))
}

func replicasIn(e *Env, group string) []*model.Replica {
	var list []*model.Replica
	for _, r := range e.Cluster.Replicas {
		if r.ResourceGroup == group {
			list = append(list, r)
		}
	}
	return list
}
