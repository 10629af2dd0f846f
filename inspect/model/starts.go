package model

import (
	"slices"
	"time"
)

// StartsPast is how far back the starts of processes are known.
const StartsPast = 10 * time.Minute

// Start is the registration of a process: each time that it starts it gets another id.
type Start struct {
	Role    string
	Node    NodeID
	Address string
	// At is when it registered, zero if nothing dates that.
	At time.Time
}

// AddStart adds the start of a session, unless it is known: coordinators have two records of one.
func AddStart(list []Start, s *Session, at time.Time) []Start {
	if slices.ContainsFunc(list, func(x Start) bool { return x.Role == s.Role && x.Node == s.Node }) {
		return list
	}
	return append(list, Start{Role: s.Role, Node: s.Node, Address: s.Address, At: at})
}

// WithStarts returns the same cluster with the starts of its processes in StartsPast, the first one first.
func (c *Cluster) WithStarts(starts []Start) *Cluster {
	next := *c
	next.Starts = starts
	return &next
}
