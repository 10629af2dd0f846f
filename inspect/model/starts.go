package model

import (
	"slices"
	"time"
)

// StartsWindow is the period before the present for which process starts are recorded.
const StartsWindow = 10 * time.Minute

// Start is the registration of a process, which gets a new id at each start.
type Start struct {
	Role    string
	Node    NodeID
	Address string
	// At is the time of registration, zero if unknown.
	At time.Time
}

// AddStart adds the start of a session unless the list has it, because coordinators register twice.
func AddStart(list []Start, s *Session, at time.Time) []Start {
	if slices.ContainsFunc(list, func(x Start) bool { return x.Role == s.Role && x.Node == s.Node }) {
		return list
	}
	return append(list, Start{Role: s.Role, Node: s.Node, Address: s.Address, At: at})
}

// WithStarts returns a copy of the cluster with the process starts within StartsWindow, the first one first.
func (c *Cluster) WithStarts(starts []Start) *Cluster {
	next := *c
	next.Starts = starts
	return &next
}
