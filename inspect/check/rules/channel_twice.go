package rules

import (
	"fmt"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// channelWatchedTwice reports vchannels that several nodes consume.
var channelWatchedTwice = &check.Check{
	ID:       "channel-watched-twice",
	Title:    "A vchannel is assigned to more than one data node",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.AfterRestart},
	Starts:   "channel_assigned channel_reassigned | node_joined:datanode node_joined:datacoord",
	Parts:    model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `Two data nodes write the same rows and both move the checkpoint. The check looks for vchannels with records
of several nodes under ` + "`channelwatch/`" + ` (Milvus 2.5 and older). Error if at least two of the nodes are
registered. Warning if only one is alive: the other record is a leftover.

Not reported: a channel that is also in DataCoord's buffer, and a record being released (` + "`ToRelease`" + `). During
a move both exist for a moment.`,
	Remedy: `Stop one of the data nodes; DataCoord then reassigns its channels. Count the rows of the collection
afterwards: some may be duplicates.`,
	Run: runChannelTwice,
}

func runChannelTwice(p *check.Pass) {
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		nodes := watchers(v)
		if len(nodes) < 2 {
			return
		}
		living := 0
		names := make([]string, len(nodes))
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefVChannel(v.Name),
			Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
		}
		for i, id := range nodes {
			names[i] = id.Name("datanode")
			f.Objects = append(f.Objects, facts.RefNode("datanode", id))
			if len(p.SessionsOf(id)) > 0 {
				living++
			}
		}
		f.Message = fmt.Sprintf("%s of %s is assigned to %s", v.Name, facts.CollectionLabel(p.Cluster, x.ID),
			words.Summarize(names))
		f.Evidence = []check.Evidence{
			check.Fact("nodes with a record", strings.Join(names, ", "), "etcd"),
			check.Count("of these, registered", living, "etcd"),
			check.Fact("state of the first record", v.WatchState, "etcd"),
		}
		f.Impact = "The record of a node that is gone is left over. It may block the next assignment."
		f.Fix = check.Fix(check.Do("restart DataCoord: on startup it removes records of nodes that are gone").
			Restarting(p.Cluster, 2*time.Minute, "datacoord"))
		if living > 1 {
			f.Severity = check.Error
			f.Impact = "Both nodes write the same rows, and each moves the checkpoint."
			f.Fix = check.Fix(
				check.Do("stop %s: DataCoord then gives its channels to another node", names[len(names)-1]).
					Interrupting(2*time.Minute, "flushes of its channels until another node has them"),
				check.Shell(check.Kitescope("get vchannels").Arg("name="+v.Name)).
					Does("shows a single watcher, and none under other watchers, once that is done"),
				check.Pymilvus(p.Cluster, x.Database, "print(Collection(%s).num_entities)", x.Name).
					Does("counts the rows, deleted ones included: any more than were inserted are duplicates"),
			)
		}
		p.Report(f)
	})
}

// watchers returns the nodes with a watch record of a channel, except nodes that are releasing it.
func watchers(v *model.VChannel) (nodes []model.NodeID) {
	add := func(id model.NodeID, state string) {
		if id != model.UnassignedNode && id != 0 && state != "ToRelease" && state != "ReleaseSuccess" {
			nodes = append(nodes, id)
		}
	}
	add(v.Watcher, v.WatchState)
	for i, id := range v.OtherWatchers {
		state := ""
		if i < len(v.OtherStates) {
			state = v.OtherStates[i]
		}
		add(id, state)
	}
	return nodes
}
