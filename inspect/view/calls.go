package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// This file defines two resources from the processes: calls, the RPCs with their results, and settings, the
// configuration.

var calls = define(definition[model.Call]{
	Resource: Resource{
		Schema:  table.Schema{Name: "calls", Names: []string{"node", "method"}, Handle: "name"},
		Aliases: []string{"answers"},
		Doc:     "RPCs sent to the processes, with results.",
		Needs:   model.PartRuntime,
	},
	rows: callRows,
	columns: []column[model.Call]{
		col(table.Column{Name: "name", Show: table.Hidden, Doc: "node/method/about: the name of the call."},
			func(_ *Env, c model.Call) table.Cell { return text(callName(c)) }),
		col(table.Column{
			Name: "node", Doc: "Session or process that was queried: role-id, or the address of a process.",
		},
			func(_ *Env, c model.Call) table.Cell { return text(callNode(c)) }),
		col(table.Column{
			Name: "address", Priority: 2,
			Doc: "Address that was queried.",
		},
			func(_ *Env, c model.Call) table.Cell { return text(c.Address) }),
		col(table.Column{Name: "method", Doc: "gRPC method, or GET and the path."},
			func(_ *Env, c model.Call) table.Cell { return text(c.Method) }),
		col(table.Column{
			Name: "about", Priority: 3,
			Doc: "Subject of the call if there are several: a collection, a resource group.",
		},
			func(e *Env, c model.Call) table.Cell { return text(c.About) }),
		col(table.Column{
			Name: "outcome", Kind: table.State,
			Doc: "answered, unreachable, refused, timed out, unimplemented, stale, other cluster, denied, not ready, " +
				"garbled, too large, cut off or failed.",
		},
			func(_ *Env, c model.Call) table.Cell { return text(c.Outcome.String()) }),
		col(table.Column{
			Name: "took_seconds", Kind: table.Duration, Priority: 4,
			Doc: "Time until the response.",
		}, func(_ *Env, c model.Call) table.Cell {
			if c.Took == 0 {
				return none()
			}
			return count(int64(c.Took))
		}),
		col(table.Column{
			Name: "reason", Priority: 1,
			Doc: "Why there is no response, as the process or the network reports it.",
		},
			func(_ *Env, c model.Call) table.Cell { return text(c.Reason) }),
	},
	ref: func(_ *Env, c model.Call) Ref { return Ref{ID: callName(c), Name: callName(c)} },
	owner: func(_ *Env, c model.Call) (Ref, bool) {
		return Ref{Resource: "nodes", ID: callNode(c), Name: callNode(c)}, c.Role != ""
	},
})

func callRows(e *Env) []model.Call {
	r := e.Cluster.Runtime
	if r == nil {
		return nil
	}
	var list []model.Call
	for _, n := range r.Nodes {
		list = append(list, n.Calls...)
	}
	for _, p := range r.Processes {
		list = append(list, p.Calls...)
	}
	return list
}

func callNode(c model.Call) string {
	if c.Role == "" {
		return c.Address
	}
	return c.Node.Name(c.Role)
}

func callName(c model.Call) string {
	name := callNode(c) + "/" + c.Method
	if c.About != "" {
		name += "/" + c.About
	}
	return name
}

// setting is one value of a configuration key, with the sessions that have this value.
type setting struct {
	key, name, value string
	sessions         []string
	// others is the number of other values of the same key.
	others int
}

var settings = define(definition[*setting]{
	Resource: Resource{
		Schema:  table.Schema{Name: "settings", Names: []string{"key", "folded_key"}, Handle: "id"},
		Aliases: []string{"show-configurations"},
		Doc:     "Configuration of the running processes: one row per value of a key.",
		Needs:   model.PartRuntime,
	},
	rows: settingRows,
	columns: []column[*setting]{
		col(table.Column{
			Name: "id", Show: table.Hidden,
			Doc: "The key, a slash, and the first session with this value.",
		},
			func(_ *Env, s *setting) table.Cell { return text(s.id()) }),
		col(table.Column{
			Name: "key",
			Doc:  "Name of the key as Milvus writes it, in lower case; without separators if only that is reported.",
		},
			func(_ *Env, s *setting) table.Cell { return text(s.name) }),
		col(table.Column{
			Name: "folded_key", Title: "FOLDED", Show: table.Hidden,
			Doc: "The key without separators, as Milvus compares it.",
		},
			func(_ *Env, s *setting) table.Cell { return text(s.key) }),
		col(table.Column{
			Name: "value",
			Doc:  "The value; for secrets only whether one is set.",
		},
			func(_ *Env, s *setting) table.Cell { return text(s.value) }),
		col(table.Column{
			Name: "sessions", Kind: table.List, Priority: 1,
			Doc: "Sessions that have this value; etcd where it is set there and no session reports it.",
		},
			func(_ *Env, s *setting) table.Cell { return list(s.sessions) }),
		col(table.Column{
			Name: "other_values", Kind: table.Int, Priority: 2,
			Doc: "Number of other values that sessions have for this key.",
		},
			func(_ *Env, s *setting) table.Cell { return count(int64(s.others)) }),
	},
	ref: func(_ *Env, s *setting) Ref { return Ref{ID: s.id(), Name: s.name} },
})

// settingInEtcd replaces the session of a value that is set in etcd and that no session reports.
const settingInEtcd = "etcd"

func (s *setting) id() string { return s.key + "/" + s.sessions[0] }

func settingRows(e *Env) []*setting {
	r := e.Cluster.Runtime
	if r == nil {
		return nil
	}
	type pair struct{ key, value string }
	rows := make(map[pair]*setting)
	values := make(map[string]int)
	for _, n := range r.Nodes {
		if n.Config == nil {
			continue
		}
		for key, value := range n.Config.Values {
			row := rows[pair{key, value}]
			if row == nil {
				row = &setting{key: key, name: n.Config.Name(key), value: value}
				rows[pair{key, value}] = row
				values[key]++
			}
			row.sessions = append(row.sessions, n.Name())
		}
	}
	dynamic := model.DynamicEntries(e.Cluster.Config)
	for _, p := range r.Processes {
		if p.Config == nil {
			continue
		}
		for key, value := range p.Config.Values {
			if values[key] > 0 {
				continue // a process's own report is newer than a proxy's copy
			}
			of := p.ConfigOf
			if set := dynamic[key]; set != nil {
				value, of = set.Value, settingInEtcd // the same holds for etcd
			}
			if row := rows[pair{key, value}]; row == nil {
				rows[pair{key, value}] = &setting{
					key: key, name: p.Config.Name(key), value: value, sessions: []string{of},
				}
			}
		}
	}
	list := make([]*setting, 0, len(rows))
	for at, row := range rows {
		row.others = max(values[at.key]-1, 0)
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b *setting) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	return list
}
