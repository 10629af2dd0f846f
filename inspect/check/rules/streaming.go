package rules

import (
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// constructedOnly is the note in the Doc of each check that reads metrics of 2.6, because no capture has those metrics.
const constructedOnly = "Read from Milvus's code (2.6.22, 3.0.1), never seen on a live Milvus."

// streamingNodes returns the streaming nodes with metrics. It notes a node as unseen if the node has a pchannel and a
// session but its metrics were not read whole, unless it just started. It returns nil without streaming, e.g. before
// 2.6.
func streamingNodes(p *check.Pass) []*model.StreamingNode {
	switch {
	case !streams(p):
		return nil
	case p.Runtime == nil:
		p.Skip(facts.NotAsked)
		return nil
	case len(p.Runtime.Streaming().Nodes) == 0:
		p.Skip("no streaming node reported its metrics")
		return nil
	}
	told := p.Runtime.Streaming()
	noted := map[model.NodeID]bool{}
	for _, x := range p.PChannels {
		if id := x.Node; x.Streaming && id != 0 && !noted[id] && !told.Node(id).Complete() &&
			len(p.SessionsOf(id)) > 0 && !justStarted(p, id) {
			noted[id] = true
			p.NoteUnseen("metrics of " + refStreaming(id).ID + whyUnread(p, id))
		}
	}
	return told.Nodes
}

// streams reports whether the cluster has the streaming service.
func streams(p *check.Pass) bool {
	for _, x := range p.PChannels {
		if x.Streaming {
			return true
		}
	}
	return false
}

func whyUnread(p *check.Pass, id model.NodeID) string {
	n := p.Runtime.LiveNode("streamingnode", id)
	switch {
	case n != nil && (n.Process == nil || n.Process.Metrics == nil):
		return ": " + facts.WhySilent(n)
	case p.Runtime.Streaming().Node(id) != nil || n != nil && n.Process.Metrics.Partial:
		return ": read in part"
	case n != nil:
		return ": they have no log metrics"
	}
	return ": not read"
}

// justStarted reports whether a streaming node's metrics were read whole in its first minutes. Such a node has no log
// yet and does not export its watermarks.
func justStarted(p *check.Pass, id model.NodeID) bool {
	n := p.Runtime.LiveNode("streamingnode", id)
	return n != nil && n.Process != nil && n.Process.Metrics != nil && !n.Process.Metrics.Partial &&
		!p.OlderThan(n.Process.StartedAt(), openGrace, true)
}

// previousScrape returns the streaming node as of the previous scrape, or nil if the same process has no whole earlier
// scrape.
func previousScrape(n *model.StreamingNode) *model.StreamingNode {
	if n.Process == nil || n.Process.Before == nil || n.Process.Before.Partial {
		return nil
	}
	if w := metrics.NewWindow(n.Process.Before, n.Process.Metrics); w == nil || w.SinceStart {
		return nil
	}
	for _, was := range n.Process.Before.StreamingNodes() {
		if was.Node == n.Node {
			return was
		}
	}
	return nil
}

// logOf returns the log of a pchannel on a node, or nil if the node does not have it.
func logOf(n *model.StreamingNode, pchannel string) *model.WAL {
	if n == nil {
		return nil
	}
	for _, w := range n.WALs {
		if w.PChannel == pchannel {
			return w
		}
	}
	return nil
}

// vchannelsOn returns at most facts.MaxObjects vchannels of existing collections on a pchannel.
func vchannelsOn(p *check.Pass, pchannel string) (refs []model.Ref) {
	servedChannels(p, func(_ *model.Collection, v *model.VChannel) {
		if v.PChannel == pchannel && len(refs) < facts.MaxObjects {
			refs = append(refs, facts.RefVChannel(v.Name))
		}
	})
	return refs
}

// refStreaming returns the reference to a streaming node.
func refStreaming(id model.NodeID) model.Ref { return facts.RefNode("streamingnode", id) }

// atNode returns step, or no step if the streaming node is unknown.
func atNode(id model.NodeID, step check.Step) check.Step {
	if id <= 0 {
		return check.Step{}
	}
	return step
}

// assignee returns the streaming node of a pchannel, or "none".
func assignee(x *model.PChannel) string {
	if x.Node == 0 {
		return "none"
	}
	return refStreaming(x.Node).ID
}
