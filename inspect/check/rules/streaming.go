package rules

import (
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// constructedOnly is said by each check that reads metrics of 2.6: no capture has them.
const constructedOnly = "Read from Milvus's code (2.6.22, 3.0.1), never seen on a live Milvus."

// streamingNodes are the streaming nodes whose metrics were read; those of which they were not are noted: of pchannels' nodes that have a session.
// Without streaming, as before 2.6, there is none, and nothing to be asked for.
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
		if id := x.Node; x.Streaming && id != 0 && !noted[id] && !told.Node(id).Whole() && len(p.SessionsOf(id)) > 0 && !justStarted(p, id) {
			noted[id] = true
			p.Unseen("metrics of " + refStreaming(id).ID + why(p, id))
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

func why(p *check.Pass, id model.NodeID) string {
	n := p.Runtime.LiveNode("streamingnode", id)
	switch {
	case n != nil && (n.Process == nil || n.Process.Metrics == nil):
		return ": " + facts.WhySilent(n)
	case p.Runtime.Streaming().Node(id) != nil || n != nil && n.Process.Metrics.Partial:
		return ": read in part"
	case n != nil:
		return ": nothing about logs is in them"
	}
	return ": not read"
}

// justStarted reports whether a streaming node's metrics were read whole in its first minutes: it has no log yet, and does not tell its watermarks.
func justStarted(p *check.Pass, id model.NodeID) bool {
	n := p.Runtime.LiveNode("streamingnode", id)
	return n != nil && n.Process != nil && n.Process.Metrics != nil && !n.Process.Metrics.Partial && !p.OlderThan(n.Process.StartedAt(), openGrace, true)
}

// earlier is what a streaming node said in the scrape before, nil if there is none of the same process.
func earlier(n *model.StreamingNode) *model.StreamingNode {
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

// logOf is the log of a pchannel on a node, nil if it does not have it.
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

// vchannelsOn are the living collections' vchannels on a pchannel.
func vchannelsOn(p *check.Pass, pchannel string) (refs []model.Ref) {
	servedChannels(p, func(_ *model.Collection, v *model.VChannel) {
		if v.PChannel == pchannel && len(refs) < facts.MaxObjects {
			refs = append(refs, facts.RefVChannel(v.Name))
		}
	})
	return refs
}

// refStreaming is a streaming node as an object.
func refStreaming(id model.NodeID) model.Ref { return facts.RefNode("streamingnode", id) }

// atNode is a step at a streaming node, none where no node is known.
func atNode(id model.NodeID, step check.Step) check.Step {
	if id <= 0 {
		return check.Step{}
	}
	return step
}

// assignee is the streaming node that has a pchannel.
func assignee(x *model.PChannel) string {
	if x.Node == 0 {
		return "none"
	}
	return refStreaming(x.Node).ID
}
