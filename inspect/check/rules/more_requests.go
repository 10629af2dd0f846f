package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kitescope/inspect/check"
	requests "kitescope/inspect/impact"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// Thresholds of more-requests.
const (
	// surgeTimes is the minimum ratio of the rate in the window to the average rate before.
	surgeTimes = 5
	// surgeLeast is the minimum number of requests, vectors or rows in the window, surgeRare that of rare
	// kinds of requests.
	surgeLeast, surgeRare = 20, 3
	// surgePast is the minimum time since the start of a proxy, in seconds, for an average.
	surgePast = 60
)

// moreRequests reports that clients send far more requests, vectors or rows than on average before, while
// requests fail or are slow.
var moreRequests = &check.Check{
	ID:       "more-requests", // check.MoreRequests
	Title:    "Clients send far more requests than before",
	Severity: check.Warning,
	Slowness: true,
	Symptoms: []string{check.SearchesSlow, check.SearchesFail, check.WritesFail, check.FlushesHang},
	Starts:   "collection_loaded | config_changed:quota",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Doc: `One client's load makes all requests slow. The check compares counts of proxies between two scrapes with
their average since the start: requests of each kind, vectors searched, rows inserted and deleted, and the hits (topk)
that each search requests. Warning if requests are slow, fail or hang, and a count is at least five times the average
(20 or more in the window; three flushes, loads or DDL requests). It is the cause of slow requests on the same path if
the component where they wait uses half a core or more, or its host lacks CPU.

Unknown: proxies that started less than a minute ago, and rows and vectors of 2.5 and later, which proxies count for
each collection until it is dropped.`,
	Remedy: `Find the client that sends them (` + "`proxy.accessLog.enable`" + ` logs the address of each request) and
slow it down, or limit the rate: ` + "`quotaAndLimits.dql`" + `, ` + "`quotaAndLimits.dml`" + `,
` + "`quotaAndLimits.flushRate`" + `.`,
	Run:      runMoreRequests,
	Requests: []string{"proxy"},
}

// perSecond and perSearch are the units of surges.
const perSecond, perSearch = "a second", "a search"

// surge is a kind of requests, vectors, rows or hits of which clients send or request far more than before.
type surge struct {
	what, per   string
	request     requests.Request
	now, before float64
}

// ratio returns the ratio of the rate to the rate before. It is infinite if the rate before is 0.
func (s *surge) ratio() float64 { return s.now / s.before }

func runMoreRequests(p *check.Pass) {
	x := p.Impact()
	if len(x.Affected()) == 0 {
		return
	}
	list := surges(p)
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b surge) int { return cmp.Compare(b.ratio(), a.ratio()) })
	f := check.Finding{
		Object: model.Ref{Resource: "requests", ID: "clients", Name: "clients"}, Severity: check.Warning,
		Message: list[0].text(),
		Impact:  "Other requests wait until the cluster has done this work.",
		Fix: check.Fix(
			check.Do("find the client that sends them (proxy.accessLog.enable logs the address of each request) and "+
				"slow it down"),
			check.Shell(check.Kitescope("why")).Does("shows where the time of the requests goes"),
		),
	}
	for i := range list {
		s, unit, source := &list[i], "per second", "proxies /metrics"
		if s.per == perSearch {
			unit, source = "count", "query nodes milvus_querynode_search_topk"
		}
		f.Objects = append(f.Objects, model.Ref{Resource: "requests", ID: s.request.Path(), Name: s.request.Path()})
		f.Evidence = append(f.Evidence, check.Factf(s.what, source, "%s %s, %s before",
			check.Figure{Value: s.now, Unit: unit, Text: rate(s.now)}, s.per,
			check.Figure{Value: s.before, Unit: unit, Text: rate(s.before)}))
	}
	slices.SortFunc(f.Objects, func(a, b model.Ref) int { return cmp.Compare(a.ID, b.ID) })
	f.Objects = slices.Compact(f.Objects)
	p.Report(f)
}

// countsByCollection reports whether a counter has a series for each collection (2.5 and later). A proxy deletes the
// series of a dropped collection, so an average since the proxy's start cannot be computed from such a counter.
func countsByCollection(w *metrics.Window, name metrics.Name) (of bool) {
	w.EachCounter(name, func(labels []model.Pair, _ float64) {
		of = of || (model.Series{Labels: labels}).Label("collection_name") != ""
	})
	return of
}

// surged reports whether clients send more of the requests that an effect slows, or of others on their path.
func surged(_ *model.Cluster, effect, cause *check.Finding) bool {
	return slices.ContainsFunc(effect.Slows, func(s check.Slowdown) bool {
		return check.Surged(cause, requests.Request(s.Request))
	})
}

// text formats a surge, e.g. "clients send 33 times as many searches as before: 400 a second, 12.1 on average
// before".
func (s *surge) text() string {
	verb := "send"
	if s.per == perSearch {
		verb = "request"
	}
	if s.before == 0 {
		return fmt.Sprintf("clients now %s %s (none before): %s %s", verb, s.what, rate(s.now), s.per)
	}
	return fmt.Sprintf("clients %s %.0f times as many %s as before: %s %s, %s on average before",
		verb, s.ratio(), s.what, rate(s.now), s.per, rate(s.before))
}

// surges returns the requests, vectors and rows that come far more often than before.
func surges(p *check.Pass) (list []surge) {
	add := func(of requests.Request, what string, came, usual, seconds, least float64) {
		if seconds > 0 && came >= least && came >= surgeTimes*usual {
			list = append(list, surge{what, perSecond, of, came / seconds, usual / seconds})
		}
	}
	x := p.Impact()
	for i := range x.Kinds {
		k := &x.Kinds[i]
		least := float64(surgeLeast)
		switch k.Request {
		case requests.Flush, requests.DDL, requests.Load, requests.Import:
			least = surgeRare
		case requests.Describe: // clients send these before other requests
			continue
		case requests.Search, requests.Query, requests.Insert, requests.Upsert, requests.Delete:
		}
		if !math.IsNaN(k.Usual) {
			add(k.Request, k.Request.Plural(), k.Received, k.Usual, k.Seconds, least)
		}
	}
	for _, amount := range []struct {
		of   requests.Request
		what string
		name metrics.Name
	}{
		{requests.Search, "query vectors", metrics.ProxyVectors},
		{requests.Insert, "rows to insert", metrics.ProxyInserted},
		{requests.Delete, "rows to delete", metrics.ProxyDeleted},
	} {
		came, usual, seconds := 0.0, 0.0, 0.0
		for _, proxy := range processes(p, "proxy") {
			w := proxy.window
			past := metrics.NewWindow(nil, proxy.node.Process.Before)
			n, ok := w.Counter(amount.name)
			was, _ := past.Counter(amount.name)
			if !ok || w.SinceStart || past.Seconds() < surgePast || countsByCollection(past, amount.name) {
				continue
			}
			came, usual, seconds = came+n, usual+was/past.Seconds()*w.Seconds(), max(seconds, w.Seconds())
		}
		add(amount.of, amount.what, came, usual, seconds, surgeLeast)
	}
	now, before := searchLimits(p)
	if before > 0 && now >= surgeTimes*before {
		list = append(list, surge{"hits", perSearch, requests.Search, now, before})
	}
	return list
}

// searchLimits returns the mean number of hits (topk) that searches asked for in the window, and before it. It returns
// zeros if a number is unknown.
func searchLimits(p *check.Pass) (now, before float64) {
	var in, past metrics.Histogram
	for _, node := range processes(p, "querynode", "streamingnode", "standalone") {
		w := node.window
		if w.SinceStart {
			continue
		}
		if h, ok := w.Histogram(metrics.RequestTopK); ok {
			in = in.Plus(h)
		}
		if h, ok := metrics.NewWindow(nil, node.node.Process.Before).Histogram(metrics.RequestTopK); ok {
			past = past.Plus(h)
		}
	}
	now, _, known := in.Mean()
	before, _, had := past.Mean()
	if !known || !had || in.Count < surgeRare || past.Count < surgeLeast {
		return 0, 0
	}
	return now, before
}
