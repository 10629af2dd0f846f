package live

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

// The state of balancing between streaming nodes, and of the nodes, which an operator may suspend. MixCoord
// reports them over HTTP in later 2.6 and in 3.0 (internal/coordinator/restful_mgr_routes.go:
// getStreamingBalanceStatus, HandleStreamingNodes). gRPC has no such call.
const (
	walBalancePath   = "/management/streaming/balance/status"
	methodWALBalance = "GET " + walBalancePath
	walNodesPath     = "/management/streaming/nodes"
	methodWALNodes   = "GET " + walNodesPath
)

// walBalanceStatus is the response to GET. The response to PUT has only a message.
type walBalanceStatus struct {
	Status string `json:"status"`
}

// clean accepts "activate", which Milvus writes, and "active", which it accepts.
func (b *walBalanceStatus) clean() bool {
	return b.Status == "activate" || b.Status == "active" || b.Status == "suspended"
}

// takeWALBalance stores the newest response.
func takeWALBalance(d *Decoder, _ *processRecords, q *pendingRecord, status *walBalanceStatus) {
	active := status.Status != "suspended"
	d.keep(q, "streaming balance", func(p *model.RuntimeParts) { p.StreamingBalance = &active })
}

// walNodeList is the response: streaming nodes, and query nodes that serve channels.
type walNodeList struct {
	Nodes []*walNode `json:"nodeInfos"`
}

type walNode struct {
	ID    int64  `json:"ID"`
	State string `json:"state"`
}

// maxWALNodes bounds the list; no cluster has as many.
const maxWALNodes = 10_000

func (w *walNodeList) clean() bool {
	if w.Nodes == nil || len(w.Nodes) > maxWALNodes {
		return false
	}
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n *walNode) bool { return n == nil })
	for _, n := range w.Nodes {
		n.State = oneLine(n.State)
	}
	return true
}

// takeWALNodes stores the newest response.
func takeWALNodes(d *Decoder, _ *processRecords, q *pendingRecord, response *walNodeList) {
	list := []model.NodeState{}
	for _, n := range response.Nodes {
		list = append(list, model.NodeState{Node: model.NodeID(n.ID), State: d.text(n.State)})
	}
	d.keepStates(q, "streaming nodes", streamingNodesOf, list)
}

// keepStates stores the newest states of the nodes that a coordinator listed.
func (d *Decoder) keepStates(
	q *pendingRecord, what string, part func(*model.RuntimeParts) *[]model.NodeState, list []model.NodeState,
) {
	slices.SortFunc(list, func(a, b model.NodeState) int { return cmp.Compare(a.Node, b.Node) })
	d.keep(q, what, appendTo(part, list...))
}
