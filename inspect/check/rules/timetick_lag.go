package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of timetick-lag.
const (
	// tickWarning is the lag for a warning. On captured clusters under load, nodes were 0.15 to 0.4 s behind. A tick
	// comes every 0.2 s (proxy.timeTickInterval).
	tickWarning = 30 * time.Second
	// tickError is the lag at which Milvus refuses writes if the protection is on
	// (quotaAndLimits.limitWriting.ttProtection.maxTimeTickDelay: 300).
	tickError = 5 * time.Minute
	// tickSuspect is the lag that confirms that the queue is down if it does not answer either.
	tickSuspect = 10 * time.Second
)

// timetickLag finds nodes that lag behind the message queue.
var timetickLag = &check.Check{
	ID:       "timetick-lag",
	Title:    "Data nodes, or all nodes, lag behind the message queue",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.FlushesHang},
	Starts:   "node_lost node_left | node_joined checkpoint_stopped",
	Parts:    model.PartSessions,
	Needs:    check.NeedSystem,
	Doc: `Data nodes lag and persist late, and consistent searches wait. The check compares the time up to which data
nodes and query nodes have consumed their slowest channel (GetMetrics: MinFlowGraphTt) with the time of the query.
Warning from 30 seconds; error from 5 minutes, where Milvus refuses writes if
` + "`quotaAndLimits.limitWriting.ttProtection`" + ` is on. Captured clusters under load were 0.4 seconds behind.

If all nodes are behind, there is one finding, about the queue or RootCoord, which sends the ticks. A single query
node is reported by ` + "`channel-consumption-lag`" + `. Info for a node that started, or got the channel, less than two
minutes ago: it is still reading from the checkpoint. In a recording without a time, nodes are compared with the one
furthest ahead. Not judged: nodes without channels, or whose slowest channel is of a dropped collection; such a
channel is reported from 5 minutes, because the limit counts it too.`,
	Remedy: `If all nodes are behind, look at the message queue and RootCoord. If one is, look at its CPU, memory
and log; it may be catching up after a start.`,
	Phases:   []latency.Name{latency.ConsistencyWait, latency.ConsistencyQueue},
	Slowness: true,
	Run:      runTimetickLag,
	Roles:    []string{"rootcoord", "proxy", "streamingnode"},
	FollowsFrom: slices.Concat(
		check.CausedBy(nil, "queue-unreachable", "etcd-alarm", "etcd-no-leader"),
		check.CausedBy(check.Shares("nodes"), "process-slow"),
		check.CausedBy(check.StopsTicks, "node-unreachable", "stale-session"),
		withHostStarved(),
	),
}

// tick is the time up to which a node has consumed its slowest channel.
type tick struct {
	node    *model.LiveNode
	channel string
	at      time.Time
}

// ticks returns the ticks of the nodes, sorted from the furthest behind, and the time to compare them with. In a
// recording without a time, that is the tick of the node furthest ahead.
func ticks(p *check.Pass) (list []tick, asked time.Time) {
	if p.Runtime == nil {
		return nil, time.Time{}
	}
	if asked = p.Runtime.To; !asked.IsZero() {
		asked = asked.Add(clockOffset(p))
	}
	for _, n := range p.Runtime.Nodes {
		if n.System == nil || n.System.Quota == nil {
			continue
		}
		if at := n.System.Quota.SlowestAt.Time(); !at.IsZero() {
			list = append(list, tick{n, n.System.Quota.SlowestChannel, at})
			if p.Runtime.To.IsZero() && at.After(asked) {
				asked = at
			}
		}
	}
	slices.SortStableFunc(list, func(a, b tick) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.node.Node, b.node.Node))
	})
	return list, asked
}

// clockOffset returns how far the cluster's clock is ahead of the clock of the machine that read it, for a live cluster
// or a bundle of one. It returns 0 if that is unknown. The result is at most 3 s too small, because RootCoord reserves
// timestamps up to 3 s ahead of its clock.
func clockOffset(p *check.Pass) time.Duration {
	reserved := p.Reserved()
	if !p.ByClock() || reserved.IsZero() || p.Origin.Taken.IsZero() {
		return 0
	}
	return reserved.Sub(p.Origin.Taken) - 3*time.Second
}

func runTimetickLag(p *check.Pass) {
	for _, n := range p.Runtime.Nodes {
		if n.Role == "datanode" && n.System == nil && !p.IsGone(n) {
			p.NoteUnseen("consumption of " + n.Name() + ": " + facts.WhySilent(n))
		}
	}
	list, asked := ticks(p)
	if len(list) == 0 {
		p.Skip("no node reported how far it has consumed the queue")
		return
	}
	list = slices.DeleteFunc(list, func(t tick) bool {
		return asked.Sub(t.at) < tickError && p.DroppedChannel(t.channel)
	})
	var late []tick
	for _, t := range list {
		if asked.Sub(t.at) >= tickWarning {
			late = append(late, t)
		}
	}
	if len(late) == len(list) && len(list) > 1 {
		reportTicks(p, late, asked, true)
		return
	}
	for _, t := range late {
		if t.node.Role != "querynode" { // see channel-consumption-lag
			reportTicks(p, []tick{t}, asked, false)
		}
	}
}

func reportTicks(p *check.Pass, late []tick, asked time.Time, all bool) {
	worst := late[0]
	lag := asked.Sub(worst.at)
	f := check.Finding{
		Severity: check.Warning,
		Evidence: []check.Evidence{
			check.Fact("queried at", facts.TimeText(asked), ""), check.Count("nodes behind", len(late), ""),
		},
		Impact: "Searches with Strong or Bounded consistency wait or fail; new rows appear late.",
	}
	for _, t := range late {
		f.Evidence = append(f.Evidence,
			check.Fact(t.node.Name()+" has consumed "+t.channel+" up to", facts.TimeText(t.at),
				t.node.Name()+" GetMetrics"))
		f.Objects = append(f.Objects, t.node.Ref())
	}
	if lag >= tickError {
		f.Severity = check.Error
	}
	if all {
		f.Message = fmt.Sprintf("all %d nodes that consume the queue are behind by up to %s", len(late),
			words.Span(lag))
		f.Fix = check.Fix(
			check.Shell(check.Kitescope("diagnose --only queue-unreachable,queue-lag,node-unreachable,stale-session")).
				Does("shows whether the queue responds, and whether a proxy keeps RootCoord waiting"),
			check.Do("look at the brokers of the message queue, and at the log of RootCoord: it sends the time ticks"),
		)
		f.Cost = min(1, float64(lag)/float64(tickError))
	} else {
		f.Object = worst.node.Ref()
		if worst.node.Role == "datanode" {
			f.Impact = "Flushes of the collection wait, and its rows are persisted late."
		}
		f.Message = fmt.Sprintf("%s is %s behind on %s", worst.node.Name(), words.Span(lag), worst.channel)
		f.Fix = check.Fix(
			check.Shell(check.Kitescope("get nodes").Arg("name="+worst.node.Name()).Flag("--columns",
				"name,address,cpu_percent,memory_bytes,started_at")).Does("shows whether it is short of CPU or memory"),
			check.Do("look at its log; if it does not catch up, restart %s: its channels then move to another node",
				worst.node.Name()).
				Restarting(p.Cluster, 2*time.Minute, worst.node.Role),
		)
		var given time.Time
		if v := p.VChannel(worst.channel); v != nil && v.Watcher == worst.node.Node {
			given = v.WatchedAt
		}
		check.DowngradeCatchingUp(p.Facts, &f, worst.node, given)
	}
	p.Report(f)
}
