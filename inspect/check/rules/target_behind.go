package rules

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// targetBehind finds collections with shard leaders that serve an old target although DataCoord wants a newer one.
var targetBehind = &check.Check{
	ID:       "target-behind",
	Title:    "Shard leaders serve an old target",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesStale, check.AfterRestart},
	Starts:   "node_lost node_left | segment_flushed segment_compacted node_joined:querycoord",
	Doc: `Flushed segments stay growing and compacted ones in memory because the target does not advance. Milvus does
not report it (issues 34554, 51564). QueryCoord builds a target (which segments to serve) from DataCoord's answer, has
it loaded, and then gives it to the shard leaders. It checks for a new one every 10 seconds, and rebuilds it after 5
minutes at the latest (` + "`queryCoord.NextTargetSurviveTime`" + `). If the next target stays incomplete, because a
segment cannot be loaded or a node does not respond, leaders keep the old one.

The version of a leader's target is the time at which it was built (on 2.3.5: 20 s before). Reported: a leader of a
loaded collection whose target is older than three times that limit, at least 15 minutes, while DataCoord wants
segments served that were flushed or created before that and are not in its view; or one that is that far behind
another leader of the same collection.

Not reported: an old target with nothing new to serve. If the version is not a time, the age is unknown.`,
	Remedy: `Find out what cannot be loaded: segment-not-loaded, node-unreachable, memory of the nodes, and
QueryCoord's log ("failed to update next target", "check delegator"). Then run
` + "`Collection(NAME).load(_refresh=True)`" + `, or restart QueryCoord.`,
	Parts:       model.PartObjects | model.PartServing | model.PartSegments | model.PartIndexes,
	Needs:       check.NeedDistribution | check.NeedRecovery,
	Run:         runTargetBehind,
	Roles:       []string{"querycoord", "datacoord"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "node-unreachable", "stale-session", "replica-dead-node"),
}

const leastTargetAge = 15 * time.Minute

// oldTarget holds the leaders of one collection with an old target.
type oldTarget struct {
	counted  facts.SegmentSet
	leaders  []model.NodeID
	channels []string
	oldest   time.Time
	wanted   []model.SegmentID
	rows     int64
	behind   bool // another leader is ahead
	unsure   int
}

func runTargetBehind(p *check.Pass) {
	asked := p.AskedAt()
	limit := sync.OnceValue(func() time.Duration {
		return max(leastTargetAge,
			3*p.SettingSeconds("queryCoord.NextTargetSurviveTime", 5*time.Minute, "querycoord", "mixcoord"))
	})
	for _, l := range p.LoadStates {
		if x := p.Collection(l.Collection); x == nil || x.Dropped() || l.Status != "Loaded" {
			continue
		}
		views := viewsOf(p, l.Collection)
		var newest time.Time
		for _, v := range views {
			if at := facts.VersionTime(v.TargetVersion); at.After(newest) {
				newest = at
			}
		}
		var g oldTarget
		for _, v := range views {
			judgeTarget(p, &g, v, newest, asked, limit)
		}
		reportTarget(p, l.Collection, &g, newest, asked)
	}
}

// viewsOf returns the views of all leaders of a collection, ordered by channel.
func viewsOf(p *check.Pass, id model.CollectionID) []model.ShardView {
	var views []model.ShardView
	for _, channel := range facts.LiveChannels(p.Cluster, id) {
		views = append(views, p.Runtime.ShardViews(channel)...)
	}
	return views
}

func judgeTarget(p *check.Pass, g *oldTarget, v model.ShardView, newest, asked time.Time, limit func() time.Duration) {
	at := facts.VersionTime(v.TargetVersion)
	switch {
	case at.IsZero() && v.TargetVersion != 0:
		g.unsure++
		return
	case at.IsZero(), asked.Sub(at) < leastTargetAge, asked.Sub(at) < limit():
		return
	}
	var wanted []model.SegmentID
	for _, id := range p.Views.Missing()[v.LeaderView] {
		s := p.Segment(id)
		if s == nil || s.State != model.SegmentFlushed || s.Level == model.LevelL0 || s.Rows == 0 ||
			!facts.WantsPartition(p.LoadState(v.Collection), s.Partition) {
			continue
		}
		if since, ok := facts.FlushedAt(p.Cluster, s); ok && asked.Sub(since) > facts.LoadGrace {
			wanted = append(wanted, id)
			if g.counted.Add(id) {
				g.rows += s.Rows
			}
		}
	}
	behind := newest.Sub(at) > limit()
	if len(wanted) == 0 && !behind {
		return
	}
	g.behind = g.behind || behind
	g.wanted = slices.Compact(slices.Sorted(slices.Values(append(g.wanted, wanted...))))
	g.leaders, g.channels = append(g.leaders, v.Node.Node), append(g.channels, v.Channel)
	g.oldest = earliest(g.oldest, at)
}

func reportTarget(p *check.Pass, id model.CollectionID, g *oldTarget, newest, asked time.Time) {
	name := facts.CollectionLabel(p.Cluster, id)
	if g.unsure > 0 {
		p.NoteUnseen(
			fmt.Sprintf("collection %s: age of the target of %s", name, words.Plural(g.unsure, "shard leader")),
		)
	}
	if len(g.leaders) == 0 {
		return
	}
	leaders := facts.QueryNodeNames(g.leaders)
	w := p.WorkOf(id)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterLoss(w.ShareOfRows(g.rows)),
		Message: fmt.Sprintf("collection %s: %s serves a target %s old", name, words.Summarize(leaders),
			words.Span(asked.Sub(g.oldest))),
		Evidence: []check.Evidence{
			check.Fact("target built", facts.TimeText(g.oldest), words.Summarize(leaders)),
			check.Fact("newest target of a leader", facts.TimeText(newest), "leaders' views"),
			check.Fact("shards", words.Summarize(slices.Compact(slices.Sorted(slices.Values(g.channels)))),
				"leaders' views"),
		},
		Impact: "Segments flushed or compacted since are served from growing segments and old copies, or not at all.",
		Fix:    refreshSteps(p, id),
	}
	if len(leaders) > 1 {
		f.Message = fmt.Sprintf("collection %s: %s serve a target up to %s old", name, words.Summarize(leaders),
			words.Span(asked.Sub(g.oldest)))
	}
	segments := facts.SomeSegments(g.wanted)
	if n := len(g.wanted); n > 0 {
		f.Message += fmt.Sprintf("; DataCoord expects %s more", words.Plural(n, "segment"))
		f.Evidence = append(f.Evidence, check.Factf("expected, but in no view", "DataCoord GetRecoveryInfoV2",
			"%s, %s", check.Plural(n, "segment"), check.Plural(g.rows, "row")))
	}
	if g.behind {
		f.Message += "; its other leaders are ahead"
	}
	f.Objects = append(f.Objects, facts.RefNodes(leaders)...)
	f.Objects = append(f.Objects, segments...)
	p.Report(f)
}
