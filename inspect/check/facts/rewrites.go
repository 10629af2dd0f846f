package facts

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// AllKeys stands for the revisions of all of etcd.
const AllKeys = ""

// TooOften reports whether a key, or all of etcd for AllKeys, was written so often in a window that it cannot be work: enough times more than
// a rate allows.
func TooOften(key string, writes int64, over time.Duration) bool {
	perSecond, enough := KeyRate, keyExcess
	switch {
	case key == AllKeys:
		perSecond, enough = RevisionRate, revisionExcess
	case strings.Contains(key, WatchPrefix):
		perSecond, enough = WatchRate, watchExcess
	}
	return float64(writes) >= perSecond*over.Seconds()+enough
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
