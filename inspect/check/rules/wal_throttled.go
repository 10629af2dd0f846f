package rules

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walThrottled finds streaming nodes that slow down or reject writes.
var walThrottled = &check.Check{
	ID:       "wal-throttled",
	Title:    "A streaming node slows writes down or rejects them",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail},
	Starts:   "segment_created config_changed:streaming | node_lost:streamingnode checkpoint_stopped",
	Parts:    model.PartObjects | model.PartChannels | model.PartServing | model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Clients get errors because a streaming node rejects writes. Since 3.0 a streaming node limits the write rate
of a log when its memory is nearly full, its flusher or its recovery storage does not keep up, or writes exceed
` + "`streaming.walRateLimit`" + `. ` + "`milvus_wal_rate_limit_controller_state`" + ` has a series for each log and
source of a limit: slowdown, reject, recovery (still slowed down, on its way back) or normal.

Error for reject. Warning for slowdown, info for recovery alone. One finding per node. 2.6 has no such limits, and
nothing is reported.
` +
		constructedOnly,
	Remedy: `Look at the source of the limit. Node memory: give the streaming node more, or flush. Flusher, recovery
storage: check object storage and CPU of the node. Append rate: spread the writes over more channels, or raise the
limit (` + "`streaming.walRateLimit.appendRate.slowdownThreshold`" + `, 32 MiB a second for each log).`,
	Run:   runWALThrottled,
	Roles: []string{"streamingnode"},
	FollowsFrom: []check.Cause{
		check.StorageReadOnly(), check.StorageFails("streamingnode"),
		check.SevereCause("wal-flush-lag", check.Shares("nodes")),
		check.SevereCause("growing-over-watermark", check.Shares("nodes")),
		{Check: "memory-pressure", Applies: check.SharesProcess},
	},
}

// throttled is a log with its worst limit.
type throttled struct {
	w *model.WAL
	t model.Throttle
}

func runWALThrottled(p *check.Pass) {
	for _, n := range streamingNodes(p) {
		var list []throttled
		for _, w := range n.WALs {
			if w.Open && len(w.Throttles) > 0 { // skip closed logs: their series are stale
				list = append(list, throttled{
					w,
					slices.MaxFunc(w.Throttles, func(a, b model.Throttle) int {
						return cmp.Compare(throttleSeverity(a), throttleSeverity(b))
					}),
				})
			}
		}
		if len(list) > 0 {
			reportThrottled(p, n, list)
		}
	}
}

func throttleSeverity(t model.Throttle) check.Severity {
	switch t.Mode {
	case "reject":
		return check.Error
	case "recovery":
		return check.Info
	}
	return check.Warning
}

func reportThrottled(p *check.Pass, n *model.StreamingNode, list []throttled) {
	slices.SortStableFunc(list, func(a, b throttled) int {
		return cmp.Compare(throttleSeverity(b.t), throttleSeverity(a.t))
	})
	worst, name := list[0], refStreaming(n.Node).ID
	verb, impact := "slows down writes to", "Inserts, deletes and upserts take longer, and may time out."
	if worst.t.Mode == "reject" {
		verb, impact = "rejects writes to", "Inserts, deletes and upserts of these channels fail."
	}
	f := check.Finding{
		Severity: throttleSeverity(worst.t), Object: refStreaming(n.Node), Impact: impact,
		Message: fmt.Sprintf("%s %s %s (%s)", name, verb, words.Plural(len(list), "log"), worst.t.Source),
		Fix: check.Fix(
			atNode(n.Node, check.Do("check what limits %s: %s", name, worst.t.Source)),
			check.Shell(check.Kitescope("get pchannels --columns name,wal_throttle,growing_bytes,flush_lag_seconds").
				Arg("node="+n.Node.String())).Does("shows which logs are limited, and by what"),
		),
	}
	for _, x := range list[:min(len(list), 20)] {
		f.Objects = append(f.Objects, refPChannel(x.w.PChannel))
		limit := x.t.Mode
		if x.t.Mode != "reject" {
			limit += ", " + words.Bytes(int64(x.t.Rate)) + " a second"
		}
		f.Evidence = append(f.Evidence, check.Fact(x.t.Source+" of "+x.w.PChannel, limit, name+" /metrics"))
	}
	p.Report(f)
}
