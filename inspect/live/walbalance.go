package live

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

// Whether channels are moved between streaming nodes, and which of these an operator has suspended: a MixCoord tells it over HTTP, in
// later 2.6 and in 3.0 (internal/coordinator/restful_mgr_routes.go: getStreamingBalanceStatus, HandleStreamingNodes). gRPC has no such call.
const (
	walBalancePath   = "/management/streaming/balance/status"
	methodWALBalance = "GET " + walBalancePath
	walNodesPath     = "/management/streaming/nodes"
	methodWALNodes   = "GET " + walNodesPath
)

// walBalanceTold is the answer. A PUT is answered with the message alone.
type walBalanceTold struct {
	Status string `json:"status"`
}

func readWALBalance(body []byte) (*walBalanceTold, *failure) {
	const what = "the state of the balancing of streaming nodes"
	told := &walBalanceTold{}
	if f := readJSON(body, what, '{', told); f != nil {
		return nil, f
	}
	// Milvus writes "activate"; "active" is what it takes.
	if told.Status != "activate" && told.Status != "active" && told.Status != "suspended" {
		return nil, failed(model.Garbled, "the answer is not %s", what)
	}
	return told, nil
}

// takeWALBalance keeps the newest answer.
func takeWALBalance(d *Decoder, _ *processRecords, q *question, told *walBalanceTold) {
	active := told.Status != "suspended"
	d.keep(q, "streaming balance", func(p *model.RuntimeParts) { p.StreamingBalance = &active })
}

// walNodesTold is the answer: streaming nodes, and query nodes that serve channels.
type walNodesTold struct {
	Nodes []*walNode `json:"nodeInfos"`
}

type walNode struct {
	ID    int64  `json:"ID"`
	State string `json:"state"`
}

// maxWALNodes is more than any cluster has.
const maxWALNodes = 10_000

func readWALNodes(body []byte) (*walNodesTold, *failure) {
	const what = "a list of streaming nodes"
	told := &walNodesTold{}
	if f := readJSON(body, what, '{', told); f != nil {
		return nil, f
	}
	if told.Nodes == nil || len(told.Nodes) > maxWALNodes {
		return nil, failed(model.Garbled, "the answer is not %s", what)
	}
	kept := &walNodesTold{Nodes: []*walNode{}}
	for _, n := range told.Nodes {
		if n != nil {
			kept.Nodes = append(kept.Nodes, &walNode{n.ID, oneLine(n.State)})
		}
	}
	return kept, nil
}

// takeWALNodes keeps the newest answer.
func takeWALNodes(d *Decoder, _ *processRecords, q *question, told *walNodesTold) {
	list := []model.NodeState{}
	for _, n := range told.Nodes {
		list = append(list, model.NodeState{Node: model.NodeID(n.ID), State: d.text(n.State)})
	}
	d.keepStates(q, "streaming nodes", streamingNodesOf, list)
}

// keepStates keeps the newest states of nodes that a coordinator listed.
func (d *Decoder) keepStates(q *question, what string, part func(*model.RuntimeParts) *[]model.NodeState, list []model.NodeState) {
	slices.SortFunc(list, func(a, b model.NodeState) int { return cmp.Compare(a.Node, b.Node) })
	d.keep(q, what, listed(part, list...))
}
