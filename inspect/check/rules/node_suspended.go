package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// nodeSuspended finds registered nodes that an operator has suspended.
var nodeSuspended = &check.Check{
	ID:       "node-suspended",
	Title:    "Node is suspended and gets no work",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.LoadsHang},
	Starts:   "resource_group_changed replica_changed | node_joined",
	Doc: `An operator suspended a node for a repair and never resumed it. Query nodes are suspended with
` + "`SuspendNode`" + `, ` + "`/management/querycoord/node/suspend`" + `, later
` + "`PUT /management/batch/nodes/status`" + `, streaming nodes with ` + "`PUT /management/streaming/nodes/status`" +
		`. A
suspended query node leaves its resource group: its segments move to the others, and it gets no more until it is
resumed or restarts. A suspended streaming node gets no WAL. Otherwise it looks registered and healthy.

Milvus lists a query node in no resource group as suspended, so this includes one that found no place: each group has
its ` + "`limits.node_num`" + `. Not reported: the query node inside a streaming node, which is in no group by design,
and a process in its first minute.

QueryCoord lists the query nodes with their states (` + "`ListQueryNode`" + `; Milvus 2.6 with these pages, and 3.0:
older ones list a suspended node as Normal), MixCoord the streaming nodes. Read in Milvus's sources; no server that
lists them was seen live.`,
	Remedy: `If the work on it is done, resume it with the call that suspended it and ` + "`{\"status\": \"active\"}`" +
		`.
If it is not needed any more, stop it.`,
	Parts: model.PartSessions,
	Needs: check.NeedProcesses,
	Run:   runNodeSuspended,
}

func runNodeSuspended(p *check.Pass) {
	if p.Runtime.QueryNodeStates == nil && p.Runtime.StreamingNodeStates == nil {
		if !facts.MaySupport(p.Cluster, 2, 5, "ListQueryNode", "querycoord", "mixcoord") {
			return // older coordinators have no such call
		}
		p.Skip("no coordinator listed its nodes")
		return
	}
	if facts.LacksPage(p.Cluster, "/management/streaming/nodes") {
		p.NoteUnseen("streaming nodes: MixCoord did not list them")
	}
	for _, s := range p.Sessions {
		n := p.Runtime.LiveNode(s.Role, s.Node)
		if p.Runtime.Suspended(s) != model.Yes || inFirstMinute(p, n) {
			continue
		}
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefNode(s.Role, s.Node),
			Message: s.Name() + " is suspended and gets no work",
			Impact:  "Its CPU and memory are not used, and the others do its work.",
			Fix: check.Fix(check.Do(`if the maintenance is done, resume it: PUT {"node_id": %d, "status": "active"} `+
				`to /management/%s/nodes/status of MixCoord's HTTP server`, s.Node, pagesOf(s.Role)).
				Interrupting(time.Minute, "nothing")),
		}
		if s.Role == "querynode" {
			f.Message = s.Name() + " is suspended: it is in no resource group and gets no work"
			f.Fix = append(f.Fix, check.Fix(check.Shell(check.Kitescope("get resource-groups")).
				Does("shows whether it is in no group because each is at its limit"))...)
		}
		if n != nil && n.Distribution != nil {
			segments, shards := len(n.Distribution.Sealed), len(n.Distribution.Leaders)
			f.Evidence = append(f.Evidence,
				check.Count("sealed segments", segments, s.Name()), check.Count("shards led", shards, s.Name()))
			if segments+shards > 0 {
				f.Message += "; it still serves " + words.Plural(segments, "segment") + " and leads " +
					words.Plural(shards, "shard")
			}
		}
		f.Evidence = append(f.Evidence, check.Fact("state", "suspended", suspensionSource(s.Role)))
		p.Report(f)
	}
}

// pagesOf returns the path element of MixCoord's management pages for nodes of a role (internal/http/router.go).
func pagesOf(role string) string {
	if role == "streamingnode" {
		return "streaming"
	}
	return "batch"
}

func suspensionSource(role string) string {
	if role == "streamingnode" {
		return "MixCoord"
	}
	return "QueryCoord"
}

// inFirstMinute reports whether a node is known to be in its first minute, when it may not have a resource group yet.
func inFirstMinute(p *check.Pass, n *model.LiveNode) bool {
	if n == nil {
		return false
	}
	started := n.StartedAt()
	return !started.IsZero() && p.Age(started) < time.Minute
}
