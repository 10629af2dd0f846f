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

// leaderSplit reports channels with two leaders in a replica, leaders outside the replicas, and leaders that
// map segments to nodes without them.
var leaderSplit = &check.Check{
	ID:       "leader-channel-split",
	Title:    "Shard leaders contradict each other or the nodes",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.SearchesStale},
	Starts:   "node_joined:querynode node_lost:querynode | replica_changed",
	Doc: `Searches fail because two nodes lead one channel. In each replica one node leads a channel, and its view
maps sealed segments to nodes. Reported, for a loaded collection:

- a channel led by two nodes of one replica, 2 minutes after the second one took it: both consume the stream and hold
  its growing rows, and releases by one break searches of the other (Milvus issues 23726, 43309);
- a leader outside all replicas of the collection, 2 minutes after it took the channel (Milvus issue 16615);
- a view that maps segments to a node that does not report them: searches fail, or miss them.

Times are the versions of the channel and the segment, set when QueryCoord had them loaded. Not reported: moves in
progress and segments that have been compacted away. Unknown: nodes that did not report their data.`,
	Remedy: `Restart QueryCoord: its leader checker compares all views with all nodes. If a second leader stays,
restart the query node that is not the leader according to QueryCoord (` + "`kitescope get nodes`" + `,
GetShardLeaders).`,
	Parts: model.PartObjects | model.PartServing | model.PartSegments,
	Needs: check.NeedDistribution,
	Run:   runLeaderSplit,
	Roles: []string{"querycoord"},
	FollowsFrom: []check.Cause{
		{Check: "node-unreachable", Applies: check.Shares("collections")},
		{Check: "stopping-node-serving", Applies: check.Shares("nodes")},
	},
}

// split holds the contradictions of one collection.
type split struct {
	counted         facts.SegmentSet
	double, outside []string // channels
	nodes           []model.NodeID
	lost            []model.SegmentID
	lostAt          []model.NodeID
	rows            int64
	unsure          int
}

func runLeaderSplit(p *check.Pass) {
	asked := p.AskedAt()
	for _, l := range p.LoadStates {
		if x := p.Collection(l.Collection); x == nil || x.Dropped() || l.Status != "Loaded" {
			continue
		}
		var s split
		members := memberOf(p, l.Collection)
		for _, channel := range facts.LiveChannels(p.Cluster, l.Collection) {
			views := p.Runtime.ShardViews(channel)
			judgeLeaders(&s, views, members, asked)
			for _, v := range views {
				judgeView(p, &s, v, asked)
			}
		}
		reportSplit(p, l.Collection, &s)
	}
}

// judgeLeaders finds the channels with two leaders in one replica or with a leader outside the replicas.
func judgeLeaders(s *split, views []model.ShardView, members map[model.NodeID]model.ReplicaID, asked time.Time) {
	for i, v := range views {
		for j := range i {
			if members[views[j].Node.Node] != members[v.Node.Node] {
				continue
			}
			switch since := min(watchedFor(v, asked), watchedFor(views[j], asked)); {
			case since == 0:
				s.unsure++
			case since > facts.MoveGrace:
				s.double = append(s.double, v.Channel)
				s.nodes = append(s.nodes, v.Node.Node, views[j].Node.Node)
			}
		}
		if _, member := members[v.Node.Node]; !member && len(members) > 0 {
			switch since := watchedFor(v, asked); {
			case since == 0:
				s.unsure++
			case since > facts.MoveGrace:
				s.outside = append(s.outside, v.Channel)
				s.nodes = append(s.nodes, v.Node.Node)
			}
		}
	}
}

// judgeView finds the segments that a leader's view maps to a node that does not have them.
func judgeView(p *check.Pass, s *split, v model.ShardView, asked time.Time) {
	for _, x := range p.Views.Lost()[v.LeaderView] {
		if asked.Sub(facts.VersionTime(x.Version)) < facts.MoveGrace {
			continue
		}
		record := p.Segment(x.ID)
		if record == nil || record.State != model.SegmentFlushed || record.Level == model.LevelL0 ||
			justMoved(p, x.ID, asked) {
			continue
		}
		s.lostAt = append(s.lostAt, x.Node)
		if s.counted.Add(x.ID) {
			s.lost, s.rows = append(s.lost, x.ID), s.rows+record.Rows
		}
	}
}

// justMoved reports whether some node has loaded the segment within the last facts.MoveGrace.
func justMoved(p *check.Pass, id model.SegmentID, asked time.Time) bool {
	return slices.ContainsFunc(p.Runtime.Served(id), func(served model.Served) bool {
		return served.Sealed != nil && asked.Sub(facts.VersionTime(served.Sealed.Version)) < facts.MoveGrace
	})
}

func reportSplit(p *check.Pass, id model.CollectionID, s *split) {
	name := facts.CollectionLabel(p.Cluster, id)
	if s.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: since when %s %s more than one leader, or one outside the replica",
			name, words.Plural(s.unsure, "shard"), words.Agree(s.unsure, "has", "have")))
	}
	double, outside := slices.Compact(slices.Sorted(slices.Values(s.double))),
		slices.Compact(slices.Sorted(slices.Values(s.outside)))
	if len(double)+len(outside)+len(s.lost) == 0 {
		return
	}
	nodes, lostAt := facts.QueryNodeNames(s.nodes), facts.QueryNodeNames(s.lostAt)
	f := check.Finding{Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id)}
	share := min(1, facts.Ratio(s.rows, p.CollectionTotals(id).Rows))
	switch {
	case len(s.lost) > 0:
		f.Severity, f.Cost = check.Error, p.ClusterLoss(share)
		f.Message = fmt.Sprintf("collection %s: leaders query %s for %s (%s) that %s not there",
			name, words.Summarize(lostAt), words.Plural(len(s.lost), "segment"), words.Plural(s.rows, "row"),
			words.Agree(len(s.lost), "is", "are"))
		f.Impact = "Searches fail, or miss these rows: " + words.Share(share) + " of the collection."
	case len(double) > 0:
		f.Message = fmt.Sprintf("collection %s: %s %s two leaders in one replica: %s", name,
			words.Plural(len(double), "shard"), words.Agree(len(double), "has", "have"), words.Summarize(nodes))
		f.Impact = "Growing rows are in memory twice; searches fail when one leader releases what the other still " +
			"needs."
	default:
		f.Message = fmt.Sprintf("collection %s: %s led by %s, outside its replicas", name,
			words.Plural(len(outside), "shard"), words.Summarize(nodes))
		f.Impact = "The leader may disappear with the next change of its own replicas, and it takes memory from " +
			"other collections."
	}
	if len(double) > 0 {
		f.Evidence = append(f.Evidence,
			check.Fact("shards with two leaders", words.Summarize(double), "leaders' views"))
	}
	if len(outside) > 0 {
		f.Evidence = append(f.Evidence,
			check.Fact("shards led from outside", words.Summarize(outside), "leaders' views, etcd"))
	}
	if len(s.lost) > 0 {
		f.Evidence = append(f.Evidence,
			check.Count("segments missing on the queried node", len(s.lost), "leaders' views, query nodes"))
	}
	f.Fix = check.Fix(check.Do("restart QueryCoord: it compares all leaders and nodes when it starts").
		Restarting(p.Cluster, 2*time.Minute, "querycoord"))
	for _, v := range slices.Concat(double, outside) {
		f.Objects = append(f.Objects, facts.RefVChannel(v))
	}
	f.Objects = append(f.Objects, facts.RefNodes(slices.Concat(nodes, lostAt))...)
	f.Objects = append(f.Objects, facts.SomeSegments(s.lost)...)
	p.Report(f)
}
