package rules

import (
	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// fewRequests reports that there were too few requests to break down their latency.
var fewRequests = &check.Check{
	ID:       "few-requests",
	Title:    "Too few requests to break down their latency",
	Severity: check.Info,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_left:proxy node_lost:proxy | collection_loaded",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Doc: `In a window with few requests the slowest one dominates the mean. With fewer than 30 searches, queries
or writes in the window, latency checks report info only, and this finding notes it. No action is needed. Not
reported: a window without any requests.`,
	Remedy: `Measure under load, or longer: ` + "`--window 60s`" + `. Without a second scrape the window is the time
since each process started.`,
	Run:      runFewRequests,
	Requests: []string{"proxy"},
}

func runFewRequests(p *check.Pass) {
	var few []*budget.Budget
	for _, kind := range []budget.Request{budget.Search, budget.Query, budget.Insert, budget.Upsert, budget.Delete} {
		if b := overall(p, kind); b != nil && b.Root.Known && b.Requests < minRequests {
			few = append(few, b)
		} else if b != nil && b.Root.Known && (kind == budget.Search) {
			return // there are enough searches to judge the cluster by
		}
	}
	if len(few) == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Info,
		Impact:   "The figures come from few requests and mean little.",
		Fix: check.Fix(check.Shell(check.Kitescope("diagnose --window 60s")).
			Does("measures longer; run it under load")),
	}
	var names []string
	for _, b := range few {
		names = append(names, countText(b))
		f.Evidence = append(f.Evidence, check.Factf("mean "+budget.Requests(b), "proxies /metrics", "%s", millis(b.Ms)))
	}
	f.Message = "too few requests to break down their latency: " + words.Summarize(names)
	if why := p.Latency().Window.Why; why != "" {
		f.Evidence = append(f.Evidence, check.Fact("window", why, ""))
	}
	p.Report(f)
}

// countText returns the number of requests with their kind, e.g. "12 searches".
func countText(b *budget.Budget) string {
	n := int64(b.Requests)
	name := string(b.Request)
	switch {
	case n == 1:
	case b.Request == budget.Search:
		name = "searches"
	case b.Request == budget.Query:
		name = "queries"
	default:
		name += "s"
	}
	return words.Number(n) + " " + name
}
