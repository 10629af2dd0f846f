package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// ShardUnserviceable finds shards whose leader cannot answer.
var ShardUnserviceable = &Check{
	ID:       "shard-not-serviceable",
	Title:    "Shard has a leader that cannot serve it",
	Severity: Error,
	Since:    "0.3",
	Doc: `
A shard leader answers searches only if its own view of the shard is whole. A finding is a shard of a loaded collection where, in one replica, every leader

- says so itself: not serviceable (Milvus 2.5 and later; milvus issues 44014, 43767), with the reason if it is still catching up with the stream (2.6.8 and later);
- has never been given a target, 2 minutes after it took the channel (2.3 and later);
- asks a node for sealed segments that has no session any more, or that does not answer: searches then fail with "node offline" or "segment lacks" (milvus issues 23754, 23936).

No finding: a new leader that is not ready while the old one still serves, as during a move of the channel.
`,
	Remedy: `
Bring back the node that the leader asks, or wait until its session has ended (30 seconds) and QueryCoord has loaded its segments elsewhere; see whether the others have the
memory for them. A leader that stays unserviceable with all nodes alive: restart its query node, or QueryCoord.
`,
	Parts: model.PartObjects | model.PartServing | model.PartSessions | model.PartSegments,
	Needs: NeedDistribution,
	Run:   runShardUnserviceable,
	Roles: []string{"querycoord", "querynode", "streamingnode"},
	FollowsFrom: []Cause{
		{Check: "node-unreachable", Of: shares("collections")},
		{Check: "stale-session", Of: shares("collections")},
		{Check: "replica-dead-node", Of: shares("collections")},
	},
}

// unserviceable are the shards of one collection that cannot be searched in at least one replica.
type unserviceable struct {
	counted  counted
	channels map[string]bool
	replicas map[model.ReplicaID]bool
	leaders  []model.NodeID
	gone     []model.NodeID // nodes that leaders ask and that do not answer
	reasons  map[string]int
	rows     int64 // on those
}

func runShardUnserviceable(p *Pass) error {
	asked := p.askedAt()
	dead := p.deadNodes()
	found := make(map[model.CollectionID]*unserviceable)
	for _, l := range p.LoadStates {
		if !isLoaded(p.Cluster, l.Collection) || p.Collection(l.Collection) == nil {
			continue
		}
		members := p.memberOf(l.Collection)
		for _, channel := range liveChannels(p.Cluster, l.Collection) {
			p.judgeShard(found, channel, members, dead, asked)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		p.reportUnserviceable(id, found[id])
	}
	return nil
}

// deadNodes are the query nodes that cannot be asked for segments, and why: those of views that have no session, or
// do not answer.
func (p *Pass) deadNodes() map[model.NodeID]string {
	dead := make(map[model.NodeID]string)
	alive := p.nodes()
	for _, n := range p.Runtime.QueryNodes() {
		if why := p.whyDead(n.Node); why != "" {
			dead[n.Node] = why
		}
	}
	for _, named := range p.views.named() {
		for _, id := range named {
			if alive[id] != nil || dead[id] != "" {
				continue
			}
			if why := p.whyDead(id); why != "" {
				dead[id] = why
			}
		}
	}
	return dead
}

// whyDead says why nobody answers for a query node, "" if somebody may.
func (p *Pass) whyDead(id model.NodeID) string {
	n := p.Runtime.LiveNode("querynode", id)
	switch {
	case n != nil && n.Distribution != nil:
		return ""
	case n != nil && isDown(n.Outcome):
		return n.Outcome.String()
	case p.SessionIn(id, "querynode") == nil && alive(p.Cluster) && (n == nil || n.Outcome == model.NotAsked):
		return "no session"
	}
	return ""
}

// judgeShard looks at the leaders of one channel, replica by replica.
func (p *Pass) judgeShard(found map[model.CollectionID]*unserviceable, channel string, members map[model.NodeID]model.ReplicaID, dead map[model.NodeID]string, asked time.Time) {
	views := p.Runtime.ShardViews(channel)
	well := make(map[model.ReplicaID]bool, 1)
	why := make([]string, len(views))
	for i, v := range views {
		if why[i] = p.whyUnserviceable(v, dead, asked); why[i] == "" {
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
			u = &unserviceable{channels: make(map[string]bool), replicas: make(map[model.ReplicaID]bool), reasons: make(map[string]int)}
			found[v.Collection] = u
		}
		u.channels[channel], u.replicas[replica] = true, true
		u.leaders = append(u.leaders, v.Node.Node)
		u.reasons[why[i]]++
		p.addGone(u, v, dead)
	}
}

// addGone counts what a leader asks dead nodes for.
func (p *Pass) addGone(u *unserviceable, v model.ShardView, dead map[model.NodeID]string) {
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
		if record := p.Segment(s.ID); record != nil && u.counted.first(s.ID) {
			u.rows += record.Rows
		}
	}
}

// whyUnserviceable says why a leader cannot answer, "" if nothing speaks against it.
func (p *Pass) whyUnserviceable(v model.ShardView, dead map[model.NodeID]string, asked time.Time) string {
	switch {
	case v.Serviceable != nil && !*v.Serviceable && v.CatchingUp != nil && *v.CatchingUp:
		return "the leader is still catching up with the stream"
	case v.Serviceable != nil && !*v.Serviceable:
		return "the leader says that it is not serviceable"
	case v.Serviceable == nil && v.TargetVersion == 0 && !releaseOf(p.Cluster).before(release{2, 3}) && releaseOf(p.Cluster).known() &&
		watchedFor(v, asked) > moveGrace:
		return "the leader was never given a target"
	}
	if len(dead) > 0 {
		for _, id := range p.views.named()[v.LeaderView] {
			if why := dead[id]; why != "" {
				return "segments are on querynode-" + id.String() + " (" + why + ")"
			}
		}
	}
	return ""
}

// watchedFor is how long a leader has had its channel, 0 if that is unknown.
func watchedFor(v model.ShardView, asked time.Time) time.Duration {
	channels := v.Node.Distribution.Channels
	i, ok := slices.BinarySearchFunc(channels, v.Channel, func(c model.ServedChannel, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return 0
	}
	at := versionTime(channels[i].Version)
	if at.IsZero() {
		return 0
	}
	return asked.Sub(at)
}

func (p *Pass) reportUnserviceable(id model.CollectionID, u *unserviceable) {
	name := collectionLabel(p.Cluster, id)
	channels := slices.Sorted(maps.Keys(u.channels))
	replicas := max(1, len(p.ReplicasOf(id)), len(u.replicas))
	leaders := queryNodeNames(u.leaders)
	f := Finding{
		Severity: Error, Object: refCollection(p.Cluster, id), Cost: p.losing(float64(len(u.replicas)) / float64(replicas)),
		Message: fmt.Sprintf("collection %s: %s of %d, led by %s, cannot be searched: %s", name, plural(len(channels), "shard"),
			len(liveChannels(p.Cluster, id)), few(leaders), most(u.reasons)),
		Evidence: []Evidence{{"shards", few(channels), "leaders' views"}},
		Impact:   "Searches of the collection fail.",
		Hint:     advise("look at the log of %s for these channels, and whether the other nodes have the memory to take over", leaders),
	}
	for _, why := range slices.Sorted(maps.Keys(u.reasons)) {
		f.Evidence = append(f.Evidence, Evidence{"reason", why, few(leaders)})
	}
	if len(u.gone) > 0 {
		f.Evidence = append(f.Evidence, Evidence{"rows on nodes that do not answer", number(u.rows), "etcd, leaders' views"})
		f.Hint = advise("bring %s back, or wait until its session has ended and its segments are loaded elsewhere", queryNodeNames(u.gone))
	}
	if len(u.replicas) < replicas {
		f.Severity = Warning
		f.Impact = fmt.Sprintf("Searches that reach %d of %d replicas fail, or are tried again on another.", len(u.replicas), replicas)
	}
	for _, v := range channels {
		f.Objects = append(f.Objects, refVChannel(v))
	}
	for _, n := range slices.Concat(leaders, queryNodeNames(u.gone)) {
		f.Objects = append(f.Objects, model.Ref{Resource: "nodes", ID: n, Name: n})
	}
	p.Report(f)
}
