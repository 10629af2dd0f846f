package check

import (
	"fmt"
	"time"

	"kitescope/inspect/model"
)

// LoadStuck finds collections that are being loaded and do not get on.
var LoadStuck = &Check{
	ID:       "load-stuck",
	Title:    "Loading a collection does not get on",
	Severity: Warning,
	Since:    "0.3",
	Doc: `
While a collection loads its state in etcd is Loading, and QueryCoord tells the percentage. A finding is a collection in that state of which no query node has been given a segment or a channel in the last 10 minutes,
the time after which QueryCoord itself gives up without progress (` + "`queryCoord.loadTimeoutSeconds`" + `: 600; milvus issues 21745, 39436, 45108). When something was loaded last is the
newest version of what nodes have of it. Where little is left to load, 2 minutes are enough (and a second for each 10 MiB), if no node has been given anything of any collection meanwhile: what DataCoord wants served and no node has is named.

A collection that has nothing on any node yet is an information: it may have been asked for this moment. Without the nodes' word it is unknown whether a load moves.
`,
	Remedy: `
See whether the query nodes have the memory (` + "`kitescope balance`" + `), whether DataCoord and the indexes are ready (index-missing, index-stuck), and QueryCoord's log for the collection. Release the collection, then load
it again.
`,
	Parts: model.PartServing | model.PartObjects | model.PartSegments | model.PartIndexes,
	Needs: NeedDistribution,
	Run:   runLoadStuck,
	Roles: []string{"querycoord", "querynode", "datacoord", "indexcoord", "rootcoord", "streamingnode"},
	FollowsFrom: []Cause{
		{Check: "files-missing", Of: shares("collections")},
		storageFails("querynode"),
		{Check: "node-unreachable", Of: shares("collections")},
		{Check: "replica-short", Of: shares("collections")},
		{Check: "index-missing", Of: shares("collections")},
		{Check: "index-stuck", Of: shares("collections")},
	},
}

func runLoadStuck(p *Pass) error {
	asked := p.askedAt()
	patience := p.seconds("queryCoord.loadTimeoutSeconds", 10*time.Minute, "querycoord", "mixcoord")
	var last map[model.CollectionID]time.Time
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if l.Status != "Loading" || x == nil || x.Dropped() {
			continue
		}
		if last == nil {
			last = p.lastLoads()
		}
		at, began := last[l.Collection]
		switch {
		case !began:
			p.reportLoading(l, at, asked)
		case at.IsZero():
			p.Unseen("collection " + collectionLabel(p.Cluster, l.Collection) + ": when something of it was loaded last")
		case asked.Sub(at) > min(patience, loadGrace),
			asked.Sub(newest(last)) > p.leftToLoad(l.Collection).patience(min(patience, loadGrace)):
			p.reportLoading(l, at, asked)
		}
	}
	return nil
}

// lastLoads is, by collection, when a node was last given something of it: zero if that is no time.
func (p *Pass) lastLoads() map[model.CollectionID]time.Time {
	last := make(map[model.CollectionID]time.Time)
	note := func(id model.CollectionID, version int64) {
		if at := versionTime(version); !at.Before(last[id]) {
			last[id] = at
		}
	}
	for _, n := range p.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Sealed {
			note(n.Distribution.Sealed[i].Collection, n.Distribution.Sealed[i].Version)
		}
		for i := range n.Distribution.Channels {
			note(n.Distribution.Channels[i].Collection, n.Distribution.Channels[i].Version)
		}
	}
	return last
}

func (p *Pass) reportLoading(l *model.LoadState, at, asked time.Time) {
	name := collectionLabel(p.Cluster, l.Collection)
	f := Finding{
		Severity: Warning, Object: refCollection(p.Cluster, l.Collection),
		Impact: "The collection cannot be searched, or not all of it.", Cost: p.losing(1),
		Hint:     advise("look at QueryCoord's log for collection %s; release and load it again", l.Collection),
		Evidence: []Evidence{{"load state", l.Status, "etcd"}, {"last segment or channel given to a node", timeText(at), "query nodes"}},
		Objects:  p.memberRefs(l.Collection),
	}
	percentage := ""
	if c := p.Runtime.LoadedCollection(l.Collection); c != nil {
		percentage = fmt.Sprintf(" at %d %%", c.Percent)
		f.Evidence = append(f.Evidence, Evidence{"loaded", fmt.Sprintf("%d %%", c.Percent), "QueryCoord ShowCollections"})
	}
	if at.IsZero() {
		f.Severity = Info
		f.Message = fmt.Sprintf("collection %s is being loaded%s, and no query node has anything of it", name, percentage)
		f.Hint = "look again in a minute; if nothing has come, " + f.Hint
	} else {
		f.Message = fmt.Sprintf("collection %s is being loaded%s, and nothing of it was loaded for %s", name, percentage, span(asked.Sub(at)))
		f.Hint = p.lookForFiles() + f.Hint
	}
	if left := p.leftToLoad(l.Collection); len(left.segments) > 0 {
		names := make([]string, len(left.segments))
		for i, s := range left.segments {
			names[i] = s.ID.String()
		}
		f.Evidence = append(f.Evidence, Evidence{"segments that no node has", few(names) + ", " + bytesText(left.bytes), "DataCoord, query nodes"})
		f.Message += ": no node has " + plural(len(left.segments), "segment") + ", " + bytesText(left.bytes)
	}
	p.Report(f)
}
