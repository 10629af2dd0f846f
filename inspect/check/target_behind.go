package check

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// TargetBehind finds collections whose shard leaders serve an old target, while DataCoord wants another.
var TargetBehind = &Check{
	ID:       "target-behind",
	Title:    "Shard leaders serve an old target",
	Severity: Warning,
	Since:    "0.3",
	Doc: `
QueryCoord draws up a target (which segments to serve) from what DataCoord says, has it loaded, and then hands it to the shard leaders. A new one is looked for every 10
seconds, and drawn anew after 5 minutes at the latest (` + "`queryCoord.NextTargetSurviveTime`" + `). If the next target never gets complete, because a segment cannot be loaded
or a node does not answer, leaders stay on the old one: flushed segments stay growing, compacted ones stay in memory, and nothing says so (milvus issues 34554, 51564).

The version of a leader's target is the time at which it was drawn up (observed on 2.3.5: 20 s before). A finding is a leader of a loaded collection whose target is older
than three times that limit, at least 15 minutes, while DataCoord wants segments served that were flushed or made before that and are not in its
view; or one that is that far behind another leader of the same collection.

No finding is an old target with nothing new to serve. Where the version is not a time it is unknown.
`,
	Remedy: `
Look for what cannot be loaded: segment-not-loaded, node-unreachable, memory of the nodes, and QueryCoord's log ("failed to update next target", "check delegator"). Then
` + "`Collection(NAME).load(_refresh=True)`" + `; restarting QueryCoord starts afresh.
`,
	Parts: model.PartObjects | model.PartServing | model.PartSegments | model.PartIndexes,
	Needs: NeedDistribution | NeedRecovery,
	Run:   runTargetBehind,
	Roles: []string{"querycoord", "datacoord"},
	FollowsFrom: []Cause{
		{Check: "node-unreachable", Of: shares("collections")},
		{Check: "stale-session", Of: shares("collections")},
		{Check: "replica-dead-node", Of: shares("collections")},
	},
}

const leastTargetAge = 15 * time.Minute

// oldTarget are the leaders of one collection with an old target.
type oldTarget struct {
	counted  counted
	leaders  []model.NodeID
	channels []string
	oldest   time.Time
	wanted   []model.SegmentID
	rows     int64
	behind   bool // another leader is ahead
	unsure   int
}

func runTargetBehind(p *Pass) error {
	asked := p.askedAt()
	limit := max(leastTargetAge, 3*p.seconds("queryCoord.NextTargetSurviveTime", 5*time.Minute, "querycoord", "mixcoord"))
	for _, l := range p.LoadStates {
		if x := p.Collection(l.Collection); x == nil || x.Dropped() || l.Status != "Loaded" {
			continue
		}
		views := p.viewsOf(l.Collection)
		var newest time.Time
		for _, v := range views {
			if at := versionTime(v.TargetVersion); at.After(newest) {
				newest = at
			}
		}
		var g oldTarget
		for _, v := range views {
			p.judgeTarget(&g, v, newest, asked, limit)
		}
		p.reportTarget(l.Collection, &g, newest, asked)
	}
	return nil
}

// viewsOf are the views of all leaders of a collection, by channel.
func (p *Pass) viewsOf(id model.CollectionID) []model.ShardView {
	var views []model.ShardView
	for _, channel := range liveChannels(p.Cluster, id) {
		views = append(views, p.Runtime.ShardViews(channel)...)
	}
	return views
}

func (p *Pass) judgeTarget(g *oldTarget, v model.ShardView, newest, asked time.Time, limit time.Duration) {
	at := versionTime(v.TargetVersion)
	switch {
	case at.IsZero() && v.TargetVersion != 0:
		g.unsure++
		return
	case at.IsZero(), asked.Sub(at) < limit:
		return
	}
	var wanted []model.SegmentID
	for _, id := range p.views.missing()[v.LeaderView] {
		s := p.Segment(id)
		if s == nil || s.State != model.SegmentFlushed || s.Level == model.LevelL0 || s.Rows == 0 || !wantsPartition(p.LoadState(v.Collection), s.Partition) {
			continue
		}
		if since, ok := flushedAt(p.Cluster, s); ok && asked.Sub(since) > loadGrace {
			wanted = append(wanted, id)
			if g.counted.first(id) {
				g.rows += s.Rows
			}
		}
	}
	behind := newest.Sub(at) > limit
	if len(wanted) == 0 && !behind {
		return
	}
	g.behind = g.behind || behind
	g.wanted = slices.Compact(slices.Sorted(slices.Values(append(g.wanted, wanted...))))
	g.leaders, g.channels = append(g.leaders, v.Node.Node), append(g.channels, v.Channel)
	g.oldest = earliest(g.oldest, at)
}

func (p *Pass) reportTarget(id model.CollectionID, g *oldTarget, newest, asked time.Time) {
	name := collectionLabel(p.Cluster, id)
	if g.unsure > 0 {
		p.Unseen(fmt.Sprintf("collection %s: how old the target of %s is", name, plural(g.unsure, "shard leader")))
	}
	if len(g.leaders) == 0 {
		return
	}
	leaders := queryNodeNames(g.leaders)
	w := p.workOf(id)
	f := Finding{
		Severity: Warning, Object: refCollection(p.Cluster, id), Cost: p.losing(w.shareOfRows(g.rows)),
		Message: fmt.Sprintf("collection %s: %s serves a target that is %s old", name, few(leaders), span(asked.Sub(g.oldest))),
		Evidence: []Evidence{
			{"target drawn up", timeText(g.oldest), few(leaders)},
			{"newest target of a leader", timeText(newest), "leaders' views"},
			{"shards", few(slices.Compact(slices.Sorted(slices.Values(g.channels)))), "leaders' views"},
		},
		Impact: "What was flushed and compacted since is served from growing segments and old copies, or not at all.",
		Hint:   refreshHint(p.Cluster, id),
	}
	if len(leaders) > 1 {
		f.Message = fmt.Sprintf("collection %s: %s serve a target that is up to %s old", name, few(leaders), span(asked.Sub(g.oldest)))
	}
	segments := someSegments(g.wanted)
	if n := len(g.wanted); n > 0 {
		f.Message += fmt.Sprintf("; DataCoord wants %s more served", plural(n, "segment"))
		f.Evidence = append(f.Evidence, Evidence{"to be served, and in no view", plural(n, "segment") + ", " + plural(g.rows, "row"), "DataCoord GetRecoveryInfoV2"})
	}
	if g.behind {
		f.Message += "; others of its leaders are ahead"
	}
	for _, n := range leaders {
		f.Objects = append(f.Objects, model.Ref{Resource: "nodes", ID: n, Name: n})
	}
	f.Objects = append(f.Objects, segments...)
	p.Report(f)
}
