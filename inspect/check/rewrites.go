package check

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// limit is how often something may be written. What is written at a steady pace is found or not, and stays so, whatever chance
// makes of the single windows in which it is counted: found is what has been written more often than perSecond allows by
// enough writes in all, over as many windows as it takes; over is what then lacks twice as many to a quarter of perSecond, or of
// what it was, which the end of a fast loop shows at once. Between the two all stays as it is (cumulative sums: Page, Continuous
// inspection schemes, 1954).
type limit struct{ perSecond, enough float64 }

// limitOf is the limit of a key, of all of etcd for allKeys.
func limitOf(key string) limit {
	switch {
	case key == allKeys:
		return limit{revisionRate, revisionExcess}
	case strings.Contains(key, watchPrefix):
		return limit{watchRate, watchExcess}
	}
	return limit{keyRate, keyExcess}
}

// allKeys stands for the revisions of all of etcd.
const allKeys = ""

// rewrite is how far the writes of one key are above its limit, or below it.
type rewrite struct {
	above, below float64
	found        bool
	// usual is how often it was written in a second while that was too often, the latest windows most.
	usual  float64
	writes int64
	// most is that writes are those of the least busy key that was told: this one had no more.
	most bool
}

// rewrites follow how often keys are written from window to window. They are never changed.
type rewrites struct {
	window *model.EtcdActivity
	keys   map[string]rewrite
}

// next adds a window; the same one again, or none, changes nothing.
func (r *rewrites) next(a *model.EtcdActivity) *rewrites {
	if a == nil || a.Over < watchedLeast || r != nil && r.window == a {
		return r
	}
	next := &rewrites{a, make(map[string]rewrite)}
	var before map[string]rewrite
	if r != nil {
		before = r.keys
	}
	add := func(key string, writes int64, most bool) {
		w := before[key].after(limitOf(key), writes, a.Over.Seconds())
		w.most = most
		if w.found || w.above > 0 {
			next.keys[key] = w
		}
	}
	add(allKeys, a.Revisions, false)
	told := make(map[string]bool, len(a.Hot))
	for _, k := range a.Hot {
		told[k.Key] = true
		add(k.Key, k.Writes, false)
	}
	var rest int64
	if a.More && len(a.Hot) > 0 { // others may have been written as often as the last one
		rest = a.Hot[len(a.Hot)-1].Writes
	}
	for key := range before {
		if told[key] || key == allKeys {
			continue
		}
		n := rest
		if float64(n) <= limitOf(key).perSecond*a.Over.Seconds() {
			n = 0 // no sign that it goes on: where many keys are written once, any of them may have been
		}
		add(key, n, true)
	}
	return next
}

// after is the state after one more window of some seconds.
func (w rewrite) after(l limit, writes int64, seconds float64) rewrite {
	n := float64(writes)
	w.writes = writes
	if rate := n / seconds; rate >= l.perSecond {
		w.usual += (rate - w.usual) / 2
	}
	few := l.perSecond / 4
	if n < l.perSecond/2*seconds {
		few = max(few, w.usual/4)
	}
	w.above = max(0, w.above+n-l.perSecond*seconds)
	w.below = max(0, w.below+few*seconds-n)
	switch {
	case !w.found && w.above >= l.enough:
		w.found, w.below = true, 0
	case w.found && w.below >= 2*l.enough:
		w.found, w.above, w.usual = false, 0, 0
	}
	// However long it lasted, its end is seen as soon; and the other way round.
	w.above, w.below = min(w.above, l.enough), min(w.below, 2*l.enough)
	return w
}

// found are the keys that are written too often, sorted.
func (r *rewrites) found() []string {
	if r == nil {
		return nil
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(r.keys)) {
		if r.keys[key].found {
			keys = append(keys, key)
		}
	}
	return keys
}

// watchedLeast is how long etcd has to be watched for rates to mean anything.
const watchedLeast = time.Second

// watchRate of one watch record cannot be work: a channel is assigned once. Its whole life is fewer than watchExcess writes more: assigned,
// watched, to be released, released and deleted, as a collection that is dropped seconds after it was made has them (2.3.5).
const watchRate = 0.5

const watchExcess = 8.0

// keyRate of any other key: the busiest one of a healthy cluster, the allocator of timestamps, is written once in 3 seconds.
const keyRate = 5.0

const keyExcess = 10.0

// revisionRate of the whole of etcd. A healthy 2.3.5 writes 0.5, and 2.2 under inserts (docs/DIAGNOSIS.md).
const revisionRate = 500.0

const revisionExcess = 150.0

// Thresholds of watch-livelock, in writes a second.
const (
	// watchPrefix stands in keys of watch records, before the node and the channel.
	watchPrefix = "channelwatch/"
)

// written is what was written while someone watched, else what a file tells of it; nil if nothing is known.
func (p *Facts) written() *model.EtcdActivity {
	if p.watched() {
		return p.Etcd.Activity
	}
	return p.Recent
}

// watched reports whether that is of a live etcd.
func (p *Facts) watched() bool { return p.Etcd != nil && p.Etcd.Activity != nil }
