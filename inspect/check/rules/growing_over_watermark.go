package rules

import (
	"fmt"
	"math"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// growingOverWatermark reports streaming nodes whose growing segments stay above the size at which they are
// flushed.
var growingOverWatermark = &check.Check{
	ID:       "growing-over-watermark",
	Title:    "Growing segments of a streaming node stay above its high-water mark",
	Severity: check.Warning,
	Symptoms: []string{check.MemoryFull},
	Starts:   "segment_created | config_changed:streaming checkpoint_stopped",
	Parts:    model.PartChannels | model.PartServing | model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Sealing on a streaming node does not keep up with writes. A streaming node (2.6 and later) counts the bytes
of its growing segments: ` + "`milvus_wal_growing_segment_bytes`" + `, in 3.0
` + "`milvus_wal_growing_segment_flush_pressure_bytes`" + `. Above ` + "`milvus_wal_growing_segment_hwm_bytes`" + `
(` + "`streaming.flush.growingSegmentBytesHwmThreshold`" + `, 0.2 of its memory) it seals the largest until they are
below the low-water mark (0.1), at most every 5 seconds.

Warning: at or above the high-water mark in each of two scrapes at least 10 seconds apart. Info in a single scrape, or
in two that are closer: it may just have begun. Values below the mark are normal. ` +
		constructedOnly,
	Remedy: `Search the streaming node's log for "flush" and "seal". If writes are faster than it can seal, add
streaming nodes, or set a limit (` + "`quotaAndLimits.limitWriting.growingSegmentsSizeProtection`" + `).`,
	Run:   runGrowingOverWatermark,
	Roles: []string{"streamingnode"},
	FollowsFrom: []check.Cause{
		check.StorageReadOnly(), check.StorageFails("streamingnode"),
		check.SevereCause("wal-flush-lag", check.Shares("nodes")),
		{Check: "wal-append-slow", Applies: check.Shares("nodes")},
		{Check: "queue-unreachable"},
	},
}

// sealSeconds is the minimum time between two scrapes in seconds: twice the 5 s between two rounds of sealing
// (stats, growingBytesNotifyCooldown).
const sealSeconds = 10

func runGrowingOverWatermark(p *check.Pass) {
	for _, n := range streamingNodes(p) {
		if overWatermark(n) {
			reportOverWatermark(p, n, previousScrape(n))
		}
	}
}

// overWatermark reports whether a node is at or above its high-water mark. It is false if a figure is missing.
func overWatermark(n *model.StreamingNode) bool { return n != nil && n.Growing >= n.HighWater }

func reportOverWatermark(p *check.Pass, n, previous *model.StreamingNode) {
	name := refStreaming(n.Node).ID
	source := name + " /metrics"
	f := check.Finding{
		Severity: check.Info, Object: refStreaming(n.Node),
		Message: fmt.Sprintf("growing segments of %s take %s, above its high-water mark of %s", name,
			words.Bytes(int64(n.Growing)), words.Bytes(int64(n.HighWater))),
		Evidence: []check.Evidence{
			check.Size("growing", int64(n.Growing), source), check.Size("high-water mark", int64(n.HighWater), source),
		},
		Impact: "Its memory fills up; searches of growing rows use brute force or an interim index.",
		Fix: check.Fix(check.Shell(check.Kitescope("get nodes --columns " +
			"id,growing_bytes,growing_hwm_bytes,growing_lwm_bytes").Arg("id=" + n.Node.String())).
			Does("shows whether they fall below the low-water mark; no action is needed if they do")),
	}
	if !math.IsNaN(n.LowWater) {
		f.Evidence = append(f.Evidence, check.Size("low-water mark", int64(n.LowWater), source))
	}
	for _, w := range n.WALs {
		if w.Growing > 0 && len(f.Objects) < 20 {
			f.Objects = append(f.Objects, refPChannel(w.PChannel))
		}
	}
	if overWatermark(previous) && n.Process.Metrics.At.Sub(n.Process.Before.At).Seconds() >= sealSeconds {
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("growing segments of %s stay above its high-water mark: %s of %s", name,
			words.Bytes(int64(n.Growing)), words.Bytes(int64(n.HighWater)))
		f.Evidence = append(f.Evidence, check.Size("growing in the previous scrape", int64(previous.Growing), source))
		f.Fix = append(check.Fix(atNode(n.Node,
			check.Do("look at the log of %s for \"flush\" and \"seal\": it should seal the largest segments every 5 "+
				"seconds", name))), f.Fix...)
	}
	p.Report(f)
}
