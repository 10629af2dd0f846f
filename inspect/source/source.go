// Package source reads the raw metadata of a Milvus cluster: what enters is a
// place (an etcd, a file, a pipe), what leaves is a stream of key-values at one
// revision.
//
//  1. Open turns one --from word into a Source: by scheme, else by the first bytes.
//  2. Source.Pin fixes one revision and finds the root path: a Snapshot.
//  3. Snapshot.Scan yields the keys of the ranges that its caller wants.
//  4. PastOf gives what a source keeps of past revisions: the changes, and Snapshots of then.
//
// Nothing here knows what a key means (package meta does), and nothing here can
// write: the live client has no such method. A live source can also be watched
// (Watcher); a file cannot, and does not pretend to.
package source

import (
	"context"
	"fmt"
	"time"

	"kitescope/inspect/model"
)

// KV is one key of a metadata store. Key and Value are valid only until the
// yield function that receives them returns: clone what is kept.
type KV struct {
	Key, Value []byte
	// CreateRevision, ModRevision, Version and Lease are etcd's; all are 0 where
	// the source does not carry them (a birdwatcher backup has keys and values only).
	CreateRevision, ModRevision, Version, Lease int64
}

// Range is a half-open interval of absolute keys, [From, To). An empty To means
// no upper bound.
type Range struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Contains reports whether key lies in r.
func (r Range) Contains(key []byte) bool {
	return string(key) >= r.From && (r.To == "" || string(key) < r.To)
}

// Prefix is the Range of every key that starts with p.
func Prefix(p string) Range { return Range{From: p, To: prefixEnd(p)} }

// prefixEnd is the first key after every key that starts with p ("" when there
// is none), as in etcd's clientv3.GetPrefixRangeEnd.
func prefixEnd(p string) string {
	b := []byte(p)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}

// Origin says where a snapshot comes from. It never holds a credential.
type Origin struct {
	// Kind is one of the Kind constants.
	Kind string `json:"kind"`
	// Location is the URI or path as a person would write it, without user info.
	Location string `json:"location"`
	// Detail is a short addition for people: "etcd 3.5.9", "birdwatcher 1.1.1".
	Detail string `json:"detail,omitempty"`
}

// The kinds of sources.
const (
	KindEtcd         = "etcd"
	KindEtcdSnapshot = "etcd-snapshot"
	KindBackup       = "birdwatcher-backup"
	KindBundle       = "bundle"
	KindRecording    = "recording"
)

// Header describes a pinned snapshot.
type Header struct {
	Origin Origin
	// Root is Milvus's etcd.rootPath ("by-dev"), MetaPath its etcd.metaSubPath
	// ("meta"). Keys are Root + "/" + MetaPath + "/..." and Root + "/kv/...".
	Root, MetaPath string
	// Revision is etcd's store revision, 0 where the source does not know it.
	Revision int64
	// Cluster is the id that etcd gave itself, 0 where it is not known. Several that were set up alike may have the same.
	Cluster uint64
	// Taken is when the state was true: now for a live read; for an etcd snapshot the
	// newest timestamp that Milvus reserved in it; for a bundle what its manifest says;
	// else the file's date (FileDate), to be doubted; zero if unknown.
	Taken time.Time
	// FileDate says that Taken is only the date of a file, which a copy may have moved: package meta believes it only where
	// what is in the file agrees.
	FileDate bool
	// ByClock says that Taken was read off a clock when a live etcd was read, or saved into a
	// bundle: it is not worked out from what the store holds.
	ByClock bool
	// Recent is what was written last, counted in the past revisions that a file of etcd's keeps: it ends with the last
	// timestamp that Milvus reserved in it. nil where nothing can be counted, or no time of it is known.
	Recent *model.EtcdActivity
	// Lacks are sorted ranges of keys below the root that a source of this kind
	// leaves out (a birdwatcher backup has nothing beside the metadata prefix): no
	// fault, and so no Gap, but nothing is known of them either.
	Lacks []Range
}

// MetaPrefix is the absolute prefix of metadata keys, with a trailing slash.
func (h Header) MetaPrefix() string { return h.Root + "/" + h.MetaPath + "/" }

// Gap is a part of the store that was not read: keys that a role may not see,
// a damaged page, a record cut off. A gap is never silent: it ends in the
// Cluster, on stderr and, under --strict, in the exit code.
type Gap struct {
	// Where names the part: a key range, a file offset, a record number.
	Where string `json:"where"`
	// Reason is lower case, without a full stop: "permission denied".
	Reason string `json:"reason"`
	// Count is how many records are missing, 0 if that cannot be known.
	Count int64 `json:"count,omitempty"`
	// Keys is the range that was not read, if the gap is one of keys; else zero.
	Keys Range `json:"keys,omitzero"`
	// Unrecorded says that nobody wrote it: nothing is damaged.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// Source is a place that holds the metadata of clusters.
type Source interface {
	Origin() Origin
	// Pin fixes one revision and finds the root path. It fails with *RootError
	// when there is no Milvus root or more than one and none was named.
	Pin(ctx context.Context) (Snapshot, error)
	Close() error
}

// Snapshot is a source at one revision.
type Snapshot interface {
	Header() Header
	// Seekable reports whether reading a few small ranges is much cheaper than
	// reading all: true for etcd; false for a file, which is read in one pass, so
	// that callers ask for all they want in a single Scan.
	Seekable() bool
	// Scan calls yield once for each live key inside one of the ranges. Ranges
	// are sorted and do not overlap. A Seekable snapshot yields in key order;
	// others in any order. yield is never called concurrently. Scan stops at the
	// first error of yield and returns it. It can be called again: a pipe was taken
	// into memory by Open.
	Scan(ctx context.Context, ranges []Range, yield func(KV) error) error
	// Gaps lists what Scan could not read so far.
	Gaps() []Gap
	Close() error
}

// Event is a change of one key. Deleted events carry the key and ModRevision only.
type Event struct {
	KV
	Deleted bool
}

// Watcher is a Source that reports changes.
type Watcher interface {
	Source
	// Watch calls yield with the changes of each revision after the given one, in
	// order, until ctx ends or the watch breaks (ErrCompacted: pin again). yield
	// may be called with no events: revision has then moved without changes below
	// the root.
	Watch(ctx context.Context, header Header, yield func(revision int64, events []Event) error) error
}

// Live is a Watcher that can be asked about itself, as an etcd can.
type Live interface {
	Watcher
	// Alive fails when what is read now would not come from a store that works.
	Alive(ctx context.Context) error
	// Health is what its members say about themselves.
	Health(ctx context.Context) (*model.Etcd, error)
	// Activity is what is written to it over a window that begins now.
	Activity(ctx context.Context, window time.Duration) (*model.EtcdActivity, error)
}

var _ Live = (*Etcd)(nil)

// RootError says that the root path could not be chosen.
type RootError struct {
	// Wanted is the root that was asked for, "" if none was.
	Wanted string
	// Found are the roots that exist, as "root/metaSubPath", sorted.
	Found []string
	Where string
}

func (e *RootError) Error() string {
	switch {
	case e.Wanted != "" && len(e.Found) == 0:
		return fmt.Sprintf("open %s: no Milvus metadata under root %q, and none anywhere else", e.Where, e.Wanted)
	case e.Wanted != "":
		return fmt.Sprintf("open %s: no Milvus metadata under root %q; found %q", e.Where, e.Wanted, e.Found)
	case len(e.Found) == 0:
		return fmt.Sprintf("open %s: no Milvus metadata found", e.Where)
	default:
		return fmt.Sprintf("open %s: several Milvus roots: %q", e.Where, e.Found)
	}
}
