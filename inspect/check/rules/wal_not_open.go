package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// openGrace is the time allowed for a new streaming node to take over its logs.
const openGrace = 5 * time.Minute

// walNotOpen finds write-ahead logs that are not open for writes on their assigned node.
var walNotOpen = &check.Check{
	ID:       "wal-not-open",
	Title:    "A streaming node has not opened a write-ahead log assigned to it",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts: "node_joined:streamingnode node_lost:streamingnode node_left:streamingnode | channel_assigned " +
		"channel_reassigned",
	Parts: model.PartObjects | model.PartChannels | model.PartServing | model.PartSessions,
	Needs: check.NeedProcesses,
	Doc: `A streaming node never opened a log that it should write. The check compares the assignment of each pchannel
in etcd (Assigned, to a streaming node, in a term; 2.6 and later) with the node's ` + "`/metrics`" + `:
` + "`milvus_wal_info`" + ` for each log that takes writes, with the term, and ` + "`milvus_wal_recovery_info`" + ` for
each log being read after its assignment.

Error: two scrapes of the node in a row lack the log, or have it in an older term, and no other node has it. Info: the
node is reading the log (persist-recovering, stream-recovering); see ` + "`wal-recovery-stuck`" + ` if it makes no
progress.

Not reported: a process that started less than 5 minutes ago, a single scrape, a log that another node has or reads, a
pchannel that is being assigned (` + "`channel-watch-state`" + `). Unknown: a pchannel assigned read-only, as all are
during an upgrade from 2.5, because it has no metric. Node without a session: see ` + "`channel-unwatched`" + `. ` +
		constructedOnly,
	Remedy: `Search the log of the streaming node for the pchannel and "wal", and MixCoord's for "assign". Restart the
node to make the balancer assign its pchannels to others.`,
	Run:   runWALNotOpen,
	Roles: []string{"streamingnode", "mixcoord"},
	FollowsFrom: []check.Cause{
		{Check: "wal-damaged", Applies: check.Shares("pchannels")},
		{Check: "queue-unreachable"},
		{Check: "etcd-alarm"},
		{Check: "etcd-no-leader"},
	},
}

func runWALNotOpen(p *check.Pass) {
	if len(streamingNodes(p)) == 0 {
		return
	}
	for _, x := range p.PChannels {
		n := p.Runtime.Streaming().Node(x.Node)
		switch {
		case !x.Streaming || x.State != "Assigned" || !n.Complete() || len(p.SessionsOf(x.Node)) == 0:
			continue
		// A log that is opened read-only has no milvus_wal_info
		// (Milvus internal/streamingnode/server/wal/adaptor, openROWAL).
		case x.AccessMode == "ReadOnly" || openIn(logOf(n, x.Name), x) ||
			onAnotherNode(p, x, func(w *model.WAL) bool { return openIn(w, x) }):
			continue
		}
		was := previousScrape(n)
		switch {
		case onAnotherNode(p, x, func(w *model.WAL) bool { return w.Recovery != "" }):
			p.NoteUnseen("whether " + x.Name + " moved: another node is reading it")
		case !p.OlderThan(n.Process.StartedAt(), openGrace, true):
		case was == nil:
			p.NoteUnseen(fmt.Sprintf("whether %s stays closed on %s: it was scraped only once", x.Name,
				refStreaming(n.Node).ID))
		case !openIn(logOf(was, x.Name), x):
			reportNotOpen(p, x, logOf(n, x.Name))
		}
	}
}

// openIn reports whether a node has a log open for writes in the term of its assignment or in a later term.
func openIn(w *model.WAL, x *model.PChannel) bool { return w != nil && w.Open && w.Term >= x.Term }

// onAnotherNode reports whether match returns true for the log on another node, i.e. whether etcd was read before the
// log moved.
func onAnotherNode(p *check.Pass, x *model.PChannel, match func(*model.WAL) bool) bool {
	return slices.ContainsFunc(p.Runtime.Streaming().WALs(x.Name), func(w *model.WAL) bool {
		return w.Node != x.Node && match(w)
	})
}

func reportNotOpen(p *check.Pass, x *model.PChannel, w *model.WAL) {
	name := refStreaming(x.Node).ID
	source := name + " /metrics"
	f := check.Finding{
		Severity: check.Error, Object: refPChannel(x.Name),
		Objects: append([]model.Ref{refStreaming(x.Node)}, vchannelsOn(p, x.Name)...),
		Message: fmt.Sprintf("%s has not opened the log of %s, which is assigned to it", name, x.Name),
		Evidence: []check.Evidence{
			check.Fact("state", x.State, "etcd"), check.Factf("term", "etcd", "%s", check.Digits(x.Term)),
		},
		Impact: "Its vchannels take no writes, and their deletes and time ticks do not reach query nodes.",
		Fix: check.Fix(
			atNode(x.Node, check.Do("look at the log of %s for %q and \"wal\"", name, x.Name)),
			check.Do("if it makes no progress, restart it: the balancer then assigns its pchannels to other nodes").
				Restarting(p.Cluster, 2*time.Minute, "streamingnode"),
			check.Shell(check.Kitescope("get pchannels").Arg("name="+x.Name)).
				Does("shows Open in WAL once it takes writes"),
		),
	}
	switch {
	case w != nil && w.Open:
		f.Message = fmt.Sprintf("%s has the log of %s open in term %s, but is assigned term %s",
			name, x.Name, words.Number(w.Term), words.Number(x.Term))
		f.Evidence = append(f.Evidence, check.Factf("open in term", source, "%s", check.Digits(w.Term)))
	case w != nil && w.Recovery != "" && w.Recovery != "working":
		f.Severity = check.Info
		f.Message = fmt.Sprintf("%s is reading the log of %s (%s)", name, x.Name, w.Recovery)
		f.Fix = check.Fix(check.Shell(check.Kitescope("get pchannels").Arg("name=" + x.Name)).
			Does("shows Open in WAL once it takes writes; no action is needed if it does within minutes"))
	}
	recovery := "none"
	if w != nil {
		recovery = cmp.Or(w.Recovery, recovery)
	}
	f.Evidence = append(f.Evidence, check.Fact("recovery", recovery, source))
	p.Report(f)
}
