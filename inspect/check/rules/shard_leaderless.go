package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// noShardLeader finds shards of loaded collections without a leader.
var noShardLeader = &check.Check{
	ID:       "no-shard-leader",
	Title:    "Shard of a loaded collection has no leader",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.AfterRestart},
	Starts: "node_lost:querynode node_left:querynode | node_stopping:querynode collection_loading " +
		"collection_loaded channel_reassigned",
	Doc: `Searches fail because one shard has no leader: they need all. Reported: a channel of a loaded collection for
which QueryCoord has no leader ("channel not available in any replica", Milvus issues 27355, 23936, 28563), or only
nodes that do not respond; or one that no query node leads, if all nodes of the collection's replicas reported the
data they serve. Warning if one of several replicas has no leader for the channel: searches go to the others. If a
node leads the channel and QueryCoord does not have it as leader, the finding includes this: proxies use QueryCoord's
list.

Not reported: a shard whose leader cannot serve it, so QueryCoord does not list it (see shard-not-serviceable), a
collection that is still loading (see load-stuck), and one that neither QueryCoord nor any node has (see
load-state-mismatch). Unknown if a node did not respond and QueryCoord does not have the leader.`,
	Remedy: `If a query node is gone or hangs, wait until its session expires (` + "`common.session.ttl`" + `, 30
seconds) and another node watches the channel. If no node is missing, look at QueryCoord's log for the channel, at the
memory of the nodes, and whether the message queue responds: a new leader has to read the channel from its checkpoint.
As a last resort restart QueryCoord, then release and load.`,
	Parts: model.PartObjects | model.PartServing | model.PartChannels,
	Needs: check.NeedDistribution | check.NeedQueryCoord,
	Run:   runNoShardLeader,
	Roles: []string{"querycoord", "querynode", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "node-unreachable", "stale-session", "replica-dead-node",
		"replica-short"),
}

// leaderless holds the channels of one collection that lack a leader.
type leaderless struct {
	all, some []string // no replica has a leader; only some replicas have one
	// unnamed holds channels that a query node leads although QueryCoord lists no leader.
	unnamed []string
	leaders []model.NodeID
	problem string
}

func runNoShardLeader(p *check.Pass) {
	said := reportedLeaders(p.Runtime)
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if l.Status != "Loaded" || x == nil || x.Dropped() || hasNoData(p, l.Collection) {
			continue
		}
		var found leaderless
		var unsure, untold []string
		for _, channel := range facts.LiveChannels(p.Cluster, l.Collection) {
			leaders, known, problem := leadersOf(p, said, l.Collection, channel)
			replicas := max(1, len(p.ReplicasOf(l.Collection)))
			views := p.Runtime.ShardViews(channel)
			switch {
			case !known:
				unsure = append(unsure, channel)
			case leaders == 0 && len(views) > 0:
				switch {
				case !p.Loaded.Has(shardUnserviceable.Parts):
					p.NoteUnseen("whether the leaders of " + channel + " can serve")
				case cannotServe(p, views):
					continue
				}
				found.unnamed, found.problem = append(found.unnamed, channel), problem
				for _, v := range views {
					found.leaders = append(found.leaders, v.Node.Node)
				}
			case leaders == 0:
				found.all = append(found.all, channel)
				found.problem = problem
			case leaders < replicas:
				found.some = append(found.some, channel)
			case !said.has(l.Collection, channel):
				untold = append(untold, channel)
			}
		}
		if len(unsure) > 0 {
			p.NoteUnseen(fmt.Sprintf("collection %s: leaders of %s", facts.CollectionLabel(p.Cluster, l.Collection),
				words.Summarize(unsure)))
		}
		if len(untold) > 0 {
			p.NoteUnseen(fmt.Sprintf("collection %s: whether QueryCoord has the leaders of %s",
				facts.CollectionLabel(p.Cluster, l.Collection), words.Summarize(untold)))
		}
		if len(found.all)+len(found.some)+len(found.unnamed) > 0 {
			reportLeaderless(p, l.Collection, &found)
		}
	}
}

// hasNoData reports whether neither QueryCoord nor any query node has data of a collection. load-state-mismatch reports
// such a collection, because it accounts for collections that were loaded after QueryCoord and the nodes were queried.
func hasNoData(p *check.Pass, id model.CollectionID) bool {
	if p.Runtime.Loaded == nil || p.Runtime.LoadedCollection(id) != nil || p.WorkOf(id).Rows > 0 {
		return false
	}
	return !slices.ContainsFunc(facts.LiveChannels(p.Cluster, id), func(channel string) bool {
		return len(p.Runtime.ShardViews(channel)) > 0
	})
}

// coordLeaders holds QueryCoord's shard leaders by channel, and its errors by collection.
type coordLeaders struct {
	channels map[string]*model.ShardLeader
	problems map[model.CollectionID]string
}

func reportedLeaders(r *model.Runtime) coordLeaders {
	said := coordLeaders{make(map[string]*model.ShardLeader, len(r.ShardLeaders)), make(map[model.CollectionID]string)}
	for i := range r.ShardLeaders {
		switch s := &r.ShardLeaders[i]; {
		case s.Channel != "":
			said.channels[s.Channel] = s
		case s.Problem != "":
			said.problems[s.Collection] = s.Problem
		}
	}
	return said
}

// has reports whether QueryCoord returned a leader or an error for a channel, or an error for its collection.
func (c coordLeaders) has(id model.CollectionID, channel string) bool {
	return c.channels[channel] != nil || c.problems[id] != ""
}

// cannotServe reports whether all leaders of a channel are unserviceable by the rules of shard-not-serviceable.
func cannotServe(p *check.Pass, views []model.ShardView) bool {
	dead, asked := deadNodes(p), p.AskedAt()
	return !slices.ContainsFunc(views,
		func(v model.ShardView) bool { return whyUnserviceable(p, v, dead, asked) == "" })
}

// concerns reports whether QueryCoord's error for a collection applies to a channel. The error names the first channel
// that is not available, or no channel. In the second case it applies to every channel.
func concerns(p *check.Pass, problem string, id model.CollectionID, channel string) bool {
	return strings.Contains(problem, channel) ||
		!slices.ContainsFunc(facts.LiveChannels(p.Cluster, id), func(other string) bool {
			return strings.Contains(problem, other)
		})
}

// leadersOf counts the replicas in which a channel has a leader. It uses QueryCoord's response, or the views of the
// query nodes if QueryCoord returned none. known is false if both are missing. problem is QueryCoord's error, or a
// leader that is down and the reason.
func leadersOf(
	p *check.Pass, reported coordLeaders, id model.CollectionID, channel string,
) (leaders int, known bool, problem string) {
	if s := reported.channels[channel]; s != nil {
		if s.Problem != "" || len(s.Nodes) == 0 {
			return 0, true, s.Problem
		}
		known = true
		for _, id := range slices.Compact(slices.Sorted(slices.Values(s.Nodes))) {
			if why := whyDead(p, id); why != "" {
				problem = id.Name("querynode") + " (" + why + ")"
				continue
			}
			leaders++
		}
	} else if problem := reported.problems[id]; problem != "" && concerns(p, problem, id, channel) {
		return 0, true, problem
	}
	views := len(p.Runtime.ShardViews(channel))
	if known {
		return max(leaders, views), true, problem
	}
	for _, r := range p.ReplicasOf(id) {
		if len(facts.UnresponsiveNodes(p.Facts, r)) > 0 {
			return views, views > 0, ""
		}
	}
	return views, true, ""
}

func reportLeaderless(p *check.Pass, id model.CollectionID, l *leaderless) {
	name := facts.CollectionLabel(p.Cluster, id)
	shards := len(facts.LiveChannels(p.Cluster, id))
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterLoss(1)}
	f.Message = fmt.Sprintf("collection %s: %s of %d %s no leader: %s", name, words.Plural(len(l.all), "shard"), shards,
		words.Agree(len(l.all), "has", "have"), words.Summarize(l.all))
	f.Impact = "Every search and query of the collection fails, because all shards must respond."
	switch {
	case len(l.unnamed) > 0:
		led := words.Summarize(facts.QueryNodeNames(l.leaders)) + " " +
			words.Agree(len(facts.QueryNodeNames(l.leaders)), "leads", "lead")
		if len(l.all) > 0 {
			f.Message += fmt.Sprintf("; QueryCoord has none for %d more, although %s %s: %s", len(l.unnamed), led,
				words.Agree(len(l.unnamed), "it", "them"), words.Summarize(l.unnamed))
		} else {
			f.Message = fmt.Sprintf("collection %s: QueryCoord has no leader for %s of %d, although %s %s: %s", name,
				words.Plural(len(l.unnamed), "shard"), shards, led, words.Agree(len(l.unnamed), "it", "them"),
				words.Summarize(l.unnamed))
		}
		f.Impact += " Proxies get shard leaders from QueryCoord."
	case len(l.all) == 0:
		replicas := len(p.ReplicasOf(id))
		f.Severity, f.Cost = check.Warning, p.ClusterLoss(1/float64(max(1, replicas)))
		f.Message = fmt.Sprintf("collection %s: %s of %d %s no leader in one of %d replicas: %s",
			name, words.Plural(len(l.some), "shard"), shards, words.Agree(len(l.some), "has", "have"), replicas,
			words.Summarize(l.some))
		f.Impact = "That replica serves no searches; the others carry its load."
	}
	f.Evidence = []check.Evidence{
		check.Fact("shards without a leader", words.Summarize(slices.Concat(l.all, l.some)), "QueryCoord, query nodes"),
	}
	if len(l.all)+len(l.some) == 0 {
		f.Evidence = []check.Evidence{
			check.Fact("shards without a leader in QueryCoord", words.Summarize(l.unnamed), "QueryCoord"),
			check.Fact("led by", words.Summarize(facts.QueryNodeNames(l.leaders)), "query nodes"),
		}
	}
	if l.problem != "" {
		f.Evidence = append(f.Evidence, check.Fact("response of QueryCoord", l.problem, "QueryCoord GetShardLeaders"))
	}
	f.Fix = check.Fix(
		check.Do("check that the nodes of its replicas are up: %s", replicaNodes(p, id)),
		check.Do("look for %s in QueryCoord's log", slices.Concat(l.all, l.unnamed, l.some)[:1]),
		check.Do("if all nodes are up, restart QueryCoord").Restarting(p.Cluster, 2*time.Minute, "querycoord"),
		reloadStep(p, id),
	)
	for _, v := range slices.Concat(l.all, l.unnamed, l.some) {
		f.Objects = append(f.Objects, facts.RefVChannel(v))
	}
	f.Objects = append(f.Objects, facts.RefNodes(replicaNodes(p, id))...)
	p.Report(f)
}

// replicaNodes returns the names of the nodes of a collection's replicas.
func replicaNodes(p *check.Pass, id model.CollectionID) []string {
	var nodes []model.NodeID
	for _, r := range p.ReplicasOf(id) {
		nodes = append(nodes, facts.MembersOf(r)...)
	}
	return facts.QueryNodeNames(nodes)
}
