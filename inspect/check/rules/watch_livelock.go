package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// watchLivelock finds keys that are rewritten in a loop.
var watchLivelock = &check.Check{
	ID:       "watch-livelock",
	Title:    "A key in etcd is rewritten in a loop",
	Severity: check.Error,
	Symptoms: []string{check.EtcdSlow},
	Starts:   "channel_rewritten | node_joined channel_assigned collection_created",
	Parts:    model.PartSessions,
	Doc: `DataCoord assigns a channel, the data node fails, and so on forever, tens to hundreds of times a second.
Such loops fill etcd's history until its quota is reached. The check looks at the writes to etcd while kitescope
watched: ` + "`--window`" + `, usually one and a half seconds. Use ` + "`--window 10s`" + ` for a loop that writes only
every other second.

- Error: a watch record (` + "`channelwatch/`" + `) written at least 9 times, and at least every other second.
- Warning: any other key written at least 20 times, and at least 5 times a second. A healthy Milvus writes no key more
  than once in 3 seconds (the timestamp allocator).
- Info: 500 revisions a second in all. A healthy cluster writes 0.5 to 2.2.

Repeated runs, as by ` + "`--watch`" + ` and the UI, are judged by all windows so far. A finding begins when a key
exceeds these limits, and ends when it falls to a quarter of them or of its own rate: a steady pace near a limit makes
one finding, not one after another.

etcd keeps past revisions. Those of its last minute are counted as well, live too (not by ` + "`--watch`" + `), so a
loop slower than a short watch is found at once. Not reported: a key written often, but not once during the watch,
because the loop is over. Without a watch, as in a file, only past revisions count:

- An etcd file (` + "`etcdctl snapshot save`" + `, a member's ` + "`db`" +
		`) has all revisions since the last compaction,
  dated by Milvus's reserved timestamps. Its last minute is judged like a watch.
- If revisions are compacted or left out (a bundle), a watch record still has the number of writes since it was
  created. Error from 200 writes: an assignment takes two to four, and a data node that recovers a channel reports
  progress every 15 seconds at most, 200 times in 50 minutes. A record left alone for twenty times its usual gap, in
  revisions, is over. The rate is unknown.

Not judged: the number of versions of other keys, because they may be written for months, and a record that is deleted
and recreated each time.`,
	Remedy: `For a channel, read in the log of the data node in the record why it cannot take the channel. Once the
cause is fixed, restart that data node or DataCoord to end the loop.`,
	Run: runWatchLivelock,
	// Data nodes cannot watch the channels of a collection if they do not find its fields. Each channel was assigned 75
	// times per second when 2.3.5 started on the metadata of 2.1.0.
	FollowsFrom: []check.Cause{{Check: "layout-older"}},
}

func runWatchLivelock(p *check.Pass) {
	a := p.EtcdWrites()
	switch {
	case a == nil || !p.Watched() && a.Over < facts.MinWatchTime:
		judgeVersions(p)
		return
	case a.Over < facts.MinWatchTime:
		p.Skip("etcd was watched for only " + words.Span(a.Over))
		return
	}
	for _, key := range p.Rewrites.HotKeys() {
		switch k := p.Rewrites.Keys[key]; {
		case key == facts.AllKeys:
			reportRevisions(p, a)
		case k.UpperBound && isGoneWatch(p, key): // deleted with its channel, so no longer written
		case p.Ceased(key, k.Writes):
		default:
			reportHot(p, key, k)
		}
	}
}

// isGoneWatch reports whether a key is a watch record that is no longer in the metadata.
func isGoneWatch(p *check.Pass, key string) bool {
	if !strings.Contains(key, facts.WatchPrefix) || p.Loaded&model.PartChannels == 0 {
		return false
	}
	return !slices.ContainsFunc(p.VChannels, func(v *model.VChannel) bool {
		return slices.ContainsFunc(v.Watches, func(w model.WatchRecord) bool { return w.Key == key })
	})
}

func reportRevisions(p *check.Pass, a *model.EtcdActivity) {
	p.Report(check.Finding{
		Severity: check.Info,
		Message: fmt.Sprintf("etcd writes %s revisions a second",
			words.Number(int64(float64(a.Revisions)/a.Over.Seconds()))),
		Evidence: []check.Evidence{
			check.Count("revisions", a.Revisions, "etcd"), countedOver(p),
			check.Count("revisions under the root", a.Writes, "etcd"),
		},
		Impact: "etcd's history grows fast, and compaction has to keep up.",
		Fix: check.Fix(check.Shell(check.Etcdctl("watch --prefix").Arg("")).
			Does("prints every write: find the process behind the busiest keys, and its log")),
	})
}

// reportHot reports a key that is written too often.
func reportHot(p *check.Pass, key string, k facts.Rewrite) {
	over := p.EtcdWrites().Over
	writes := check.Factf("writes", "etcd", "%s times", check.N(k.Writes))
	if k.UpperBound {
		writes.Value = "up to " + writes.Value
	}
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "keys", ID: key, Name: key},
		Message: fmt.Sprintf("%s was written %s in %s", key, writes.Value, words.Span(over)),
		Evidence: []check.Evidence{
			writes, countedOver(p),
			check.Factf("writes a second", "", "%s",
				check.Number(float64(k.Writes)/over.Seconds(), "per second", "%.1f")),
		},
		Impact: "etcd's history grows, and the retried operation never succeeds.",
		Fix: check.Fix(
			check.Shell(check.Etcdctl("watch").Arg(key)).Does("prints each write as it happens, until interrupted"),
			check.Do("look for errors in the log of the process that writes it"),
		),
	}
	if _, watch, ok := strings.Cut(key, facts.WatchPrefix); ok {
		f.Severity = check.Error
		fillWatchFinding(p, &f, watch, writes.Value+" in "+words.Span(over))
	}
	p.Report(f)
}

// countedOver returns the duration over which writes were counted, and their source.
func countedOver(p *check.Pass) check.Evidence {
	if p.Watched() {
		return check.Duration("watched for", p.EtcdWrites().Over, "etcd")
	}
	if p.Etcd != nil {
		return check.Duration("counted in past revisions of etcd, over the last", p.EtcdWrites().Over, "etcd")
	}
	return check.Duration("counted in the revisions of the file, over its last", p.EtcdWrites().Over, "etcd")
}

// fillWatchFinding fills a finding about a watch record. watch is "node/vchannel", times is the number of writes as
// text.
func fillWatchFinding(p *check.Pass, f *check.Finding, watch, times string) {
	node, channel, ok := strings.Cut(watch, "/")
	if !ok {
		return
	}
	f.Objects = []model.Ref{
		facts.RefVChannel(channel), {Resource: "nodes", ID: "datanode-" + node, Name: "datanode-" + node},
	}
	f.Message = fmt.Sprintf("the watch of %s by datanode-%s was written %s: it is reassigned in a loop", channel, node,
		times)
	f.Impact = "Inserts into the channel are not persisted, and etcd's history grows until its quota is reached."
	f.Fix = check.Fix(
		check.Do("search the logs of %s and of DataCoord for %s, to find out why the assignment fails",
			"datanode-"+node, channel),
		check.Do("once the cause is gone, restart %s, or DataCoord: that ends the loop", "datanode-"+node).
			Restarting(p.Cluster, time.Minute, "datanode"),
	)
}

// Thresholds where only the versions of watch records are known.
const (
	// watchVersions is the number of writes that only a loop reaches. An assignment takes two to four writes, and
	// etcdTickler of internal/datanode/event_manager.go (2.2, 2.3) reports progress at most once per
	// datanode.segment.watchEventTicklerInterval, 15 s. 200 writes are thus 50 minutes of one recovery.
	watchVersions = 200
	// watchSilence is the number of usual gaps between writes, in revisions, after which a loop counts as over.
	watchSilence = 20
)

// judgeVersions rates watch records by the number of writes since each was created.
func judgeVersions(p *check.Pass) {
	known := false
	for _, v := range p.VChannels {
		for i := range v.Watches {
			w := &v.Watches[i]
			known = known || w.Version > 0
			if w.Version >= watchVersions && stillWritten(p, w) {
				reportVersions(p, v, w)
			}
		}
	}
	if !known {
		p.Skip("etcd was not watched")
		return
	}
	p.NoteUnseen("write rates of keys other than watch records: etcd was not watched")
}

// stillWritten reports whether the last write of a record is recent relative to its usual gap. It returns true if that
// is unknown.
func stillWritten(p *check.Pass, w *model.WatchRecord) bool {
	silent := p.Origin.Revision - w.Modified
	if w.Created == 0 || w.Modified == 0 || silent < 0 {
		return true
	}
	return silent*(w.Version-1) <= watchSilence*(w.Modified-w.Created)
}

func reportVersions(p *check.Pass, v *model.VChannel, w *model.WatchRecord) {
	f := check.Finding{
		Severity: check.Error, Object: model.Ref{Resource: "keys", ID: w.Key, Name: w.Key},
		Evidence: []check.Evidence{
			check.Count("writes since it was created", w.Version, "etcd"),
			check.Count("etcd revisions in that time", w.Modified-w.Created, "etcd"),
			check.Count("revisions since its last write", p.Origin.Revision-w.Modified, "etcd"),
			check.Fact("state", v.WatchState, "etcd"),
			check.Fact("writes a second", "unknown: etcd was not watched, and revisions carry no times", ""),
		},
	}
	fillWatchFinding(p, &f, w.Node.String()+"/"+v.Name, words.Number(w.Version)+" times since it was created")
	p.Report(f)
}
