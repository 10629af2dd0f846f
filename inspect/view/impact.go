package view

import (
	"math"
	"strings"

	"kitescope/inspect/impact"
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var impacts = define(definition[*impact.Kind]{
	Resource: Resource{
		Schema: table.Schema{Name: "impact", Singular: "impact", Handle: "request"},
		Doc:    "What clients feel: requests by kind, and how many succeeded, failed, were refused or hang.",
		Needs:  model.PartRuntime,
		Lacks:  func(c *model.Cluster) []string { return impact.Of(c.AsAsked()).Unseen },
	},
	rows: func(e *Env) []*impact.Kind {
		x := impact.Of(e.Cluster.AsAsked())
		rows := make([]*impact.Kind, len(x.Kinds))
		for i := range x.Kinds {
			rows[i] = &x.Kinds[i]
		}
		return rows
	},
	columns: impactColumns(),
	ref:     func(_ *Env, k *impact.Kind) Ref { return Ref{ID: string(k.Request), Name: string(k.Request)} },
})

// impactColumns returns the columns of impact. Figures of an unknown kind are unknown.
func impactColumns() []column[*impact.Kind] {
	counted := func(name, title string, show table.Show, doc string, of func(*impact.Kind) float64) column[*impact.Kind] {
		return col(table.Column{Name: name, Title: title, Kind: table.Int, Show: show, Doc: doc}, func(_ *Env, k *impact.Kind) table.Cell {
			if k.State == impact.Unknown && k.Seconds == 0 && of(k) == 0 {
				return unknown()
			}
			return count(int64(math.Round(of(k))))
		})
	}
	measured := func(name, title string, show table.Show, doc string, of func(*impact.Kind) float64) column[*impact.Kind] {
		return col(table.Column{Name: name, Title: title, Kind: table.Number, Show: show, Doc: doc}, func(_ *Env, k *impact.Kind) table.Cell {
			if v := of(k); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return table.OfFloat(v)
			}
			if k.State != impact.Unknown {
				return none()
			}
			return unknown()
		})
	}
	return []column[*impact.Kind]{
		col(table.Column{Name: "request", Vocabulary: true, Doc: "Kind of request: search, query, insert, upsert, delete, flush, ddl, load, import."},
			func(_ *Env, k *impact.Kind) table.Cell { return text(string(k.Request)) }),
		col(table.Column{Name: "state", Kind: table.State, Vocabulary: true, Doc: "hanging, failing, refused, slow, fine, idle (none came) or unknown."},
			func(_ *Env, k *impact.Kind) table.Cell { return text(k.State.String()) }),
		col(table.Column{Name: "clients", Title: "CLIENTS FEEL", For: table.People, Doc: "The state in words."},
			func(_ *Env, k *impact.Kind) table.Cell { return text(strings.TrimPrefix(k.Text(), "unknown: ")) }),
		counted("came", "", table.Wide, "Requests that came in the window.", func(k *impact.Kind) float64 { return k.Came }),
		counted("succeeded", "", table.Wide, "Requests that succeeded in it.", func(k *impact.Kind) float64 { return k.Succeeded }),
		counted("failed", "", table.Wide, "Requests that failed, or were given up by the client.", func(k *impact.Kind) float64 { return k.Failed }),
		counted("refused", "", table.Wide, "Requests that a limit, a quota or a state refused.", func(k *impact.Kind) float64 { return k.Refused }),
		counted("client_faults", "CLIENT FAULTS", table.Hidden, "Failures that Milvus ascribes to the request (2.6.20 and later).", func(k *impact.Kind) float64 { return k.UserFault }),
		counted("in_flight", "IN FLIGHT", table.Wide, "Requests in flight at both ends of the window, at proxies at which none ended.", func(k *impact.Kind) float64 { return k.InFlight }),
		measured("mean_ms", "MEAN MS", table.Wide, "Mean time of those that succeeded, in milliseconds.", func(k *impact.Kind) float64 { return k.Mean }),
		measured("past_ms", "BEFORE", table.Wide, "The same from the start of the proxies to the window.", func(k *impact.Kind) float64 { return k.Past }),
		measured("p99_ms", "P99 MS", table.Wide, "Upper bound of the bucket of the 99th percentile, in milliseconds.", func(k *impact.Kind) float64 { return k.P99 }),
		measured("seconds", "", table.Hidden, "Length of the window.", func(k *impact.Kind) float64 { return k.Seconds }),
		col(table.Column{Name: "proxies", Kind: table.List, Show: table.Hidden, Doc: "Proxies at which requests fail, are refused or hang."}, func(_ *Env, k *impact.Kind) table.Cell {
			names := make([]string, len(k.Proxies))
			for i, p := range k.Proxies {
				names[i] = p.Name
			}
			return list(names)
		}),
		col(table.Column{Name: "why", Show: table.Hidden, Doc: "Why the state is unknown."}, func(_ *Env, k *impact.Kind) table.Cell { return text(k.Why) }),
	}
}
