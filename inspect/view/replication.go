package view

import (
	"cmp"
	"slices"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// replicatedChannel is a pchannel of one cluster that is replicated to a pchannel of another. Each end
// records its state in its own etcd, so the state of the other end is nil.
type replicatedChannel struct {
	source, target               string // cluster ids, "" if unknown
	sourceChannel, targetChannel string
	// task is recorded by the source, checkpoint by the target.
	task       *model.ReplicationChannel
	checkpoint *model.ReplicatePosition
	// salvaged is the target's position when it was promoted by force, nil if it was not.
	salvaged *model.ReplicatePosition
}

func (r *replicatedChannel) id() string { return r.sourceChannel + "/" + r.targetChannel }

// ownCluster returns the id of the cluster in a replicated group whose pchannels are in this metadata, or "".
// Pchannels are named after their cluster.
func ownCluster(c *model.Cluster) string {
	if c.Streaming == nil {
		return ""
	}
	for _, x := range c.Streaming.Clusters {
		if slices.ContainsFunc(x.PChannels, func(name string) bool { return c.PChannel(name) != nil }) {
			return x.ID
		}
	}
	return ""
}

// replicatedChannels returns the pairs of the configuration, matched by the order of their pchannels (Milvus
// pkg/util/replicateutil), and the pairs that only a task or a checkpoint still has.
func replicatedChannels(e *Env) []*replicatedChannel {
	c := e.Cluster
	own := ownCluster(c)
	byID := map[string]*replicatedChannel{}
	at := func(source, sourceChannel, target, targetChannel string) *replicatedChannel {
		r := &replicatedChannel{
			source: source, target: target, sourceChannel: sourceChannel, targetChannel: targetChannel,
		}
		if had := byID[r.id()]; had != nil {
			return had
		}
		byID[r.id()] = r
		return r
	}
	if s := c.Streaming; s != nil {
		for _, l := range s.Links {
			from, to := channelsOf(s, l.Source), channelsOf(s, l.Target)
			for i := range min(len(from), len(to)) {
				at(l.Source, from[i], l.Target, to[i])
			}
		}
		for i := range s.Channels {
			t := &s.Channels[i]
			at(own, t.Source, t.Cluster, t.Target).task = t
		}
	}
	for _, p := range c.PChannels {
		if p.Replicated != nil {
			at(p.Replicated.Cluster, p.Replicated.PChannel, own, p.Name).checkpoint = p.Replicated
		}
		for i := range p.Salvaged {
			x := &p.Salvaged[i]
			at(x.Cluster, x.PChannel, own, p.Name).salvaged = x
		}
	}
	rows := make([]*replicatedChannel, 0, len(byID))
	for _, r := range byID {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *replicatedChannel) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.target, b.target), cmp.Compare(a.id(), b.id()))
	})
	return naturalOrder(rows, func(r *replicatedChannel) string { return r.source + "/" + r.target + "/" + r.id() })
}

func channelsOf(s *model.Streaming, cluster string) []string {
	for _, x := range s.Clusters {
		if x.ID == cluster {
			return x.PChannels
		}
	}
	return nil
}

// roleOf returns the role of this cluster in a pair: source, target or none.
func roleOf(e *Env, r *replicatedChannel) string {
	switch own := ownCluster(e.Cluster); {
	case r.task != nil, own != "" && own == r.source:
		return "source"
	case r.checkpoint != nil, r.salvaged != nil, own != "" && own == r.target:
		return "target"
	}
	return "none"
}

// taskColumn and checkpointColumn return column functions for the records of the source and of the target.
func taskColumn(cell func(*model.ReplicationChannel) table.Cell) func(*Env, *replicatedChannel) table.Cell {
	return func(_ *Env, r *replicatedChannel) table.Cell {
		if r.task == nil {
			return none()
		}
		return cell(r.task)
	}
}

func checkpointColumn(cell func(*Env, *model.ReplicatePosition) table.Cell) func(*Env, *replicatedChannel) table.Cell {
	return func(e *Env, r *replicatedChannel) table.Cell {
		if r.checkpoint == nil {
			return none()
		}
		return cell(e, r.checkpoint)
	}
}

var replication = define(definition[*replicatedChannel]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "replication", Singular: "replicated-channel", Names: []string{"source_pchannel", "target_pchannel"},
			Handle: "name", Slashes: true,
			Shorthands: map[string]string{"lag": "checkpoint_age_seconds"},
		},
		Aliases: []string{"replicate", "cdc"},
		Doc:     "Pchannels replicated by CDC (since 2.6): configuration and local state. Tokens are never read.",
		Needs:   model.PartObjects | model.PartServing | model.PartChannels,
	},
	rows: replicatedChannels,
	columns: []column[*replicatedChannel]{
		col(table.Column{
			Name: "name", Show: table.Hidden, Doc: "source_pchannel/target_pchannel: the name of the pair.",
		}, func(_ *Env, r *replicatedChannel) table.Cell { return text(r.id()) }),
		col(table.Column{
			Name: "source_cluster", Title: "SOURCE", Vocabulary: true,
			Doc: "Id of the cluster that clients write to; none if no configuration has it.",
		},
			func(_ *Env, r *replicatedChannel) table.Cell { return text(r.source) }),
		col(table.Column{
			Name: "target_cluster", Title: "TARGET", Vocabulary: true,
			Doc: "Id of the cluster that it is replicated to; none if no configuration has it.",
		},
			func(_ *Env, r *replicatedChannel) table.Cell { return text(r.target) }),
		col(table.Column{
			Name: "role", Kind: table.State, Priority: 1,
			Doc: "Role of this cluster: source, target, or neither. This cluster is the one with these pchannels in " +
				"its metadata.",
		},
			func(e *Env, r *replicatedChannel) table.Cell { return text(roleOf(e, r)) }),
		col(table.Column{Name: "source_pchannel", Doc: "Pchannel of the source."},
			func(_ *Env, r *replicatedChannel) table.Cell { return text(r.sourceChannel) }),
		col(table.Column{Name: "target_pchannel", Doc: "Pchannel of the target."},
			func(_ *Env, r *replicatedChannel) table.Cell { return text(r.targetChannel) }),
		col(table.Column{
			Name: "target_uri", Title: "TARGET URI", Show: table.Wide, Priority: 6,
			Doc: "Address of the target in the configuration, without user and password.",
		},
			func(e *Env, r *replicatedChannel) table.Cell { return text(uriOf(e.Cluster.Streaming, r.target)) }),
		col(table.Column{
			Name: "configured", Kind: table.Bool, Priority: 4,
			Doc: "The configuration has this pair; else it is left over from an earlier one.",
		},
			func(e *Env, r *replicatedChannel) table.Cell { return yesNo(isConfigured(e.Cluster.Streaming, r)) }),
		col(table.Column{
			Name: "started_at", Title: "STARTED", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "Time of the message from which the source replicates; none at the target.",
		},
			taskColumn(func(t *model.ReplicationChannel) table.Cell { return tso(t.StartedAt) })),
		col(table.Column{
			Name: "start", Show: table.Hidden,
			Doc: "Id of that message in its queue's format; kitescope decode msgid explains it.",
		},
			taskColumn(func(t *model.ReplicationChannel) table.Cell { return text(t.Start) })),
		col(table.Column{
			Name: "from_start", Kind: table.Bool, Show: table.Hidden,
			Doc: "The source begins there, whatever the target has (3.0).",
		},
			taskColumn(func(t *model.ReplicationChannel) table.Cell { return yesNo(t.FromStart) })),
		col(table.Column{
			Name: "checkpoint", Show: table.Wide, Priority: 5,
			Doc: "Last message of the source that the target applied; none at the source, because its etcd does " +
				"not have it.",
		},
			checkpointColumn(func(_ *Env, p *model.ReplicatePosition) table.Cell { return text(p.Message) })),
		col(table.Column{
			Name: "checkpoint_at", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "Time tick of that message, by the clock of the source.",
		},
			checkpointColumn(func(_ *Env, p *model.ReplicatePosition) table.Cell { return tso(p.At) })),
		col(table.Column{
			Name: "checkpoint_age_seconds", Title: "BEHIND", Kind: table.Duration, Priority: 2,
			Doc: "Time since checkpoint_at: how far the target is behind while the source is written. Where nothing " +
				"is written it may grow as well.",
		},
			checkpointColumn(func(e *Env, p *model.ReplicatePosition) table.Cell { return age(e, p.At.Time()) })),
		col(table.Column{
			Name: "salvage_at", Kind: table.Time, Show: table.Hidden,
			Doc: "Time tick up to which the target had applied it when it was promoted by force (3.0).",
		},
			func(_ *Env, r *replicatedChannel) table.Cell {
				if r.salvaged == nil {
					return none()
				}
				return tso(r.salvaged.At)
			}),
		col(table.Column{
			Name: "force_promoted", Kind: table.Bool, Show: table.Hidden,
			Doc: "This cluster took over without waiting for its source (3.0).",
		},
			func(e *Env, _ *replicatedChannel) table.Cell {
				return yesNo(e.Cluster.Streaming != nil && e.Cluster.Streaming.ForcePromoted)
			}),
		col(table.Column{
			Name: "config_acknowledged", Show: table.Hidden,
			Doc: "Number of this cluster's channels that acknowledged the replication configuration, of those it was " +
				"written to; none if not recorded.",
		},
			func(e *Env, _ *replicatedChannel) table.Cell { return configAcknowledged(e.Cluster.Streaming) }),
		col(table.Column{
			Name: "config_waits_for", Rare: true, Kind: table.List, Show: table.Hidden,
			Doc: "Channels that have not acknowledged it.",
		},
			func(e *Env, _ *replicatedChannel) table.Cell {
				return list(unacknowledgedChannels(e.Cluster.Streaming))
			}),
	},
	ref: func(_ *Env, r *replicatedChannel) Ref { return Ref{ID: r.id(), Name: r.id()} },
	links: func(e *Env, r *replicatedChannel) []Link {
		own := r.sourceChannel
		if e.Cluster.PChannel(own) == nil {
			own = r.targetChannel
		}
		return []Link{link("pchannel", "pchannels", "name="+own), link("wal", "wal", "pchannel="+own)}
	},
})

func uriOf(s *model.Streaming, cluster string) string {
	if s == nil {
		return ""
	}
	for _, x := range s.Clusters {
		if x.ID == cluster {
			return x.URI
		}
	}
	return ""
}

// isConfigured reports whether the configuration has a pair.
func isConfigured(s *model.Streaming, r *replicatedChannel) bool {
	if s == nil {
		return false
	}
	for _, l := range s.Links {
		i := slices.Index(channelsOf(s, l.Source), r.sourceChannel)
		to := channelsOf(s, l.Target)
		if i >= 0 && i < len(to) && to[i] == r.targetChannel {
			return true
		}
	}
	return false
}

// configAcknowledged returns the number of channels that have acknowledged the configuration and the number
// of all, e.g. "1/2".
func configAcknowledged(s *model.Streaming) table.Cell {
	if s == nil || len(s.ConfigAcks) == 0 {
		return none()
	}
	all := len(s.ConfigAcks)
	return text(strconv.Itoa(all-len(unacknowledgedChannels(s))) + "/" + strconv.Itoa(all))
}

func unacknowledgedChannels(s *model.Streaming) (names []string) {
	if s != nil {
		for _, x := range s.ConfigAcks {
			if x.At == 0 {
				names = append(names, x.Channel)
			}
		}
	}
	return names
}
