package etcd

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// watchLivelock finds keys that are written over and over.
var watchLivelock = &check.Check{
	ID:       "watch-livelock",
	Title:    "A key in etcd is rewritten over and over",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Doc: `Looks at what was written to etcd while someone watched: ` + "`--window`" + `, one and a half seconds as a rule. The loops that users met write tens to hundreds of
times a second; one that writes only every other second shows with ` + "`--window 10s`" + `.

- A watch record (` + "`channelwatch/`" + `) written at least 9 times and every other second: DataCoord assigns the channel, the data node fails, and so on for ever. An error.
- Any other key written at least 20 times and 5 times a second: a warning. A healthy Milvus writes no key more often than once in 3 seconds (the allocator of timestamps).
- 500 revisions a second in all: information. A healthy cluster writes 0.5 to 2.2.

What is looked at again and again, as by ` + "`--watch`" + ` and the UI, is judged by all windows so far: a finding begins when a key was written more often than that allows, and
ends when it is far below, at a quarter of that or of what it was, so that a steady pace near a limit makes one finding, and not one after another.

Such loops fill etcd's history until its quota is reached, and what they try never comes about.

etcd keeps past revisions, and what was written in its last minute is counted in them as well, live too (not by ` + "`--watch`" + `): a loop that is slower than a short watch can see is named at once. What was
written often, and not once while someone watched, is over and no finding. Where nobody watched, as in a file, only that is counted:

- A file of etcd's (` + "`etcdctl snapshot save`" + `, a member's ` + "`db`" + `) has all revisions since the last compaction, and Milvus's reserved timestamps date them: the last minute is judged as if
  it had been watched.
- Where revisions are compacted or left out (a bundle), a watch record tells how often it was written since it was made. 200 times is no assignment: that takes two to four writes, and a
  data node that recovers a channel tells its progress every 15 seconds at most, 200 times in 50 minutes. An error, unless the record has been left alone for twenty times as many revisions as lie between its writes: then it is over. How often a second is not known.

Other keys, which may well be written for months, are not judged by the number of their versions; nor is a record that is deleted and made anew each time.`,
	Remedy: `For a channel: look at the log of the data node that the record names; it says why it cannot take the channel. Restarting that data node, or DataCoord, ends the loop if the cause is gone.`,
	Run:    runWatchLivelock,
	// Data nodes cannot watch channels of collections whose fields they do not find: each was assigned 75 times a
	// second when 2.3.5 started on the metadata of 2.1.0.
	FollowsFrom: []check.Cause{{Check: "layout-older"}},
}

func runWatchLivelock(p *check.Pass) error {
	a := p.Written()
	switch {
	case a == nil || !p.Watched() && a.Over < facts.WatchedLeast:
		return judgeVersions(p)
	case a.Over < facts.WatchedLeast:
		return p.Skip("etcd was watched for only " + words.Span(a.Over))
	}
	for _, key := range p.Rewrites.Found() {
		switch k := p.Rewrites.Keys[key]; {
		case key == facts.AllKeys:
			reportRevisions(p, a)
		case k.Most && isGoneWatch(p, key): // deleted with its channel: nobody writes it any more
		case p.Ceased(key, k.Writes):
		default:
			reportHot(p, key, k)
		}
	}
	return nil
}

// isGoneWatch reports whether a key is a watch record that is not in the metadata any more.
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
		Severity: check.Info, Message: fmt.Sprintf("etcd writes %s revisions a second", words.Number(int64(float64(a.Revisions)/a.Over.Seconds()))),
		Evidence: []check.Evidence{check.Count("revisions", a.Revisions, "etcd"), countedOver(p), check.Count("of them under the root", a.Writes, "etcd")},
		Impact:   "Its history grows fast; compaction has to keep up.", Hint: "look which keys are written: etcdctl watch --prefix \"\"",
	})
}

// reportHot reports a key.
func reportHot(p *check.Pass, key string, k facts.Rewrite) {
	over := p.Written().Over
	writes := check.Measured("writes", "etcd", "%s times", check.N(k.Writes))
	if k.Most {
		writes.Value = "up to " + writes.Value
	}
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "keys", ID: key, Name: key},
		Message: fmt.Sprintf("%s was written %s in %s", key, writes.Value, words.Span(over)),
		Evidence: []check.Evidence{
			writes, countedOver(p), check.Measured("a second", "", "%s", check.Number(float64(k.Writes)/over.Seconds(), "per second", "%.1f")),
		},
		Impact: "etcd's history grows, and what is tried never comes about.",
		Hint:   "look at the log of the process that writes the key",
	}
	if _, watch, ok := strings.Cut(key, facts.WatchPrefix); ok {
		f.Severity = check.Error
		aboutWatch(&f, watch, writes.Value+" in "+words.Span(over))
	}
	p.Report(f)
}

// countedOver says which time writes were counted over.
func countedOver(p *check.Pass) check.Evidence {
	if p.Watched() {
		return check.Lasts("watched for", p.Written().Over, "etcd")
	}
	if p.Etcd != nil {
		return check.Lasts("counted in the past revisions of etcd over the last", p.Written().Over, "etcd")
	}
	return check.Lasts("counted in the revisions of the file over its last", p.Written().Over, "etcd")
}

// aboutWatch says of a watch record, "node/vchannel", that it was written so many times.
func aboutWatch(f *check.Finding, watch, times string) {
	node, channel, ok := strings.Cut(watch, "/")
	if !ok {
		return
	}
	f.Objects = []model.Ref{facts.RefVChannel(channel), {Resource: "nodes", ID: "datanode-" + node, Name: "datanode-" + node}}
	f.Message = fmt.Sprintf("the watch of %s by datanode-%s was written %s: it is assigned again and again", channel, node, times)
	f.Impact = "What is inserted into the channel is not written, and etcd's history grows until it is full."
	f.Hint = check.Advise("look for %s in the logs of %s and of DataCoord", channel, "datanode-"+node)
}

// Thresholds where only the versions of watch records are known.
const (
	// watchVersions are no work: assigning takes two to four writes, and progress is told by etcdTickler of internal/datanode/event_manager.go
	// (2.2, 2.3), once in datanode.segment.watchEventTicklerInterval, 15 s, at most: 50 minutes of one recovery.
	watchVersions = 200
	// watchSilence is after how many of its usual gaps, in revisions, a record is left alone.
	watchSilence = 20
)

// judgeVersions judges watch records by how often each was written since it was made.
func judgeVersions(p *check.Pass) error {
	known := false
	for _, v := range p.VChannels {
		for i := range v.Watches {
			w := &v.Watches[i]
			known = known || w.Version > 0
			if w.Version >= watchVersions && goesOn(p, w) {
				reportVersions(p, v, w)
			}
		}
	}
	if !known {
		return p.Skip("etcd was not watched for a while")
	}
	p.Unseen("how often keys that are no watch records are written: etcd was not watched for a while")
	return nil
}

// goesOn reports whether a record was written as lately as it used to be; so it counts if that is unknown.
func goesOn(p *check.Pass, w *model.WatchRecord) bool {
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
			check.Count("writes since it was made", w.Version, "etcd"),
			check.Count("revisions of etcd in that time", w.Modified-w.Created, "etcd"),
			check.Count("revisions since its last write", p.Origin.Revision-w.Modified, "etcd"),
			check.Fact("state", v.WatchState, "etcd"),
			check.Fact("a second", "unknown: nobody watched etcd, and revisions have no times", ""),
		},
	}
	aboutWatch(&f, w.Node.String()+"/"+v.Name, words.Number(w.Version)+" times since it was made")
	p.Report(f)
}
