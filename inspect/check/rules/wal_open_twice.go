package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walOpenTwice finds write-ahead logs that are open for writes on two nodes.
var walOpenTwice = &check.Check{
	ID:       "wal-open-twice",
	Title:    "Two streaming nodes have the same write-ahead log open",
	Severity: check.Warning,
	Symptoms: []string{check.WritesFail},
	Starts:   "node_lost:streamingnode node_joined:streamingnode | channel_reassigned",
	Parts:    model.PartChannels | model.PartServing | model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `A node that lost its session keeps a log open, and the queue rejects its writes (fencing). The check looks
at ` + "`milvus_wal_info`" + ` of all streaming nodes (2.6 and later), which a node has for each log that takes writes.
When a pchannel moves, the old node closes the log before the new one opens it in a higher term.

Warning: two nodes have it in each of two scrapes. A single scrape is not enough: processes are scraped one after the
other. ` +
		constructedOnly,
	Remedy: `If the node with the lower term does not end, restart it: it holds memory, and clients that reach it
must retry elsewhere.`,
	Run:         runWALOpenTwice,
	Roles:       []string{"mixcoord"},
	FollowsFrom: []check.Cause{{Check: "stale-session", Applies: check.SharesProcess}, {Check: "etcd-no-leader"}},
}

func runWALOpenTwice(p *check.Pass) {
	before := map[model.NodeID]*model.StreamingNode{}
	nodes := streamingNodes(p)
	if len(nodes) == 0 {
		return
	}
	for _, n := range nodes {
		before[n.Node] = cmp.Or(before[n.Node], previousScrape(n))
	}
	for _, n := range p.Runtime.Nodes { // any of them may have kept a log open
		if holdsLogs(p, n) && (n.Process == nil || n.Process.Metrics == nil) && !p.IsGone(n) {
			p.NoteUnseen("metrics of " + n.Name() + ": " + facts.WhySilent(n))
		}
	}
	for _, x := range p.PChannels {
		var open []*model.WAL
		known, both := true, true
		for _, w := range p.Runtime.Streaming().WALs(x.Name) {
			// a process may be listed under two addresses
			if w.Open && !slices.ContainsFunc(open, func(o *model.WAL) bool { return o.Node == w.Node }) {
				open = append(open, w)
				was := logOf(before[w.Node], x.Name)
				known, both = known && before[w.Node] != nil, both && was != nil && was.Open
			}
		}
		switch {
		case len(open) < 2:
		case !known:
			p.NoteUnseen("whether " + x.Name + " is moving: a node that has it was scraped only once")
		case both:
			reportOpenTwice(p, x, open)
		}
	}
}

// holdsLogs reports whether a process may have logs. It is true for a streaming node, and for a query node with the
// label of a query node inside a streaming node (Milvus 2.6, internal/util/sessionutil,
// LabelStreamingNodeEmbeddedQueryNode).
func holdsLogs(p *check.Pass, n *model.LiveNode) bool {
	return n.Role == "streamingnode" ||
		n.Role == "querynode" && slices.ContainsFunc(p.SessionsOf(n.Node), func(s *model.Session) bool {
			return slices.ContainsFunc(s.Labels, func(l model.Pair) bool {
				return strings.Contains(l.Key, "STREAMING-EMBEDDED")
			})
		})
}

func reportOpenTwice(p *check.Pass, x *model.PChannel, open []*model.WAL) {
	old, newest := open[0], open[0]
	for _, w := range open {
		if w.Term < old.Term {
			old = w
		}
		if w.Term > newest.Term {
			newest = w
		}
	}
	if old == newest {
		old = open[1]
	}
	name := refStreaming(old.Node).ID
	f := check.Finding{
		Severity: check.Warning, Object: refPChannel(x.Name),
		Message: fmt.Sprintf("the log of %s is open on %s (term %s) and on %s (term %s)", x.Name,
			refStreaming(newest.Node).ID, words.Number(newest.Term), name, words.Number(old.Term)),
		Impact: "Writes that reach the node with the lower term fail and are retried.",
		Fix: check.Fix(
			atNode(old.Node, check.Do("look at the log of %s for %q: it should have closed the log", name, x.Name)),
			atNode(old.Node, check.Do("restart %s if it keeps the log open", name).
				Restarting(p.Cluster, 2*time.Minute, "streamingnode")),
		),
		Evidence: []check.Evidence{
			check.Fact("assigned to", assignee(x), "etcd"), check.Factf("term", "etcd", "%s", check.Digits(x.Term)),
		},
	}
	for _, w := range open {
		f.Objects = append(f.Objects, refStreaming(w.Node))
		f.Evidence = append(f.Evidence,
			check.Factf("term on "+refStreaming(w.Node).ID, refStreaming(w.Node).ID+" /metrics", "%s",
				check.Digits(w.Term)))
	}
	p.Report(f)
}
