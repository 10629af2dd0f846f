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
	// watchRate of one watch record cannot be work: a channel is assigned once. A move is fewer than watchExcess writes more.
	watchRate   = 0.5
	watchExcess = 3.0
	// keyRate of any other key: the busiest one of a healthy cluster, the allocator of timestamps, is written once in 3 seconds.
	keyRate   = 5.0
	keyExcess = 10.0
	// revisionRate of the whole of etcd. A healthy 2.3.5 writes 0.5, and 2.2 under inserts (docs/DIAGNOSIS.md).
	revisionRate   = 500.0
	revisionExcess = 150.0
	// watchPrefix stands in keys of watch records, before the node and the channel.
	watchPrefix = "channelwatch/"
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

What is looked at again and again, as by ` + "`--watch`" + ` and the UI, is judged by all windows so far: a finding begins when a key was written more often than that allows, and
ends when it is far below, at a quarter of that or of what it was, so that a steady pace near a limit makes one finding, and not one after another.

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
	for _, key := range p.shared.rewrites.found() {
		if key == allKeys {
			p.reportRevisions(a)
		} else {
			p.reportHot(key, p.shared.rewrites.keys[key])
		}
	}
	return nil
}

func (p *Pass) reportRevisions(a *model.EtcdActivity) {
	p.Report(Finding{
		Severity: Info, Message: fmt.Sprintf("etcd writes %s revisions a second", number(int64(float64(a.Revisions)/a.Over.Seconds()))),
		Evidence: []Evidence{{"revisions", number(a.Revisions), "etcd"}, {"watched for", span(a.Over), "etcd"}, {"of them under the root", number(a.Writes), "etcd"}},
		Impact:   "Its history grows fast; compaction has to keep up.", Hint: "look which keys are written: etcdctl watch --prefix \"\"",
	})
}

// reportHot reports a key.
func (p *Pass) reportHot(key string, k rewrite) {
	over := p.Etcd.Activity.Over
	times := number(k.writes) + " times"
	if k.most {
		times = "up to " + times
	}
	f := Finding{
		Severity: Warning, Object: model.Ref{Resource: "keys", ID: key, Name: key},
		Message: fmt.Sprintf("%s was written %s in %s", key, times, span(over)),
		Evidence: []Evidence{
			{"writes", times, "etcd"}, {"watched for", span(over), "etcd"}, {"a second", strconv.FormatFloat(float64(k.writes)/over.Seconds(), 'f', 1, 64), ""},
		},
		Impact: "etcd's history grows, and what is tried never comes about.",
		Hint:   "look at the log of the process that writes the key",
	}
	if _, watch, ok := strings.Cut(key, watchPrefix); ok {
		f.Severity = Error
		p.aboutWatch(&f, watch, times, span(over))
	}
	p.Report(f)
}

// aboutWatch says of a watch record, "node/vchannel", that it was written so many times in some time.
func (p *Pass) aboutWatch(f *Finding, watch, times, over string) {
	node, channel, ok := strings.Cut(watch, "/")
	if !ok {
		return
	}
	f.Objects = []model.Ref{refVChannel(channel), {Resource: "nodes", ID: "datanode-" + node, Name: "datanode-" + node}}
	f.Message = fmt.Sprintf("the watch of %s by datanode-%s was written %s in %s: it is assigned again and again", channel, node, times, over)
	f.Impact = "What is inserted into the channel is not written, and etcd's history grows until it is full."
	f.Hint = advise("look for %s in the logs of %s and of DataCoord", channel, "datanode-"+node)
}
