package model

import (
	"slices"
	"time"
)

// Dependency is something that Milvus stands on, or one member of it, as a proxy found it when it was asked (2.5 and later).
type Dependency struct {
	// Proxy is who looked.
	Proxy NodeID
	// Kind is "metadata store" or "message queue", Type "etcd", "kafka".
	Kind, Type string
	// Member is the endpoint of a member, "" for the whole.
	Member string
	// Healthy is unknown where the release has no check for the type.
	Healthy Known
	// Reason is why it is not healthy, or why that is unknown.
	Reason string
}

// Connection is a client that is connected to a proxy (2.5 and later), or was within the last day.
type Connection struct {
	Proxy NodeID
	// ID is the number that the proxy gave it.
	ID string
	// SDK, Version and Host are what the client says of itself.
	SDK, Version, Host string
	// ActiveAt is when it was last heard of; zero: unknown.
	ActiveAt time.Time
}

// GarbageCollector is whether an operator has paused garbage collection, for how long still, and who told.
type GarbageCollector struct {
	Paused bool
	Left   time.Duration
	By     string
}

// Dependencies are those that proxies looked at; nil if none did.
func (r *Runtime) Dependencies() []Dependency {
	var list []Dependency
	for _, p := range r.processes() {
		list = append(list, p.Dependencies...)
	}
	return list
}

// Connections are the clients of all proxies that told theirs; nil if none did.
func (r *Runtime) Connections() []Connection {
	var list []Connection
	for _, p := range r.processes() {
		list = append(list, p.Connections...)
	}
	return list
}

// reported says whether any proxy told of its clients, of which there may be none, or of what it depends on, or any process its log level.
func (r *Runtime) reported() bool {
	return slices.ContainsFunc(r.processes(), func(p *Process) bool { return p.Connections != nil || p.Dependencies != nil || p.LogLevel != "" })
}

func (r *Runtime) processes() []*Process {
	if r == nil {
		return nil
	}
	return r.Processes
}
