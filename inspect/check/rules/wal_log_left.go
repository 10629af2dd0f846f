package rules

import (
	"fmt"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walLogLeft finds logs of pchannels that are gone.
var walLogLeft = &check.Check{
	ID:       "wal-log-left",
	Title:    "A log is left of a channel that is gone",
	Severity: check.Info,
	Symptoms: []string{check.StorageGrows},
	Starts:   "config_changed | collection_dropped",
	Parts:    model.PartObjects | model.PartChannels | model.PartServing,
	Doc: `Looks for logs of Woodpecker's whose name begins as those of this cluster's pchannels do, and that no pchannel has. They are left when
` + "`rootCoord.dmlChannelNum`" + ` was lowered, or a cluster was set up anew on an old etcd. Logs with other names belong to another Milvus that shares the etcd, and are
passed over.`,
	Remedy: `No action needed for queries. The data stay in storage, as no streaming node truncates the log.`,
	Run:    runWALLogLeft,
	Whole:  true,
}

func runWALLogLeft(p *check.Pass) {
	if !knowsWoodpecker(p) {
		return
	}
	ours := map[string]bool{}
	for _, x := range p.PChannels {
		if i := strings.LastIndexByte(x.Name, '_'); i > 0 && x.Streaming {
			ours[x.Name[:i+1]] = true
		}
	}
	for _, l := range p.Woodpecker.Logs {
		i := strings.LastIndexByte(l.Name, '_')
		if i < 0 || !ours[l.Name[:i+1]] || p.PChannel(l.Name) != nil {
			continue
		}
		kept := l.Kept()
		segments, bytes := kept.Segments, kept.Bytes
		p.Report(check.Finding{
			Severity: check.Info, Object: refTopic(l.Name),
			Message:  fmt.Sprintf("log %s belongs to no channel and keeps %s (%s)", l.Name, words.Plural(segments, "segment"), words.Bytes(bytes)),
			Evidence: []check.Evidence{check.Count("segments kept", segments, "etcd"), check.Measured("bytes kept", "etcd", "%s", check.Bytes(bytes))},
			Impact:   "None for queries. Its data stay in storage for good.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get queue-topics").Arg("name=" + l.Name)).Does("shows what it keeps; no action is needed"),
			),
		})
	}
}
