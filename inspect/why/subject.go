package why

import (
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// addOwners adds the owners of an object: its collection, its channel, and the nodes that serve it.
func (s *subject) addOwners(r model.Ref) {
	c := s.cluster
	id, _ := strconv.ParseInt(r.ID, 10, 64)
	switch r.Resource {
	case "collections", "load-states":
		s.collection(model.CollectionID(id))
	case "vchannels":
		if v := c.VChannel(r.ID); v != nil {
			s.channel(v)
		}
	case "segments", "orphans":
		s.segment(model.SegmentID(id))
	case "segment-indexes":
		first, _, _ := strings.Cut(r.ID, "/")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			s.owners[model.Ref{Resource: "segments", ID: first}] = true
			s.segment(model.SegmentID(n))
		}
	case "partitions", "indexes":
		if id, ok := check.CollectionOf(c, r); ok {
			s.collection(id)
		}
	case "fields":
		first, _, _ := strings.Cut(r.ID, "/")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			s.collection(model.CollectionID(n))
		}
	case "nodes":
		s.node(r.ID)
	case "config": // of a process, e.g. key/datacoord-11
		_, process, _ := strings.Cut(r.ID, "/")
		s.node(process)
	default:
		s.addOtherOwners(r, id)
	}
}

func (s *subject) addOtherOwners(r model.Ref, id int64) {
	switch r.Resource {
	case "replicas":
		for _, x := range s.cluster.Replicas {
			if int64(x.ID) == id {
				s.collection(x.Collection)
				s.owners[model.Ref{Resource: "resource-groups", ID: x.ResourceGroup}] = true
				s.addNodes(x.Nodes)
			}
		}
	case "resource-groups":
		for _, g := range s.cluster.ResourceGroups {
			if g.Name == r.ID {
				s.addNodes(g.Nodes)
			}
		}
	case "tasks":
		for _, t := range s.cluster.Tasks {
			if t.Type+"/"+strconv.FormatInt(t.ID, 10) == r.ID {
				s.collection(t.Collection)
				s.addNodes([]model.NodeID{t.Node})
			}
		}
	case "keys":
		if _, watch, ok := strings.Cut(r.ID, "channelwatch/"); ok {
			if _, channel, ok := strings.Cut(watch, "/"); ok {
				s.direct[model.Ref{Resource: "vchannels", ID: channel}] = true
				s.addOwners(model.Ref{Resource: "vchannels", ID: channel})
			}
		}
	}
}

func (s *subject) collection(id model.CollectionID) {
	if id != 0 {
		s.collections[id.String()] = true
		s.owners[model.Ref{Resource: "collections", ID: id.String()}] = true
	}
}

func (s *subject) channel(v *model.VChannel) {
	s.collection(v.Collection)
	s.owners[model.Ref{Resource: "vchannels", ID: v.Name}] = true
	s.owners[model.Ref{Resource: "pchannels", ID: v.PChannel}] = true
	if v.Watched {
		s.addNodes([]model.NodeID{v.Watcher})
	}
}

func (s *subject) segment(id model.SegmentID) {
	x := s.cluster.Segment(id)
	if x == nil {
		return
	}
	s.collection(x.Collection)
	if v := s.cluster.VChannel(x.VChannel); v != nil {
		s.channel(v)
	}
	for _, from := range x.CompactedFrom {
		s.owners[model.Ref{Resource: "segments", ID: from.String()}] = true
	}
	for i := range x.Indexes {
		s.addNodes([]model.NodeID{x.Indexes[i].Node})
	}
}

func (s *subject) addNodes(nodes []model.NodeID) {
	for _, id := range nodes {
		if id != 0 {
			s.nodes[id] = true
		}
	}
}

// node adds the node with a name, e.g. "querynode-19".
func (s *subject) node(name string) {
	if id, ok := nodeOf(name); ok {
		s.nodes[id] = true
	}
}

func nodeOf(name string) (model.NodeID, bool) {
	i := strings.LastIndexByte(name, '-')
	id, err := strconv.ParseInt(name[i+1:], 10, 64)
	return model.NodeID(id), i >= 0 && err == nil
}

// touches reports whether an event is about a node of the finding, or about a channel whose state before or
// after names one.
func (s *subject) touches(e *history.Event) bool {
	if len(s.nodes) == 0 {
		return false
	}
	switch e.Object.Resource {
	case "nodes":
		id, ok := nodeOf(e.Object.ID)
		return ok && s.nodes[id]
	case "vchannels", "pchannels":
		return s.mentionsNode(e.Before) || s.mentionsNode(e.After)
	}
	return false
}

// mentionsNode reports whether a text such as "node 8" or "nodes 8,9" contains a node of the finding.
func (s *subject) mentionsNode(text string) bool {
	text, ok := strings.CutPrefix(text, "node")
	if !ok {
		return false
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if id, err := strconv.ParseInt(word, 10, 64); err == nil && s.nodes[model.NodeID(id)] {
			return true
		}
	}
	return false
}

// isOfRole reports whether r is a node of the role missingRole, or any node if missingRole is check.WholeCluster.
func isOfRole(r model.Ref, missingRole string) bool {
	if r.Resource != "nodes" {
		return false
	}
	role, _, _ := strings.Cut(r.ID, "-")
	return missingRole == check.WholeCluster || role == missingRole
}
