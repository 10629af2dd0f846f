package place

import (
	"slices"

	"kitescope/inspect/impact"
	"kitescope/inspect/model"
)

// Kind is a kind of component: the role of a process, or Etcd, Queue, Storage or Host.
type Kind string

// The components that are not Milvus processes, and the roles in the graph.
const (
	Etcd    Kind = "etcd"
	Queue   Kind = "queue"
	Storage Kind = "storage"
	Host    Kind = "host"

	proxy      Kind = "proxy"
	rootCoord  Kind = "rootcoord"
	queryCoord Kind = "querycoord"
	dataCoord  Kind = "datacoord"
	queryNode  Kind = "querynode"
	dataNode   Kind = "datanode"
	indexNode  Kind = "indexnode"
	streaming  Kind = "streamingnode"
)

// Process reports whether components of the kind are Milvus processes.
func (k Kind) Process() bool { return !slices.Contains([]Kind{Etcd, Queue, Storage, Host}, k) }

// step is a component that a request passes or waits for, and the work that it does for the request.
type step struct {
	work string
	kind Kind
}

// architecture is the architecture of a release.
type architecture uint8

const (
	withIndexCoord architecture = iota // up to 2.2: IndexCoord is a separate process
	withTimeTicks                      // 2.3 to 2.5: proxies write to the queue, and time ticks pass all proxies
	// 2.6 and later: streaming nodes write to the WAL, and one process is all coordinators.
	withStreaming
)

// architectureOf returns the architecture of a cluster, from its sessions and its version.
func architectureOf(c *model.Cluster) architecture {
	for _, s := range c.Sessions {
		if s.Role == string(streaming) || s.Role == "mixcoord" {
			return withStreaming
		}
	}
	switch {
	case c.Version.Text == "":
		return withTimeTicks
	case model.VersionAtLeast(c.Version.Text, 2, 6):
		return withStreaming
	case !model.VersionAtLeast(c.Version.Text, 2, 3):
		return withIndexCoord
	}
	return withTimeTicks
}

// steps returns the components that a kind of request passes, in order. They are from the sources of 2.1 to
// 3.0 (internal/proxy/task_*.go, internal/querynodev2, internal/datacoord, internal/rootcoord,
// internal/streamingcoord).
func (e architecture) steps(r impact.Request) []step {
	front := []step{{"accepts the request", proxy}, {"timestamps, schemas", rootCoord}}
	path := func(more ...step) []step { return slices.Concat(front, more) }
	index := dataCoord
	if e == withIndexCoord {
		index = "indexcoord"
	}
	switch r {
	case impact.Search, impact.Query:
		list := path(step{"shard leaders", queryCoord})
		if e == withStreaming { // the streaming node has the time ticks
			return append(list, step{"leads the shard", streaming}, step{"searches", queryNode})
		}
		return append(list, step{"leads the shard", queryNode}, step{"time ticks", proxy},
			step{"time ticks", rootCoord}, step{"time ticks", Queue}, step{"searches", queryNode})
	case impact.Insert, impact.Upsert:
		if e == withStreaming {
			return path(step{"appends to the WAL", streaming}, step{"keeps messages", Queue})
		}
		return path(step{"segments", dataCoord}, step{"keeps messages", Queue})
	case impact.Delete:
		if e == withStreaming {
			return path(step{"appends to the WAL", streaming}, step{"keeps messages", Queue})
		}
		return path(step{"keeps messages", Queue})
	case impact.Flush:
		if e == withStreaming {
			return path(step{"appends to the WAL", streaming}, step{"keeps messages", Queue},
				step{"flushes", streaming}, step{"keeps files", Storage}, step{"records files", dataCoord})
		}
		return path(step{"seals", dataCoord}, step{"time ticks", Queue}, step{"flushes", dataNode},
			step{"keeps files", Storage}, step{"records files", dataCoord})
	case impact.DDL:
		list := path(step{"records", Etcd})
		if e == withStreaming {
			return append(list, step{"broadcasts", streaming}, step{"keeps messages", Queue},
				step{"indexes", dataCoord}, step{"forgets caches", proxy})
		}
		return append(list, step{"channels", Queue}, step{"watches channels, indexes", index},
			step{"releases", queryCoord}, step{"forgets caches", proxy})
	case impact.Load:
		return path(step{"loads", queryCoord}, step{"segments, indexes", index}, step{"load segments", queryNode}, step{
			"keeps files", Storage,
		})
	case impact.Describe:
		return path(step{"indexes", index})
	case impact.Import:
		return path(step{"schedules", dataCoord}, step{"imports", dataNode}, step{"keeps files", Storage}, step{
			"builds indexes", e.builder(),
		})
	}
	return front
}

func (e architecture) builder() Kind {
	if e == withStreaming {
		return dataNode
	}
	return indexNode
}

// dependencies returns the kinds of components that a component needs for its work.
func (e architecture) dependencies(k Kind) []Kind {
	switch k {
	case rootCoord:
		if e == withStreaming {
			return []Kind{Etcd}
		}
		return []Kind{Etcd, Queue}
	case dataCoord, "indexcoord", "mixcoord":
		return []Kind{Etcd}
	case queryCoord:
		return []Kind{Etcd, dataCoord}
	case queryNode, indexNode:
		return []Kind{Storage}
	case dataNode:
		return []Kind{Queue, Storage, dataCoord}
	case streaming:
		return []Kind{Queue, Etcd, Storage}
	default:
		return nil
	}
}
