package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// shardUnserviceable finds shards with a leader that cannot serve searches.
var shardUnserviceable = &check.Check{
	ID:       "shard-not-serviceable",
	Title:    "Shard leader cannot serve its shard",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.AfterRestart},
	Starts:   "node_lost:querynode node_left:querynode | node_stopping:querynode segment_compacted collection_loading",
	Doc: `A query node died, and its shard leader cannot answer searches until its view is complete again. Reported: a
shard of a loaded collection where, in one replica, every leader

- reports itself as not serviceable (Milvus 2.5 and later; Milvus issues 44014, 43767), with the reason if it is still
  catching up with the stream (2.6.8 and later);
- never received a target, 2 minutes after it took the channel (2.3 and later);
- needs sealed segments from a node that has no session any more, or does not respond: searches fail with "node
  offline" or "segment lacks" (Milvus issues 23754, 23936).

Not reported: a new leader that is not ready while the old one still serves, as during a move of the channel.`,
	Remedy: `Restart the node that the leader needs, or wait until its session expires (30 seconds) and QueryCoord has
loaded its segments elsewhere; check that the other nodes have the memory for them. If a leader stays unserviceable
with all nodes up, restart its query node, or QueryCoord.`,
	Parts:       model.PartObjects | model.PartServing | model.PartSessions | model.PartSegments,
	Needs:       check.NeedDistribution,
	Run:         runShardUnserviceable,
	Roles:       []string{"querycoord", "querynode", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "node-unreachable", "stale-session", "replica-dead-node"),
}

// unserviceable holds the shards of one collection that cannot be searched in at least one replica.
type unserviceable struct {
	counted  facts.SegmentSet
	channels map[string]bool
	replicas map[model.ReplicaID]bool
	leaders  []model.NodeID
	gone     []model.NodeID // nodes that leaders need and that do not answer
	reasons  map[string]int
	rows     int64 // rows on gone
}

func runShardUnserviceable(p *check.Pass) {
	asked := p.AskedAt()
	dead := deadNodes(p)
	found := make(map[model.CollectionID]*unserviceable)
	for _, l := range p.LoadStates {
		if !facts.IsLoaded(p.Cluster, l.Collection) || p.Collection(l.Collection) == nil {
			continue
		}
		members := memberOf(p, l.Collection)
		for _, channel := range facts.LiveChannels(p.Cluster, l.Collection) {
			judgeShard(p, found, channel, members, dead, asked)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportUnserviceable(p, id, found[id])
	}
}

// deadNodes returns the query nodes that cannot serve segments, each with the reason. They are query nodes, or nodes
// named in leaders' views, that have no session or do not answer.
func deadNodes(p *check.Pass) map[model.NodeID]string {
	dead := make(map[model.NodeID]string)
	alive := p.Nodes()
	for _, n := range p.Runtime.QueryNodes() {
		if why := whyDead(p, n.Node); why != "" {
			dead[n.Node] = why
		}
	}
	for _, named := range p.Views.QueriedNodes() {
		for _, id := range named {
			if alive[id] != nil || dead[id] != "" {
				continue
			}
			if why := whyDead(p, id); why != "" {
				dead[id] = why
			}
		}
	}
	return dead
}

// whyDead returns the reason why a query node cannot answer, or "" if it may.
func whyDead(p *check.Pass, id model.NodeID) string {
	n := p.Runtime.LiveNode("querynode", id)
	switch {
	case n != nil && n.Distribution != nil:
		return ""
	case n != nil && facts.IsDown(n.Outcome):
		return n.Outcome.String()
	case p.SessionIn(id, "querynode") == nil && facts.Alive(p.Cluster) && (n == nil || n.Outcome == model.NotAsked):
		return "no session"
	}
	return ""
}

// judgeShard records the leaders of one channel that cannot serve, unless another leader in their replica can.
func judgeShard(
	p *check.Pass, found map[model.CollectionID]*unserviceable, channel string,
	members map[model.NodeID]model.ReplicaID, dead map[model.NodeID]string, asked time.Time,
) {
	views := p.Runtime.ShardViews(channel)
	well := make(map[model.ReplicaID]bool, 1)
	why := make([]string, len(views))
	for i, v := range views {
		if why[i] = whyUnserviceable(p, v, dead, asked); why[i] == "" {
			well[members[v.Node.Node]] = true
		}
	}
	for i, v := range views {
		replica := members[v.Node.Node]
		if why[i] == "" || well[replica] {
			continue
		}
		u := found[v.Collection]
		if u == nil {
			u = &unserviceable{
				channels: make(map[string]bool), replicas: make(map[model.ReplicaID]bool),
				reasons: make(map[string]int),
			}
			found[v.Collection] = u
		}
		u.channels[channel], u.replicas[replica] = true, true
		u.leaders = append(u.leaders, v.Node.Node)
		u.reasons[why[i]]++
		addGone(p, u, v, dead)
	}
}

// addGone records the dead nodes that a leader needs, and counts the rows of their segments.
func addGone(p *check.Pass, u *unserviceable, v model.ShardView, dead map[model.NodeID]string) {
	if len(dead) == 0 {
		return
	}
	for _, s := range v.Sealed {
		if dead[s.Node] == "" {
			continue
		}
		if !slices.Contains(u.gone, s.Node) {
			u.gone = append(u.gone, s.Node)
		}
		if record := p.Segment(s.ID); record != nil && u.counted.Add(s.ID) {
			u.rows += record.Rows
		}
	}
}

// whyUnserviceable returns the reason why a leader cannot serve, or "" if none is known.
func whyUnserviceable(p *check.Pass, v model.ShardView, dead map[model.NodeID]string, asked time.Time) string {
	switch {
	case v.Serviceable != nil && !*v.Serviceable && v.CatchingUp != nil && *v.CatchingUp:
		return "the leader is still catching up with the stream"
	case v.Serviceable != nil && !*v.Serviceable:
		return "the leader reports that it is not serviceable"
	case v.Serviceable == nil && v.TargetVersion == 0 &&
		!facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 3}) && facts.ReleaseOf(p.Cluster).Known() &&
		watchedFor(v, asked) > facts.MoveGrace:
		return "the leader never got a target"
	}
	if len(dead) > 0 {
		for _, id := range p.Views.QueriedNodes()[v.LeaderView] {
			if why := dead[id]; why != "" {
				return "segments are on querynode-" + id.String() + " (" + why + ")"
			}
		}
	}
	return ""
}

// watchedFor returns the time since a leader took its channel, or 0 if it is unknown.
func watchedFor(v model.ShardView, asked time.Time) time.Duration {
	channels := v.Node.Distribution.Channels
	i, ok := slices.BinarySearchFunc(channels, v.Channel, func(c model.ServedChannel, name string) int {
		return cmp.Compare(c.Name, name)
	})
	if !ok {
		return 0
	}
	at := facts.VersionTime(channels[i].Version)
	if at.IsZero() {
		return 0
	}
	return asked.Sub(at)
}

// goneFix returns the steps that bring back the segments of query nodes that do not answer. QueryCoord loads the
// segments of a node without a session elsewhere. It does so at once, unless other loads keep it busy.
func goneFix(p *check.Pass, gone []model.NodeID) []check.Step {
	alive := slices.DeleteFunc(slices.Clone(gone), func(id model.NodeID) bool {
		return p.SessionIn(id, "querynode", "streamingnode") == nil
	})
	if len(alive) > 0 {
		return check.Fix(check.Do("start %s again, or wait until its session expires (30 s) and its segments are "+
			"loaded elsewhere", facts.QueryNodeNames(alive)).
			Interrupting(2*time.Minute, "nothing"))
	}
	return check.Fix(
		check.Do("wait a minute: QueryCoord loads the segments of %s elsewhere", facts.QueryNodeNames(gone)),
		check.Do("if nothing is loaded, restart QueryCoord: other loads may keep its queue busy").
			Restarting(p.Cluster, 2*time.Minute, "querycoord"),
	)
}

func reportUnserviceable(p *check.Pass, id model.CollectionID, u *unserviceable) {
	name := facts.CollectionLabel(p.Cluster, id)
	channels := slices.Sorted(maps.Keys(u.channels))
	replicas := max(1, len(p.ReplicasOf(id)), len(u.replicas))
	leaders := facts.QueryNodeNames(u.leaders)
	f := check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, id),
		Cost: p.ClusterLoss(float64(len(u.replicas)) / float64(replicas)),
		Message: fmt.Sprintf("collection %s: %s of %d, led by %s, cannot be searched: %s", name,
			words.Plural(len(channels), "shard"),
			len(facts.LiveChannels(p.Cluster, id)), words.Summarize(leaders), facts.MostCommon(u.reasons)),
		Evidence: []check.Evidence{check.Fact("shards", words.Summarize(channels), "leaders' views")},
		Impact:   "Searches of the collection fail.",
		Fix: check.Fix(
			check.Do("look for these channels in the log of %s", leaders),
			check.Do("check that the other nodes have memory to take over, then restart %s or QueryCoord", leaders).
				Restarting(p.Cluster, 2*time.Minute, "querynode"),
		),
	}
	for _, why := range slices.Sorted(maps.Keys(u.reasons)) {
		f.Evidence = append(f.Evidence, check.Fact("reason", why, words.Summarize(leaders)))
	}
	if len(u.gone) > 0 {
		f.Evidence = append(f.Evidence,
			check.Count("rows on nodes that do not respond", u.rows, "etcd, leaders' views"))
		f.Fix = goneFix(p, u.gone)
	}
	if len(u.replicas) < replicas {
		f.Severity = check.Warning
		f.Impact = fmt.Sprintf("Searches that reach %d of %d replicas fail, or are retried on another.",
			len(u.replicas), replicas)
	}
	for _, v := range channels {
		f.Objects = append(f.Objects, facts.RefVChannel(v))
	}
	f.Objects = append(f.Objects, facts.RefNodes(slices.Concat(leaders, facts.QueryNodeNames(u.gone)))...)
	p.Report(f)
}
