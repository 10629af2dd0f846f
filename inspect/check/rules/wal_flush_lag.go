package rules

import (
	"cmp"
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// flusherBehind is the lag of a flusher behind the end of its log that is a finding. Time ticks come every 200 ms
// (proxy.timeTickInterval), and the flusher receives at least one per second (3.0:
// streaming.flush.emptyTimeTick.maxFilterInterval, 1s), so a lag of seconds is usual. The limit is also a third of the
// age at which checkpoint-lag warns.
const flusherBehind = 5 * time.Minute

// walFlushLag finds flushers that lag behind their log.
var walFlushLag = &check.Check{
	ID:       "wal-flush-lag",
	Title:    "The flusher of a write-ahead log does not keep up",
	Severity: check.Warning,
	Symptoms: []string{check.FlushesHang, check.MemoryFull},
	Starts:   "checkpoint_stopped node_lost:streamingnode | segment_created config_changed channel_reassigned",
	Parts:    model.PartObjects | model.PartChannels | model.PartServing | model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `The flusher of a streaming node, which writes the rows of a log to storage, falls behind. The check compares
two time ticks of ` + "`/metrics`" + ` (2.6 and later): ` + "`milvus_wal_last_confirmed_time_tick`" + `, up to which the
log is complete, and ` + "`milvus_wal_flusher_time_tick`" + `, up to which the flusher has read. Both are of one
process, so clocks do not matter; on an idle log both stop or both move.

Warning from 5 minutes (seconds are usual; at 15 minutes ` + "`checkpoint-lag`" + ` warns, and Milvus stops compacting
the channel). Info while the flusher catches up, e.g. after a restart or a move (the lag fell between two scrapes),
and in a single scrape. ` +
		constructedOnly,
	Remedy: `Look at the streaming node's CPU and memory and at object storage: the flusher waits while buffers are
full. If clients insert faster than it can write, add streaming nodes to take some of the pchannels.`,
	Run:   runWALFlushLag,
	Roles: []string{"streamingnode"},
	FollowsFrom: []check.Cause{
		check.StorageReadOnly(), check.StorageFails("streamingnode"),
		{Check: "wal-damaged", Applies: check.Shares("pchannels")},
		{Check: "queue-unreachable"},
		{Check: "memory-pressure", Applies: check.SharesProcess},
	},
}

func runWALFlushLag(p *check.Pass) {
	for _, n := range streamingNodes(p) {
		was := previousScrape(n)
		for _, w := range n.WALs {
			lag, ok := flushLag(w)
			if !w.Open || !ok || lag < flusherBehind {
				continue
			}
			before, known := flushLag(logOf(was, w.PChannel))
			reportFlushLag(p, w, lag, before, known)
		}
	}
}

// flushLag returns the lag of a log's flusher behind the end of the log. ok is false if it is unknown.
func flushLag(w *model.WAL) (lag time.Duration, ok bool) {
	if w == nil || w.Confirmed.IsZero() || w.Flushed.IsZero() {
		return 0, false
	}
	return w.Confirmed.Sub(w.Flushed), true
}

func reportFlushLag(p *check.Pass, w *model.WAL, lag, before time.Duration, known bool) {
	source := refStreaming(w.Node).ID + " /metrics"
	f := check.Finding{
		Severity: check.Warning, Object: refPChannel(w.PChannel),
		Objects: append([]model.Ref{refStreaming(w.Node)}, vchannelsOn(p, w.PChannel)...),
		Message: fmt.Sprintf("the flusher of %s is %s behind the end of the log", w.PChannel, words.Span(lag)),
		Evidence: []check.Evidence{
			check.Duration("lag", lag, source), check.Fact("end of the log", facts.TimeText(w.Confirmed), source),
			check.Fact("read up to", facts.TimeText(w.Flushed), source),
			check.Fact("flusher", cmp.Or(w.Flusher, "none"), source), check.Duration("limit", flusherBehind, ""),
		},
		Impact: "Rows stay in memory and in the log; checkpoints do not advance, " +
			"and a node that takes over the log reads it from there.",
		Fix: check.Fix(
			atNode(w.Node,
				check.Do("look at CPU, memory and the log of %s, and at object storage: the flusher waits for one of "+
					"them", refStreaming(w.Node).ID)),
			check.Shell(check.Kitescope("get pchannels").Arg("name="+w.PChannel)).
				Does("shows FLUSH LAG: it should fall"),
		),
	}
	switch {
	case !known: // after its log has moved, a flusher starts at the lowest checkpoint
		f.Severity = check.Info
		f.Message += "; unknown whether it is catching up: its node was scraped only once"
		f.Fix = check.Fix(check.Shell(check.Kitescope("get pchannels --watch").Arg("name=" + w.PChannel)).
			Does("shows FLUSH LAG: it should fall"))
	default:
		f.Evidence = append(f.Evidence, check.Duration("lag in the previous scrape", before, source))
	}
	if known && lag < before {
		f.Severity = check.Info
		f.Message += " and is catching up"
		f.Fix = check.Fix(check.Shell(check.Kitescope("get pchannels").Arg("name=" + w.PChannel)).
			Does("shows FLUSH LAG; no action is needed while it falls"))
	}
	p.Report(f)
}
