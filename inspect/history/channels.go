package history

import (
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// channelState holds the watch records of a channel, one for each node.
type channelState struct {
	object     model.Ref
	collection model.CollectionID
	current    map[model.NodeID]string // the state of each record
	// previous is current as of the last revision; nodes names the nodes in it.
	previous map[model.NodeID]string
	nodes    string
	// touched means that a record changed in this revision, rewritten that one was written.
	touched, rewritten bool
}

// commit makes current the state of the last revision.
func (c *channelState) commit() {
	if !sameNodes(c.previous, c.current) {
		c.nodes = c.nodesOf(c.current)
	}
	clear(c.previous)
	maps.Copy(c.previous, c.current)
	c.touched, c.rewritten = false, false
}

func sameNodes(a, b map[model.NodeID]string) bool {
	if len(a) != len(b) {
		return false
	}
	for node := range a {
		if _, ok := b[node]; !ok {
			return false
		}
	}
	return true
}

// channel returns the channel of a Ref and marks it as touched in this revision.
func (r *Reader) channel(ref model.Ref, collection model.CollectionID) *channelState {
	c := r.channels[ref]
	if c == nil {
		c = &channelState{
			object: ref, collection: collection, current: map[model.NodeID]string{},
			previous: map[model.NodeID]string{},
		}
		r.channels[ref] = c
	}
	if !c.touched {
		c.touched = true
		r.touched = append(r.touched, c)
	}
	return c
}

// takeWatch applies a watch record of Milvus up to 2.5. The event is known only at the end of the revision,
// because the new node's record is written in the same transaction in which the old node's record is deleted.
func (r *Reader) takeWatch(v *model.VChannel, gone bool) {
	c := r.channel(vchannelRef(v.Name), v.Collection)
	if gone {
		delete(c.current, v.Watcher)
		return
	}
	c.current[v.Watcher] = v.WatchState
	c.rewritten = true
}

// pchannelChanged applies the assignment of a pchannel of 2.6.
func pchannelChanged(c *change) bool {
	after, _ := c.after.(*model.PChannel)
	x := c.channel(ref("pchannels", c.object().(*model.PChannel).Name), 0)
	clear(x.current)
	if after != nil && after.Node != 0 {
		x.current[after.Node] = after.State
		x.rewritten = true
	}
	return true
}

// endChannels reports the channels whose records were written in a revision.
func (r *Reader) endChannels() {
	for _, c := range r.touched {
		r.emitChannel(c)
		c.commit()
		if len(c.current) == 0 {
			delete(r.channels, c.object)
		}
	}
	r.touched = r.touched[:0]
}

func (r *Reader) emitChannel(c *channelState) {
	n := occurrence{object: c.object, collection: c.collection}
	from, to := c.nodes, c.nodes
	if !sameNodes(c.previous, c.current) {
		to = c.nodesOf(c.current)
	}
	switch {
	case from == to && !c.rewritten:
		return
	case from == to:
		n.kind, n.before, n.after = channelRewritten, statesOf(c.previous), statesOf(c.current)
		n.detail = "by " + to
		if to == "" {
			n.detail = unassigned
		}
	case to == "" && len(c.current) == 0:
		n.kind, n.before = channelReleased, from
	case from == "":
		n.kind, n.after, n.detail = channelAssigned, to, statesOf(c.current)
	case to == "":
		n.kind, n.before, n.detail = channelReleased, from, unassigned
	default:
		n.kind, n.before, n.after, n.detail = channelReassigned, from, to, statesOf(c.current)
	}
	r.emit(n)
}

const unassigned = "no node has it"

// nodesOf returns the names of the nodes with a record of the channel, e.g. "datanode-8". A record that DataCoord
// buffers without a node counts as unassigned.
func (c *channelState) nodesOf(records map[model.NodeID]string) string {
	role := "datanode"
	if c.object.Resource == "pchannels" {
		role = "streamingnode"
	}
	var names []string
	for _, node := range slices.Sorted(maps.Keys(records)) {
		if node != model.UnassignedNode {
			names = append(names, node.Name(role))
		}
	}
	return strings.Join(names, ", ")
}

func statesOf(records map[model.NodeID]string) string {
	if len(records) == 1 {
		for _, state := range records {
			return state
		}
	}
	states := make([]string, 0, len(records))
	for _, node := range slices.Sorted(maps.Keys(records)) {
		states = append(states, records[node])
	}
	return strings.Join(states, ",")
}
