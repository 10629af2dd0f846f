package check

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// LoadMismatch finds collections of which etcd and QueryCoord do not say the same.
var LoadMismatch = &Check{
	ID:       "load-state-mismatch",
	Title:    "Load state in etcd is not what QueryCoord has",
	Severity: Error,
	Since:    "0.3",
	Doc: `
QueryCoord keeps load states in etcd and works from its own memory. A finding is a collection that is Loaded in etcd and that QueryCoord does not list as loaded, or lists as not
available or not complete: clients get "collection not loaded" though it seems to be (milvus issue 45108). As information: a collection that QueryCoord lists and etcd
does not have, which a restart of QueryCoord would forget.

Metadata and QueryCoord's answer are seconds apart: a load or release in between shows as one of these, once. Where they are more than 10 seconds apart, as a file and a recording may be,
a collection of which QueryCoord and all query nodes have nothing is information only. So is one of which QueryCoord has a part in the first 2 minutes after its start (seen on 2.3.5: 0 % of
most collections four seconds after it, none half a minute later).
`,
	Remedy: `
Look again. If it stays, restart QueryCoord, which then reads etcd; else release the collection and load it again.
`,
	Parts: model.PartServing | model.PartObjects,
	Needs: NeedQueryCoord,
	Run:   runLoadMismatch,
	Roles: []string{"querycoord", "querynode"},
	FollowsFrom: []Cause{
		{Check: "node-unreachable", Of: shares("collections")},
		{Check: "no-shard-leader", Of: shares("collections")},
		{Check: "replica-short", Of: shares("collections")},
	},
}

func runLoadMismatch(p *Pass) error {
	if p.Runtime.Loaded == nil {
		return p.Skip("QueryCoord did not say which collections it has loaded" + because(coordinators(p.Runtime, "querycoord")))
	}
	partly, since := Warning, ""
	if at := p.coordStarted(); !at.IsZero() && p.askedAt().Sub(at) < settlesAfter {
		partly, since = Info, ": it started "+span(p.askedAt().Sub(at))+" ago and takes stock"
	}
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if l.Status != "Loaded" || x == nil || x.Dropped() {
			continue
		}
		switch c := p.Runtime.LoadedCollection(l.Collection); {
		case c == nil && p.unheardOf(l.Collection) && p.Now.Sub(p.askedAt()).Abs() > agreeing:
			apart, when := p.Now.Sub(p.askedAt()), "before"
			if apart < 0 {
				apart, when = -apart, "after"
			}
			p.reportMismatch(l.Collection, Info, "is loaded by etcd, and neither QueryCoord nor a query node has anything of it: they were asked "+
				span(apart)+" "+when+" the metadata was read", "not listed")
		case c == nil:
			p.reportMismatch(l.Collection, Error, "is loaded by etcd, and QueryCoord does not have it", "not listed")
		case c.Percent < 100 && slices.ContainsFunc(l.Partitions, func(x model.PartitionLoad) bool { return x.Status == "Loading" }):
			p.reportMismatch(l.Collection, Info, fmt.Sprintf("is loaded, and QueryCoord has %d %% of it: partitions are being loaded", c.Percent), fmt.Sprintf("%d %%", c.Percent))
		case c.Percent < 100:
			p.reportMismatch(l.Collection, partly, fmt.Sprintf("is loaded by etcd, and QueryCoord has %d %% of it", c.Percent)+since, fmt.Sprintf("%d %%", c.Percent))
		case !c.Available:
			p.reportMismatch(l.Collection, partly, "is loaded by etcd, and QueryCoord says that it is not available"+since, "not available")
		}
	}
	for _, c := range p.Runtime.Loaded {
		if x := p.Collection(c.Collection); x != nil && !x.Dropped() && p.LoadState(c.Collection) == nil {
			p.reportMismatch(c.Collection, Info, "is loaded by QueryCoord, and etcd does not know", fmt.Sprintf("%d %%", c.Percent))
		}
	}
	return nil
}

// coordStarted is when QueryCoord started, zero if that is unknown.
func (p *Pass) coordStarted() (at time.Time) {
	for _, role := range []string{"querycoord", "mixcoord"} {
		for _, n := range coordinators(p.Runtime, role) {
			if n.StartedAt().After(at) {
				at = n.StartedAt()
			}
		}
	}
	return at
}

func (p *Pass) reportMismatch(id model.CollectionID, s Severity, what, coord string) {
	state := "none"
	if l := p.LoadState(id); l != nil {
		state = l.Status
	}
	f := Finding{
		Severity: s, Object: refCollection(p.Cluster, id), Message: "collection " + collectionLabel(p.Cluster, id) + " " + what,
		Evidence: []Evidence{{"load state", state, "etcd"}, {"QueryCoord's", coord, "QueryCoord ShowCollections"}},
		Impact:   "Searches fail, or do not see all rows.", Hint: "look again; if it stays, " + restartQueryCoord(p.Cluster) + ", or release and load the collection",
	}
	switch s {
	case Error:
		f.Cost = p.losing(1)
	case Info:
		f.Impact = "None now; after a restart of QueryCoord it is no longer loaded."
		f.Hint = "look again; if it stays and is to be searched, load it once more, so that etcd knows: " + collectionCall(p.Cluster, id, "load()")
		switch {
		case state == "Loaded" && coord != "not listed":
			f.Impact, f.Hint = "Searches of it, or of partitions that are not loaded yet, may fail.", "look again in a minute"
		case state == "Loaded":
			f.Impact, f.Hint = "None if it was loaded or released in between; else every search of it fails.", "look again, with processes and metadata of one time"
		}
	case Warning:
	}
	p.Report(f)
}
