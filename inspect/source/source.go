// Package source reads the raw metadata of a Milvus cluster from an etcd, a file or a pipe. It returns the
// key-values at one revision as a stream.
//
//  1. Open parses a --from argument and returns a Source. It decides by the scheme, or by whether the path is a folder,
//     or else by the first bytes.
//  2. Source.Pin fixes one revision, finds the root path and returns a Snapshot.
//  3. Snapshot.Scan yields each KV in the ranges that the caller passes. Package meta chooses and decodes them.
//  4. PastOf returns the source as a Past, which reads earlier revisions: the changes, or a Snapshot at one of them.
//
// The package never writes: only reader (etcd_reader.go) holds an etcd client, and it has no method that writes. Only a
// live source is a Watcher.
package source

import (
	"context"
	"fmt"
	"time"

	"kitescope/inspect/model"
)

// KV is one key of a metadata store. Key and Value are valid only until the yield function that receives them
// returns. Clone them to keep them.
type KV struct {
	Key, Value []byte
	// CreateRevision, ModRevision, Version and Lease are the fields of etcd. All are 0 if the source does not
	// have them, e.g. a birdwatcher backup, which has only keys and values.
	CreateRevision, ModRevision, Version, Lease int64
}

// Range is a half-open interval of absolute keys, [From, To). If To is empty, it has no upper bound.
type Range struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Contains reports whether key is in r.
func (r Range) Contains(key []byte) bool {
	return string(key) >= r.From && (r.To == "" || string(key) < r.To)
}

// Prefix returns the Range of all keys that start with p.
func Prefix(p string) Range { return Range{From: p, To: prefixEnd(p)} }

// prefixEnd returns the first key after all keys that start with p, or "" if no key follows. The result is
// the same as clientv3.GetPrefixRangeEnd of etcd.
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

// Origin identifies the source of a snapshot. It never holds a credential.
type Origin struct {
	// Kind is one of the Kind constants.
	Kind string `json:"kind"`
	// Location is the URI or path as the user would write it, without user info.
	Location string `json:"location"`
	// Detail is a short addition to display, e.g. "etcd 3.5.9" or "birdwatcher 1.1.1".
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
	// Root is the etcd.rootPath of Milvus ("by-dev"), MetaPath its etcd.metaSubPath ("meta"). Keys are Root +
	// "/" + MetaPath + "/..." and Root + "/kv/...".
	Root, MetaPath string
	// Revision is the store revision of etcd, or 0 if the source does not have it.
	Revision int64
	// Cluster is the cluster ID that etcd generated, or 0 if unknown. Clusters with the same initial setup may
	// have the same ID.
	Cluster uint64
	// Taken is the time of the state: the current time for a live read, the newest timestamp that Milvus
	// reserved in an etcd snapshot, and the time in the manifest of a bundle. Otherwise it is the modification
	// time of the file (FileDate), which is unreliable. It is zero if unknown.
	Taken time.Time
	// FileDate reports whether Taken is only the date of a file, which copying may have changed. Package meta
	// uses it only if the content of the file agrees.
	FileDate bool
	// ByClock reports whether Taken was read from a clock, when a live etcd was read or when a bundle was
	// saved. It is then not derived from the content of the store.
	ByClock bool
	// Recent holds the most recent writes, counted in the past revisions of an etcd file. Its window ends at
	// the last timestamp that Milvus reserved in the file. It is nil if there is nothing to count or no known
	// time.
	Recent *model.EtcdActivity
	// Omitted holds sorted ranges of keys below the root that this kind of source omits: a birdwatcher backup has
	// only the metadata prefix. They are not a Gap, because nothing failed, but their content is unknown.
	Omitted []Range
}

// MetaPrefix returns the absolute prefix of metadata keys, with a trailing slash.
func (h Header) MetaPrefix() string { return h.Root + "/" + h.MetaPath + "/" }

// Gap is a part of the store that was not read: keys that the role may not read, a damaged page, or a truncated
// record. Every gap is reported in the Cluster, on stderr and, with --strict, in the exit code.
type Gap struct {
	// Where identifies the part, e.g. a key range, a file offset or a record number.
	Where string `json:"where"`
	// Reason is in lower case, without a period, e.g. "permission denied".
	Reason string `json:"reason"`
	// Count is the number of missing records, or 0 if unknown.
	Count int64 `json:"count,omitempty"`
	// Keys is the key range that was not read. It is zero if the gap is not a key range.
	Keys Range `json:"keys,omitzero"`
	// Unrecorded reports whether the part was never recorded, so that nothing is damaged.
	Unrecorded bool `json:"unrecorded,omitempty"`
}

// Source is an etcd or a file that holds the metadata of clusters.
type Source interface {
	Origin() Origin
	// Pin fixes a revision and finds the root path. It returns a *RootError if no Milvus root exists, or if
	// several exist and Options.Root is empty.
	Pin(ctx context.Context) (Snapshot, error)
	Close() error
}

// Snapshot is a source at one revision.
type Snapshot interface {
	Header() Header
	// Seekable reports whether reading a few small ranges is much cheaper than reading everything. It is true
	// for etcd. It is false for files because they are read in one pass; callers should pass all ranges to a
	// single Scan.
	Seekable() bool
	// Scan calls yield once for each live key in one of the ranges. The ranges must be sorted and must not
	// overlap. A Seekable snapshot yields in key order; others yield in any order. yield is never called
	// concurrently. Scan stops at the first error of yield and returns it. Scan can be called again, because
	// Open reads a pipe into memory.
	Scan(ctx context.Context, ranges []Range, yield func(KV) error) error
	// Gaps returns the parts that Scan has not been able to read so far.
	Gaps() []Gap
	Close() error
}

// Event is a change of a key. A deleted event holds only the key and the ModRevision.
type Event struct {
	KV
	Deleted bool
}

// Watcher is a Source that reports changes.
type Watcher interface {
	Source
	// Watch calls yield with the changes of each revision after the one in header, in order, until ctx ends or
	// the watch fails (ErrCompacted: call Pin again). yield may be called without events, when the revision has
	// advanced without changes below the root.
	Watch(ctx context.Context, header Header, yield func(revision int64, events []Event) error) error
}

// Live is a Watcher that reports its own health and write activity, as an etcd does.
type Live interface {
	Watcher
	// Alive returns an error if the store does not currently work.
	Alive(ctx context.Context) error
	// Health returns the status that its members report.
	Health(ctx context.Context) (*model.Etcd, error)
	// Activity returns the writes to the store over a window that begins now.
	Activity(ctx context.Context, window time.Duration) (*model.EtcdActivity, error)
}

var _ Live = (*Etcd)(nil)

// RootError reports that the root path could not be chosen.
type RootError struct {
	// Wanted is the requested root, or "" if none was requested.
	Wanted string
	// Found holds the existing roots as "root/metaSubPath", sorted.
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
