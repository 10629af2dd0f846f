package check

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Thresholds of watch-livelock, in writes a second.
const (
	// watchedLeast is how long etcd has to be watched for rates to mean anything.
	watchedLeast = time.Second
	// watchRate of one watch record cannot be work: a channel is assigned once. Fewer than watchWrites may be a move.
	watchRate   = 0.5
	watchWrites = 4
	// keyRate of any other key: the busiest one of a healthy cluster, the allocator of timestamps, is written once in 3 seconds.
	keyRate   = 5.0
	keyWrites = 20
	// revisionRate of the whole of etcd. A healthy 2.3.5 writes 0.5, and 2.2 under inserts (docs/DIAGNOSIS.md).
	revisionRate = 500.0
)

// WatchLivelock finds keys that are written over and over.
var WatchLivelock = &Check{
	ID:       "watch-livelock",
	Title:    "A key in etcd is rewritten over and over",
	Severity: Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedActivity,
	Doc: `Looks at what was written to etcd while someone watched: ` + "`--window`" + `, one and a half seconds as a rule. The loops that users met write tens to hundreds of
times a second; one that writes only every other second shows with ` + "`--window 10s`" + `.

- A watch record (` + "`channelwatch/`" + `) written at least 4 times and every other second: DataCoord assigns the channel, the data node fails, and so on for ever. An error.
- Any other key written at least 20 times and 5 times a second: a warning. A healthy Milvus writes no key more often than once in 3 seconds (the allocator of timestamps).
- 500 revisions a second in all: information. A healthy cluster writes 0.5 to 2.2.

Such loops fill etcd's history until its quota is reached, and what they try never comes about. Without watching, a file of metadata cannot show it: skipped.`,
	Remedy: `For a channel: look at the log of the data node that the record names; it says why it cannot take the channel. Restarting that data node, or DataCoord, ends the loop if the cause is gone.`,
	Run:    runWatchLivelock,
	// Data nodes cannot watch channels of collections whose fields they do not find: each was assigned 75 times a
	// second when 2.3.5 started on the metadata of 2.1.0.
	FollowsFrom: []Cause{{Check: "layout-older"}},
}

func runWatchLivelock(p *Pass) error {
	a := p.Etcd.Activity
	if a.Over < watchedLeast {
		return p.Skip("etcd was watched for only " + span(a.Over))
	}
	seconds := a.Over.Seconds()
	for _, k := range a.Hot {
		rate := float64(k.Writes) / seconds
		i := strings.Index(k.Key, "channelwatch/")
		switch {
		case i >= 0 && k.Writes >= watchWrites && rate >= watchRate:
			p.reportHot(k, rate, Error, k.Key[i+len("channelwatch/"):])
		case i < 0 && k.Writes >= keyWrites && rate >= keyRate:
			p.reportHot(k, rate, Warning, "")
		}
	}
	if rate := float64(a.Revisions) / seconds; rate >= revisionRate {
		p.Report(Finding{
			Severity: Info, Message: fmt.Sprintf("etcd writes %s revisions a second", number(int64(rate))),
			Evidence: []Evidence{{"revisions", number(a.Revisions), "etcd"}, {"watched for", span(a.Over), "etcd"}, {"of them under the root", number(a.Writes), "etcd"}},
			Impact:   "Its history grows fast; compaction has to keep up.", Hint: "look which keys are written: etcdctl watch --prefix \"\"",
		})
	}
	return nil
}

// reportHot reports a key; watch is "node/vchannel" if it is a watch record.
func (p *Pass) reportHot(k model.KeyWrites, rate float64, severity Severity, watch string) {
	f := Finding{
		Severity: severity, Object: model.Ref{Resource: "keys", ID: k.Key, Name: k.Key},
		Message: fmt.Sprintf("%s was written %s times in %s", k.Key, number(k.Writes), span(p.Etcd.Activity.Over)),
		Evidence: []Evidence{
			{"writes", number(k.Writes), "etcd"}, {"watched for", span(p.Etcd.Activity.Over), "etcd"}, {"a second", strconv.FormatFloat(rate, 'f', 1, 64), ""},
		},
		Impact: "etcd's history grows, and what is tried never comes about.",
		Hint:   "look at the log of the process that writes the key",
	}
	if node, channel, ok := strings.Cut(watch, "/"); ok {
		f.Objects = []model.Ref{refVChannel(channel), {Resource: "nodes", ID: "datanode-" + node, Name: "datanode-" + node}}
		f.Message = fmt.Sprintf("the watch of %s by datanode-%s was written %s times in %s: it is assigned again and again", channel, node, number(k.Writes), span(p.Etcd.Activity.Over))
		f.Impact = "What is inserted into the channel is not written, and etcd's history grows until it is full."
		f.Hint = advise("look for %s in the logs of %s and of DataCoord", channel, "datanode-"+node)
	}
	p.Report(f)
}
