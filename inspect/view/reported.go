package view

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// The resources below show reports of the proxies other than slow requests (2.5 and later).

var connections = define(definition[model.Connection]{
	Resource: Resource{
		Schema:  table.Schema{Name: "clients", Names: []string{"host", "sdk"}, Handle: "id", Slashes: true},
		Aliases: []string{"connections", "sdks"},
		Doc:     "Clients connected to the proxies within the last day, as the proxies report them (2.5 and later).",
		Needs:   model.PartRuntime | model.PartReported,
		Missing: func(c *model.Cluster) []string { return missingResponses(c, connectionsCall) },
	},
	rows: func(e *Env) []model.Connection { return e.Cluster.Runtime.Connections() },
	columns: []column[model.Connection]{
		col(table.Column{Name: "id", Show: table.Hidden, Doc: "proxy/number: the name of the connection."},
			func(_ *Env, c model.Connection) table.Cell { return text(connectionName(c)) }),
		col(table.Column{Name: "host", Doc: "Host as the client names it."},
			func(_ *Env, c model.Connection) table.Cell { return textOrUnknown(c.Host) }),
		col(table.Column{
			Name: "sdk", Title: "SDK", Vocabulary: true, Doc: "Library of the client: Python, Golang, Java, ...",
		}, func(_ *Env, c model.Connection) table.Cell { return textOrUnknown(c.SDK) }),
		col(table.Column{Name: "sdk_version", Title: "VERSION", Priority: 1, Doc: "Version of that library."},
			func(_ *Env, c model.Connection) table.Cell { return textOrUnknown(c.Version) }),
		col(table.Column{
			Name: "active_at", Title: "ACTIVE", Kind: table.Time, Priority: 2,
			Doc: "When the proxy last heard from the client, by the proxy's clock.",
		}, func(_ *Env, c model.Connection) table.Cell {
			if c.ActiveAt.IsZero() {
				return unknown()
			}
			return timeCell(c.ActiveAt)
		}),
		col(table.Column{Name: "proxy", Priority: 3, Doc: "Session of the proxy, role-id."},
			func(_ *Env, c model.Connection) table.Cell { return text("proxy-" + c.Proxy.String()) }),
	},
	ref: func(_ *Env, c model.Connection) Ref { return Ref{ID: connectionName(c), Name: connectionName(c)} },
	owner: func(_ *Env, c model.Connection) (Ref, bool) {
		return Ref{Resource: "nodes", ID: "proxy-" + c.Proxy.String(), Name: "proxy-" + c.Proxy.String()}, true
	},
})

func connectionName(c model.Connection) string { return "proxy-" + c.Proxy.String() + "/" + c.ID }

var dependencies = define(definition[model.Dependency]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "dependencies", Singular: "dependency", Names: []string{"kind", "type"}, Handle: "id", Slashes: true,
		},
		Aliases: []string{"deps"},
		Doc:     "etcd and the message queue as seen by a proxy (2.5 and later).",
		Needs:   model.PartRuntime | model.PartReported,
		Missing: missingDependencies,
	},
	rows: func(e *Env) []model.Dependency { return e.Cluster.Runtime.Dependencies() },
	columns: []column[model.Dependency]{
		col(table.Column{Name: "id", Show: table.Hidden, Doc: "kind/member: the name of the dependency."},
			func(_ *Env, d model.Dependency) table.Cell { return text(dependencyName(d)) }),
		col(table.Column{Name: "kind", Vocabulary: true, Doc: "metadata store or message queue."},
			func(_ *Env, d model.Dependency) table.Cell { return text(d.Kind) }),
		col(table.Column{
			Name: "type",
			Doc:  "Type: etcd, kafka, woodpecker, ...; for a queue the configured mq.type, possibly default.",
		},
			func(_ *Env, d model.Dependency) table.Cell { return textOrUnknown(d.Type) }),
		col(table.Column{Name: "member", Doc: "Endpoint of one member; empty for the whole."},
			func(_ *Env, d model.Dependency) table.Cell { return text(d.Member) }),
		col(table.Column{
			Name: "healthy", Kind: table.Bool,
			Doc: "Whether it responds to the proxy, without an alarm; unknown if Milvus does not check this kind of " +
				"queue.",
		}, func(_ *Env, d model.Dependency) table.Cell {
			return tristateCell(d.Healthy)
		}),
		col(table.Column{
			Name: "reason", Priority: 1,
			Doc: "Why it is unhealthy, as the proxy reports it, or why that is unknown.",
		},
			func(_ *Env, d model.Dependency) table.Cell { return text(d.Reason) }),
		col(table.Column{Name: "proxy", Priority: 2, Doc: "Session of the proxy that reported it, role-id."},
			func(_ *Env, d model.Dependency) table.Cell { return text("proxy-" + d.Proxy.String()) }),
	},
	ref: func(_ *Env, d model.Dependency) Ref { return Ref{ID: dependencyName(d), Name: dependencyName(d)} },
})

func dependencyName(d model.Dependency) string {
	return d.Kind + "/" + cmp.Or(d.Member, d.Type)
}

// Values of Call.Method.
const (
	connectionsCall  = "GET /api/v1/_cluster/clients"
	dependenciesCall = "GET /api/v1/_cluster/dependencies"
)

// missingDependencies returns the reasons why dependencies are unknown. It returns nil once a proxy has
// reported them, because only one is queried.
func missingDependencies(c *model.Cluster) []string {
	if c.Runtime == nil {
		return missingResponses(c, dependenciesCall)
	}
	for _, s := range c.Runtime.Skipped {
		if strings.HasPrefix(s.What, "dependencies ") {
			return []string{s.What + ": " + s.Reason}
		}
	}
	if len(c.Runtime.Dependencies()) > 0 {
		return nil
	}
	var lines []string
	for _, n := range c.Runtime.Nodes {
		if n.Role == "proxy" && n.Process != nil &&
			slices.ContainsFunc(n.Process.Calls, func(x model.Call) bool { return x.Method == dependenciesCall }) {
			if why := missingReason(c, n, dependenciesCall); why != "" {
				lines = append(lines, n.Name()+": "+why)
			}
		}
	}
	if len(lines) > 0 {
		return lines
	}
	return missingResponses(c, dependenciesCall)
}
