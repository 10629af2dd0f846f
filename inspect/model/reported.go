package model

import (
	"slices"
	"time"
)

// Dependency is the health of a system that Milvus depends on, or of one of its members, as reported by a proxy
// (2.5 and later).
type Dependency struct {
	// Proxy is the reporting proxy.
	Proxy NodeID
	// Kind is "metadata store" or "message queue". Type is e.g. "etcd" or "kafka".
	Kind, Type string
	// Member is the endpoint of a member, or "" for the whole system.
	Member string
	// Healthy is unknown if the release has no check for the type.
	Healthy Tristate
	// Reason is why the dependency is unhealthy, or why its health is unknown.
	Reason string
}

// Connection is a client that is, or was within the last day, connected to a proxy (2.5 and later).
type Connection struct {
	Proxy NodeID
	// ID is the number that the proxy assigned.
	ID string
	// SDK, Version and Host are as sent by the client.
	SDK, Version, Host string
	// ActiveAt is the time of the last activity, zero if unknown.
	ActiveAt time.Time
}

// GarbageCollector is the pause of garbage collection by an operator, with its remaining time. Reporter is the
// session that reported it.
type GarbageCollector struct {
	Paused    bool
	Remaining time.Duration
	Reporter  string
}

// Dependencies returns the dependencies that proxies reported, or nil if there are none.
func (r *Runtime) Dependencies() []Dependency {
	var list []Dependency
	for _, p := range r.processes() {
		list = append(list, p.Dependencies...)
	}
	return list
}

// Connections returns the clients of all proxies that reported them, or nil if none did.
func (r *Runtime) Connections() []Connection {
	var list []Connection
	for _, p := range r.processes() {
		list = append(list, p.Connections...)
	}
	return list
}

// reported reports whether any proxy returned its clients (possibly none) or dependencies, or any process its
// log level.
func (r *Runtime) reported() bool {
	return slices.ContainsFunc(r.processes(), func(p *Process) bool {
		return p.Connections != nil || p.Dependencies != nil || p.LogLevel != ""
	})
}

func (r *Runtime) processes() []*Process {
	if r == nil {
		return nil
	}
	return r.Processes
}
