package serving

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// loadMismatch finds collections of which etcd and QueryCoord do not say the same.
var loadMismatch = &check.Check{
	ID:       "load-state-mismatch",
	Title:    "Load state in etcd is not what QueryCoord has",
	Severity: check.Error,
	Since:    "0.3",
	Doc: `QueryCoord keeps load states in etcd and works from its own memory. A finding is a collection that is Loaded in etcd and that QueryCoord does not list as loaded, or lists as not
available or not complete: clients get "collection not loaded" though it seems to be (milvus issue 45108). As information: a collection that QueryCoord lists and etcd
does not have, which a restart of QueryCoord would forget.

Metadata and QueryCoord's answer are seconds apart: a load or release in between shows as one of these, once. Where they are more than 10 seconds apart, as a file and a recording may be,
a collection of which QueryCoord and all query nodes have nothing is information only. So is one of which QueryCoord has a part in the first 2 minutes after its start (seen on 2.3.5: 0% of
most collections four seconds after it, none half a minute later).`,
	Remedy:      `Look again. If it stays, restart QueryCoord, which then reads etcd; else release the collection and load it again.`,
	Parts:       model.PartServing | model.PartObjects,
	Needs:       check.NeedQueryCoord,
	Run:         runLoadMismatch,
	Roles:       []string{"querycoord", "querynode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "node-unreachable", "no-shard-leader", "replica-short"),
}

func runLoadMismatch(p *check.Pass) error {
	if p.Runtime.Loaded == nil {
		return p.Skip("QueryCoord did not say which collections it has loaded" + facts.Because(facts.Coordinators(p.Runtime, "querycoord")))
	}
	partly, since := check.Warning, ""
	if at := coordStarted(p); !at.IsZero() && p.AskedAt().Sub(at) < facts.SettlesAfter {
		partly, since = check.Info, ": it started "+words.Span(p.AskedAt().Sub(at))+" ago and takes stock"
	}
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if l.Status != "Loaded" || x == nil || x.Dropped() {
			continue
		}
		switch c := p.Runtime.LoadedCollection(l.Collection); {
		case c == nil && unheardOf(p, l.Collection) && p.Now.Sub(p.AskedAt()).Abs() > facts.Agreeing:
			apart, when := p.Now.Sub(p.AskedAt()), "before"
			if apart < 0 {
				apart, when = -apart, "after"
			}
			reportMismatch(p, l.Collection, check.Info, "is loaded by etcd, and neither QueryCoord nor a query node has anything of it: they were asked "+
				words.Span(apart)+" "+when+" the metadata was read", check.Figure{Text: "not listed"})
		case c == nil:
			reportMismatch(p, l.Collection, check.Error, "is loaded by etcd, and QueryCoord does not have it", check.Figure{Text: "not listed"})
		case c.Percent < 100 && slices.ContainsFunc(l.Partitions, func(x model.PartitionLoad) bool { return x.Status == "Loading" }):
			reportMismatch(p, l.Collection, check.Info, fmt.Sprintf("is loaded, and QueryCoord has %d%% of it: partitions are being loaded", c.Percent), percent(c))
		case c.Percent < 100:
			reportMismatch(p, l.Collection, partly, fmt.Sprintf("is loaded by etcd, and QueryCoord has %d%% of it", c.Percent)+since, percent(c))
		case !c.Available:
			reportMismatch(p, l.Collection, partly, "is loaded by etcd, and QueryCoord says that it is not available"+since, check.Figure{Text: "not available"})
		}
	}
	for _, c := range p.Runtime.Loaded {
		if x := p.Collection(c.Collection); x != nil && !x.Dropped() && p.LoadState(c.Collection) == nil {
			reportMismatch(p, c.Collection, check.Info, "is loaded by QueryCoord, and etcd does not know", percent(c))
		}
	}
	return nil
}

// coordStarted is when QueryCoord started, zero if that is unknown.
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

// percent is how much of a collection QueryCoord has loaded.
func percent(c *model.LoadedCollection) check.Figure {
	return check.Number(float64(c.Percent), "percent", "%.0f%%")
}

func reportMismatch(p *check.Pass, id model.CollectionID, s check.Severity, what string, coord check.Figure) {
	state := "none"
	if l := p.LoadState(id); l != nil {
		state = l.Status
	}
	f := check.Finding{
		Severity: s, Object: facts.RefCollection(p.Cluster, id), Message: "collection " + facts.CollectionLabel(p.Cluster, id) + " " + what,
		Evidence: []check.Evidence{check.Fact("load state", state, "etcd"), check.Measured("QueryCoord's", "QueryCoord ShowCollections", "%s", coord)},
		Impact:   "Searches fail, or do not see all rows.", Hint: "look again; if it stays, " + check.RestartQueryCoord(p.Cluster) + ", or release and load the collection",
	}
	switch s {
	case check.Error:
		f.Cost = p.Losing(1)
	case check.Info:
		f.Impact = "None now; after a restart of QueryCoord it is no longer loaded."
		f.Hint = "look again; if it stays and is to be searched, load it once more, so that etcd knows: " + collectionCall(p.Cluster, id, "load()")
		switch {
		case state == "Loaded" && coord.Text != "not listed":
			f.Impact, f.Hint = "Searches of it, or of partitions that are not loaded yet, may fail.", "look again in a minute"
		case state == "Loaded":
			f.Impact, f.Hint = "None if it was loaded or released in between; else every search of it fails.", "look again, with processes and metadata of one time"
		}
	case check.Warning:
	}
	p.Report(f)
}
