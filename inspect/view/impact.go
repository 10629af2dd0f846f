package view

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/impact"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
	"kitescope/internal/table"
)

// impactRow is the impact on one kind of request, and the place where it breaks. place is nil if the kind is
// neither affected nor in doubt.
type impactRow struct {
	*impact.Kind
	place *place.Place
}

var impacts = define(definition[impactRow]{
	Resource: Resource{
		Schema:  table.Schema{Name: "impact", Singular: "impact", Handle: "request"},
		Doc:     "Impact on clients: requests by kind, and how many succeeded, failed, were refused or hang.",
		Needs:   model.PartRuntime,
		Rates:   true,
		Missing: unseenImpact,
		Equal:   sameImpact,
	},
	rows: func(e *Env) []impactRow {
		x := impact.Measure(e.Cluster)
		places := place.Find(e.Cluster, x)
		rows := make([]impactRow, len(x.Kinds))
		for i := range x.Kinds {
			rows[i] = impactRow{&x.Kinds[i], places.For(x.Kinds[i].Request)}
		}
		return rows
	},
	columns: impactColumns(),
	ref:     func(_ *Env, k impactRow) Ref { return Ref{ID: string(k.Request), Name: string(k.Request)} },
	owner: func(_ *Env, k impactRow) (Ref, bool) {
		at := k.status()
		return at.Component.Ref(), at.Component.Ref() != Ref{}
	},
})

// unseenImpact returns the reasons why requests may be unseen, or why the state of a kind of request is
// unknown.
func unseenImpact(c *model.Cluster) []string {
	x := impact.Measure(c)
	list := x.Unseen
	for i := range x.Kinds {
		if k := &x.Kinds[i]; k.State == impact.Unknown && len(x.Unseen) == 0 &&
			!slices.Contains(list, "requests: "+k.Why) {
			list = append(list, "requests: "+k.Why)
		}
	}
	return list
}

// sameImpact reports whether state and place of a kind of request are equal. Idle, fine and unsure count as
// equal. It ignores the figures because they differ each time.
func sameImpact(a Table, i int, b Table, j int, _ []int) bool {
	feel := func(t Table, row int) (parts [2]string) {
		for n, name := range []string{"state", "place"} {
			parts[n] = t.Cell(row,
				slices.IndexFunc(t.Resource().Columns, func(c table.Column) bool { return c.Name == name })).Text
		}
		switch parts[0] {
		case impact.Idle.String(), impact.Fine.String(), impact.Unsure.String():
			return [2]string{}
		}
		return parts
	}
	return feel(a, i) == feel(b, j)
}

// status returns the status of the component where requests break. It returns a zero Status if that is unknown.
func (k impactRow) status() *place.Status {
	if k.place == nil || k.place.Status == nil {
		return &place.Status{}
	}
	return k.place.Status
}

// countColumn returns a column of a number of requests or segments.
func countColumn(name, title string, show table.Show, doc string, of func(impactRow) float64) column[impactRow] {
	return col(table.Column{Name: name, Title: title, Kind: table.Int, Show: show, Doc: doc},
		func(_ *Env, k impactRow) table.Cell {
			if k.State == impact.Unknown && k.Seconds == 0 && of(k) == 0 {
				return unknown()
			}
			return count(int64(math.Round(of(k))))
		})
}

// figureColumn returns a column of a figure that is NaN if it is unknown.
func figureColumn(name, title string, show table.Show, doc string, of func(impactRow) float64) column[impactRow] {
	return col(table.Column{Name: name, Title: title, Kind: table.Number, Show: show, Doc: doc},
		func(_ *Env, k impactRow) table.Cell {
			if v := of(k); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return table.OfFloat(v)
			}
			if k.State != impact.Unknown {
				return none()
			}
			return unknown()
		})
}

// impactColumns returns the columns of impact. Figures of a kind whose state is unknown are unknown.
func impactColumns() []column[impactRow] {
	return slices.Concat(stateColumns(), figureColumns(), detailColumns())
}

// stateColumns returns the state and place of a kind of request.
func stateColumns() []column[impactRow] {
	return []column[impactRow]{
		col(table.Column{
			Name: "request", Vocabulary: true,
			Doc: "Kind of request: search, query, insert, upsert, delete, flush, ddl, load, import, describe (reads " +
				"of metadata).",
		},
			func(_ *Env, k impactRow) table.Cell { return text(string(k.Request)) }),
		col(table.Column{
			Name: "state", Kind: table.State, Vocabulary: true,
			Doc: "hanging, failing, refused, slow, unsure (too few to tell), fine, idle (no requests) or unknown.",
		},
			func(_ *Env, k impactRow) table.Cell { return text(k.State.String()) }),
		col(table.Column{Name: "clients", Title: "IMPACT", For: table.People, Doc: "The state in words."},
			func(_ *Env, k impactRow) table.Cell { return text(strings.TrimPrefix(k.Text(), "unknown: ")) }),
		col(table.Column{
			Name: "place", Title: "WHERE",
			Doc: "Component where requests of this kind break, if known.",
		}, func(_ *Env, k impactRow) table.Cell {
			if at := k.status(); at.Component.Kind != "" {
				return text(cmp.Or(at.Component.Name, string(at.Component.Kind)))
			}
			return none()
		}),
		col(table.Column{
			Name: "place_state", Title: "IS", Kind: table.State, Priority: 3,
			Doc: "Its state: gone, hanging, failing, refusing, slow, starved.",
		}, func(_ *Env, k impactRow) table.Cell {
			if at := k.status(); at.Component.Kind != "" {
				return text(at.State.String())
			}
			return none()
		}),
	}
}

// figureColumns returns the counts and durations of a kind of request.
func figureColumns() []column[impactRow] {
	return []column[impactRow]{
		countColumn("came", "", table.Wide, "Requests in the window.", func(k impactRow) float64 { return k.Received }),
		countColumn("succeeded", "", table.Wide,
			"Requests that succeeded in it.", func(k impactRow) float64 { return k.Succeeded }),
		countColumn("failed", "", table.Wide,
			"Requests that failed or were canceled by the client.", func(k impactRow) float64 { return k.Failed }),
		countColumn("refused", "", table.Wide,
			"Requests refused because of a limit, a quota or a state.", func(k impactRow) float64 { return k.Refused }),
		countColumn("client_faults", "CLIENT FAULTS", table.Hidden,
			"Failures that Milvus ascribes to the request (2.6.20 and later).",
			func(k impactRow) float64 { return k.UserFault }),
		figureColumn("usual", "USUAL", table.Wide,
			"Mean number of requests in a window of this length since each proxy started; unknown within its first "+
				"minute.",
			func(k impactRow) float64 { return k.Usual }),
		countColumn("unwritten", "UNWRITTEN", table.Wide,
			"Sealed segments waiting to be written while no flush ends.",
			func(k impactRow) float64 { return k.Unwritten }),
		countColumn("in_flight", "IN FLIGHT", table.Wide,
			"Requests in flight at both ends of the window, at proxies at which none ended.",
			func(k impactRow) float64 { return k.InFlight }),
		figureColumn("mean_ms", "MEAN MS", table.Wide,
			"Mean time of successful requests, in milliseconds.", func(k impactRow) float64 { return k.Mean }),
		figureColumn("past_ms", "BEFORE", table.Wide,
			"The same from the start of the proxies to the window.", func(k impactRow) float64 { return k.Past }),
		figureColumn("half_ms", "HALF MS", table.Hidden,
			"Median time, the lower bound of its bucket, in milliseconds.",
			func(k impactRow) float64 { return k.Median }),
		figureColumn("half_past_ms", "HALF BEFORE", table.Hidden,
			"Median time before, the upper bound of its bucket, in milliseconds.",
			func(k impactRow) float64 { return k.PastMedian }),
		figureColumn("p99_ms", "P99 MS", table.Wide,
			"Upper bound of the bucket of the 99th percentile, in milliseconds.",
			func(k impactRow) float64 { return k.P99 }),
		figureColumn("seconds", "", table.Hidden,
			"Length of the window.", func(k impactRow) float64 { return k.Seconds }),
	}
}

// detailColumns returns the columns that tables hide.
func detailColumns() []column[impactRow] {
	return []column[impactRow]{
		col(table.Column{
			Name: "proxies", Kind: table.List, Show: table.Hidden,
			Doc: "Proxies at which requests fail, are refused or hang.",
		}, func(_ *Env, k impactRow) table.Cell {
			names := make([]string, len(k.Proxies))
			for i, p := range k.Proxies {
				names[i] = p.Name
			}
			return list(names)
		}),
		col(table.Column{
			Name: "place_evidence", Kind: table.List, Show: table.Hidden,
			Doc: "Evidence for its state, best first.",
		},
			func(_ *Env, k impactRow) table.Cell { return list(k.status().Texts()) }),
		col(table.Column{Name: "why", Show: table.Hidden, Doc: "Why the state is unknown."},
			func(_ *Env, k impactRow) table.Cell { return text(k.Why) }),
	}
}
