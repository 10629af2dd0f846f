package facts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// limit is the tolerated write rate of a key. It is tested with cumulative sums (Page, Continuous inspection
// schemes, 1954), so that a steady rate gives a steady result whatever the noise of single windows. A key is found
// once its writes exceed perSecond by excess writes in total, over any number of windows. It is cleared once its
// writes fall short of a quarter of perSecond, or of a quarter of its previous rate, by twice excess: this detects
// the end of a fast loop at once. At rates in between, the result does not change.
type limit struct{ perSecond, excess float64 }

// limitOf returns the limit of a key. AllKeys is the key for all of etcd.
func limitOf(key string) limit {
	switch {
	case key == AllKeys:
		return limit{RevisionRate, revisionExcess}
	case strings.Contains(key, WatchPrefix):
		return limit{WatchRate, watchExcess}
	}
	return limit{KeyRate, keyExcess}
}

// AllKeys is the key for the revisions of all of etcd.
const AllKeys = ""

// Rewrite holds the cumulative sums of the writes of one key above and below its limit.
type Rewrite struct {
	above, below float64
	hot          bool
	// average is the moving average of its writes per second in windows above the limit; recent windows weigh most.
	average float64
	Writes  int64
	// UpperBound is set if Writes is only an upper bound: the writes of the least busy key that was reported.
	UpperBound bool
}

// Rewrites tracks the write rates of keys from window to window. It is immutable.
type Rewrites struct {
	window *model.EtcdActivity
	Keys   map[string]Rewrite
}

// next adds a window. It returns r if a is nil, shorter than MinWatchTime, or the window that r already has.
func (r *Rewrites) next(a *model.EtcdActivity) *Rewrites {
	if a == nil || a.Over < MinWatchTime || r != nil && r.window == a {
		return r
	}
	next := &Rewrites{a, make(map[string]Rewrite)}
	var before map[string]Rewrite
	if r != nil {
		before = r.Keys
	}
	add := func(key string, writes int64, most bool) {
		w := before[key].advance(limitOf(key), writes, a.Over.Seconds())
		w.UpperBound = most
		if w.hot || w.above > 0 {
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
	if a.More && len(a.Hot) > 0 { // unreported keys may have as many writes as the last reported one
		rest = a.Hot[len(a.Hot)-1].Writes
	}
	for key := range before {
		if told[key] || key == AllKeys {
			continue
		}
		n := rest
		if float64(n) <= limitOf(key).perSecond*a.Over.Seconds() {
			n = 0 // not enough evidence: if many keys are written once, any key may be among them
		}
		add(key, n, true)
	}
	return next
}

// advance returns the state after one more window, whose length is in seconds.
func (w Rewrite) advance(l limit, writes int64, seconds float64) Rewrite {
	n := float64(writes)
	w.Writes = writes
	if rate := n / seconds; rate >= l.perSecond {
		w.average += (rate - w.average) / 2
	}
	few := l.perSecond / 4
	if n < l.perSecond/2*seconds {
		few = max(few, w.average/4)
	}
	w.above = max(0, w.above+n-l.perSecond*seconds)
	w.below = max(0, w.below+few*seconds-n)
	switch {
	case !w.hot && w.above >= l.excess:
		w.hot, w.below = true, 0
	case w.hot && w.below >= 2*l.excess:
		w.hot, w.above, w.average = false, 0, 0
	}
	// Cap both sums, so that a long excess does not delay the detection of its end, and vice versa.
	w.above, w.below = min(w.above, l.excess), min(w.below, 2*l.excess)
	return w
}

// HotKeys returns the keys that are written too often, sorted.
func (r *Rewrites) HotKeys() []string {
	if r == nil {
		return nil
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(r.Keys)) {
		if r.Keys[key].hot {
			keys = append(keys, key)
		}
	}
	return keys
}

// MinWatchTime is the minimum time that etcd must be watched for meaningful rates.
const MinWatchTime = time.Second

// WatchRate is the limit for a watch record, in writes per second. More cannot be useful work, because a channel is
// assigned once. The whole life of a record takes fewer than watchExcess further writes: assigned, watched, to be
// released, released and deleted, e.g. for a collection that is dropped seconds after its creation (2.3.5).
const WatchRate = 0.5

const watchExcess = 8.0

// KeyRate is the limit for any other key, in writes per second. The busiest key of a healthy cluster, the timestamp
// allocator, is written once in 3 seconds.
const KeyRate = 5.0

const keyExcess = 10.0

// RevisionRate is the limit for all of etcd, in revisions per second. A healthy 2.3.5 writes 0.5 per second, and
// 2.2 per second under inserts (docs/evidence/diagnosis.md).
const RevisionRate = 500.0

const revisionExcess = 150.0

// Parts of keys that watch-livelock looks for.
const (
	// WatchPrefix precedes the node and the channel in the keys of watch records.
	WatchPrefix = "channelwatch/"
)

// EtcdWrites returns the writes seen while etcd was watched, or those of past revisions if they cover a longer time.
// It returns nil if neither is known.
func (f *Facts) EtcdWrites() *model.EtcdActivity {
	if f.Watched() {
		return f.Etcd.Activity
	}
	return f.Recent
}

// Watched reports whether EtcdWrites returns writes seen while etcd was watched.
func (f *Facts) Watched() bool {
	return f.Etcd != nil && f.Etcd.Activity != nil && (f.Recent == nil || f.Recent.Over <= f.Etcd.Activity.Over)
}

// ceasedWrites is the number of expected writes that must be missing before a key counts as no longer written.
const ceasedWrites = 5

// Ceased reports whether a key with so many writes in past revisions was not written while etcd was watched, so the
// problem is over.
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
