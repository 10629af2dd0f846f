package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// loadMismatch reports collections whose load states in etcd and in QueryCoord differ.
var loadMismatch = &check.Check{
	ID:       "load-state-mismatch",
	Title:    "Load state in etcd differs from QueryCoord",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.SearchesStale, check.LoadsHang},
	Starts:   "collection_released collection_loading collection_loaded | node_joined:querycoord node_lost:querycoord",
	Doc: `Clients get "collection not loaded" although the collection seems loaded (Milvus issue 45108). QueryCoord
keeps load states in etcd and works from its own memory. Reported: a collection that is Loaded in etcd and that
QueryCoord does not list as loaded, or lists as not available or incomplete. Info: a collection that QueryCoord lists
and etcd does not have; a restart of QueryCoord would lose it.

Metadata and QueryCoord's answer are seconds apart: a load or release in between is reported once. If they are more
than 10 seconds apart, as a file and a recording may be, a collection that neither QueryCoord nor any query node has
is info only. So is one that QueryCoord has in part in the first 2 minutes after its start (seen on 2.3.5: 0% of most
collections four seconds after it, none half a minute later).`,
	Remedy: `Run the check again. If it stays, restart QueryCoord, which then reads etcd; or release the
collection and load it again.`,
	Parts:       model.PartServing | model.PartObjects,
	Needs:       check.NeedQueryCoord,
	Run:         runLoadMismatch,
	Roles:       []string{"querycoord", "querynode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "node-unreachable", "no-shard-leader", "replica-short"),
}

func runLoadMismatch(p *check.Pass) {
	if p.Runtime.Loaded == nil {
		p.Skip("QueryCoord did not report its loaded collections" +
			facts.ReasonSuffix(facts.Coordinators(p.Runtime, "querycoord")))
		return
	}
	partly, since := check.Warning, ""
	if at := coordStarted(p); !at.IsZero() && p.AskedAt().Sub(at) < facts.WarmupPeriod {
		partly, since = check.Info, ": it started "+words.Span(p.AskedAt().Sub(at))+" ago and is still collecting"
	}
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if l.Status != "Loaded" || x == nil || x.Dropped() {
			continue
		}
		switch c := p.Runtime.LoadedCollection(l.Collection); {
		case c == nil && hasNoData(p, l.Collection) && p.Now.Sub(p.AskedAt()).Abs() > facts.ClockTolerance:
			apart, when := p.Now.Sub(p.AskedAt()), "before"
			if apart < 0 {
				apart, when = -apart, "after"
			}
			reportMismatch(p, l.Collection, check.Info, "is Loaded in etcd, "+
				"but neither QueryCoord nor any query node has it: they were queried "+
				words.Span(apart)+" "+when+" the metadata was read", check.Figure{Text: "not listed"})
		case c == nil:
			reportMismatch(p, l.Collection, check.Error, "is Loaded in etcd, but QueryCoord does not list it",
				check.Figure{Text: "not listed"})
		case c.Percent < 100 &&
			slices.ContainsFunc(l.Partitions, func(x model.PartitionLoad) bool { return x.Status == "Loading" }):
			reportMismatch(p, l.Collection, check.Info,
				fmt.Sprintf("is Loaded, QueryCoord has %d%% of it: partitions are being loaded", c.Percent), percent(c))
		case c.Percent < 100:
			reportMismatch(p, l.Collection, partly,
				fmt.Sprintf("is Loaded in etcd, but QueryCoord has only %d%% of it", c.Percent)+since, percent(c))
		case !c.Available:
			reportMismatch(p, l.Collection, partly,
				"is Loaded in etcd, but QueryCoord reports it as not available"+since,
				check.Figure{Text: "not available"})
		}
	}
	for _, c := range p.Runtime.Loaded {
		if x := p.Collection(c.Collection); x != nil && !x.Dropped() && p.LoadState(c.Collection) == nil {
			reportMismatch(p, c.Collection, check.Info, "is loaded in QueryCoord, but not in etcd", percent(c))
		}
	}
}

// reloadStep returns a step that releases a collection and loads it again. It is empty if the collection has no
// record.
func reloadStep(p *check.Pass, id model.CollectionID) check.Step {
	x := p.Collection(id)
	if x == nil {
		return check.Step{}
	}
	return check.Reload(p.Cluster, x).Does("loads it again, as a last resort")
}

// coordStarted returns the time at which QueryCoord started, or zero if it is unknown.
func coordStarted(p *check.Pass) (at time.Time) {
	for _, role := range []string{"querycoord", "mixcoord"} {
		for _, n := range facts.Coordinators(p.Runtime, role) {
			if n.StartedAt().After(at) {
				at = n.StartedAt()
			}
		}
	}
	return at
}

// percent returns the loaded percentage of a collection in QueryCoord.
func percent(c *model.LoadedCollection) check.Figure {
	return check.Number(float64(c.Percent), "percent", "%.0f%%")
}

func reportMismatch(p *check.Pass, id model.CollectionID, s check.Severity, what string, coord check.Figure) {
	state := "none"
	if l := p.LoadState(id); l != nil {
		state = l.Status
	}
	f := check.Finding{
		Severity: s, Object: facts.RefCollection(p.Cluster, id),
		Message: "collection " + facts.CollectionLabel(p.Cluster, id) + " " + what,
		Evidence: []check.Evidence{
			check.Fact("load state", state, "etcd"),
			check.Factf("load state in QueryCoord", "QueryCoord ShowCollections", "%s", coord),
		},
		Impact: "Searches fail, or miss rows.",
		Fix: check.Fix(check.Do("if it lasts for a minute, restart QueryCoord").
			Restarting(p.Cluster, 2*time.Minute, "querycoord"), reloadStep(p, id)),
	}
	switch s {
	case check.Error:
		f.Cost = p.ClusterLoss(1)
	case check.Info:
		f.Impact = "None yet; after a restart of QueryCoord it will not be loaded."
		f.Fix = nil
		if x := p.Collection(id); x != nil {
			f.Fix = check.Fix(check.Reload(p.Cluster, x).
				Does("records the load in etcd; loading alone does not, because QueryCoord already has it"))
		}
		switch {
		case state == "Loaded" && coord.Text != "not listed":
			f.Impact, f.Fix = "Searches of it, or of partitions that are not loaded yet, may fail.",
				check.Fix(check.Do("wait a minute for the load to finish"))
		case state == "Loaded":
			f.Impact = "None if it was loaded or released in between; otherwise every search of it fails."
			f.Fix = check.Fix(check.Do("run the check again with processes and metadata from the same time"))
		}
	case check.Warning:
	}
	p.Report(f)
}
