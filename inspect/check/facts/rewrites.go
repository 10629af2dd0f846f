package facts

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

// limitOf is the limit of a key, of all of etcd for AllKeys.
func limitOf(key string) limit {
	switch {
	case key == AllKeys:
		return limit{RevisionRate, revisionExcess}
	case strings.Contains(key, WatchPrefix):
		return limit{WatchRate, watchExcess}
	}
	return limit{KeyRate, keyExcess}
}

// AllKeys stands for the revisions of all of etcd.
const AllKeys = ""

// Rewrite is how far the writes of one key are above its limit, or below it.
type Rewrite struct {
	above, below float64
	found        bool
	// usual is how often it was written in a second while that was too often, the latest windows most.
	usual  float64
	Writes int64
	// Most is that writes are those of the least busy key that was told: this one had no more.
	Most bool
}

// Rewrites follow how often keys are written from window to window. They are never changed.
type Rewrites struct {
	window *model.EtcdActivity
	Keys   map[string]Rewrite
}

// next adds a window; the same one again, or none, changes nothing.
func (r *Rewrites) next(a *model.EtcdActivity) *Rewrites {
	if a == nil || a.Over < WatchedLeast || r != nil && r.window == a {
		return r
	}
	next := &Rewrites{a, make(map[string]Rewrite)}
	var before map[string]Rewrite
	if r != nil {
		before = r.Keys
	}
	add := func(key string, writes int64, most bool) {
		w := before[key].after(limitOf(key), writes, a.Over.Seconds())
		w.Most = most
		if w.found || w.above > 0 {
			next.Keys[key] = w
		}
	}
	add(AllKeys, a.Revisions, false)
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
		if told[key] || key == AllKeys {
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
func (w Rewrite) after(l limit, writes int64, seconds float64) Rewrite {
	n := float64(writes)
	w.Writes = writes
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

// Found are the keys that are written too often, sorted.
func (r *Rewrites) Found() []string {
	if r == nil {
		return nil
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(r.Keys)) {
		if r.Keys[key].found {
			keys = append(keys, key)
		}
	}
	return keys
}

// WatchedLeast is how long etcd has to be watched for rates to mean anything.
const WatchedLeast = time.Second

// WatchRate of one watch record cannot be work: a channel is assigned once. Its whole life is fewer than watchExcess writes more: assigned,
// watched, to be released, released and deleted, as a collection that is dropped seconds after it was made has them (2.3.5).
const WatchRate = 0.5

const watchExcess = 8.0

// KeyRate of any other key: the busiest one of a healthy cluster, the allocator of timestamps, is written once in 3 seconds.
const KeyRate = 5.0

const keyExcess = 10.0

// RevisionRate of the whole of etcd. A healthy 2.3.5 writes 0.5, and 2.2 under inserts (docs/evidence/diagnosis.md).
const RevisionRate = 500.0

const revisionExcess = 150.0

// Thresholds of watch-livelock, in writes a second.
const (
	// WatchPrefix stands in keys of watch records, before the node and the channel.
	WatchPrefix = "channelwatch/"
)

// Written is what was written while someone watched, or what past revisions tell of it if that is of a longer time; nil if nothing is
// known.
func (f *Facts) Written() *model.EtcdActivity {
	if f.Watched() {
		return f.Etcd.Activity
	}
	return f.Recent
}

// Watched reports whether that was watched.
func (f *Facts) Watched() bool {
	return f.Etcd != nil && f.Etcd.Activity != nil && (f.Recent == nil || f.Recent.Over <= f.Etcd.Activity.Over)
}

// ceasedWrites are how many writes have to be missing for a key to be left alone now.
const ceasedWrites = 5

// Ceased reports whether a key that was written so often in the past has not been written while somebody watched: it is over.
func (f *Facts) Ceased(key string, writes int64) bool {
	if f.Watched() || f.Etcd == nil || f.Etcd.Activity == nil {
		return false
	}
	a := f.Etcd.Activity
	if a.More || float64(writes)/f.Recent.Over.Seconds()*a.Over.Seconds() < ceasedWrites {
		return false
	}
	return !slices.ContainsFunc(a.Hot, func(k model.KeyWrites) bool { return k.Key == key })
}
