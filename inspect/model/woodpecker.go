package model

import (
	"cmp"
	"fmt"
	"time"
)

// Woodpecker is what Woodpecker, the message queue that Milvus embeds since 2.6, keeps in etcd.
type Woodpecker struct {
	// Logs are all in this etcd, by name: also those of another Milvus that shares it.
	Logs []*Log
}

// Log is one of its logs: a pchannel.
type Log struct {
	Name string
	ID   int64 // 0 where only segments of it are recorded
	// Created and Modified are of its record; each truncation modifies it.
	Created, Modified time.Time
	// Truncated is the last entry that is done with; its Segment is -1 if none is.
	Truncated LogPosition
	Segments  []LogSegment // by id
	Readers   []LogReader  // by name
}

// LogPosition is an entry of a log.
type LogPosition struct{ Segment, Entry int64 }

func (p LogPosition) String() string { return fmt.Sprintf("%d/%d", p.Segment, p.Entry) }

// Compare orders positions.
func (p LogPosition) Compare(q LogPosition) int {
	return cmp.Or(cmp.Compare(p.Segment, q.Segment), cmp.Compare(p.Entry, q.Entry))
}

// The states of a log's segments: Woodpecker's own words, and two for records that are not as it writes them.
const (
	LogActive    = "Active"    // written, size and last entry not recorded
	LogCompleted = "Completed" // closed
	LogSealed    = "Sealed"    // closed and compacted; data in folders never are
	LogTruncated = "Truncated" // not needed any more, deleted after the retention
	LogUnread    = "Undecoded" // its record cannot be decoded
	LogMissing   = "Missing"   // has no record, while older and newer segments have
)

// LogSegment is a part of a log.
type LogSegment struct {
	ID    int64
	State string
	// Last is its last entry, Bytes its size: only where Closed.
	Last, Bytes int64
	Completed   time.Time // zero where it is not recorded
	// Nodes hold its entries, each entry WriteQuorum of them, and AckQuorum have to confirm it: of Woodpecker as a service. Embedded it has none.
	Nodes                  []string
	WriteQuorum, AckQuorum int32
	// CleaningFailed says that it could not be deleted, CleaningError why.
	CleaningFailed bool
	CleaningError  string
}

// Closed reports whether nothing more is written to it, and its size is known.
func (s *LogSegment) Closed() bool {
	return s.State == LogCompleted || s.State == LogSealed || s.State == LogTruncated
}

// LogReader is a reader of a log, as it noted its place last.
type LogReader struct {
	Name             string
	Read             LogPosition
	OpenedAt, ReadAt time.Time
}

// WALRecovered is the stage of a position at which a streaming node starts from its own checkpoint.
const WALRecovered = "Recovered"

// Log is the log of a pchannel, nil where there is none or Woodpecker's metadata were not read.
func (w *Woodpecker) Log(name string) *Log {
	if w == nil {
		return nil
	}
	for _, l := range w.Logs {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Kept reports whether its entries are still needed: those of a truncated one are gone or going.
func (s *LogSegment) Kept() bool { return s.State != LogTruncated }

// Kept is what a log still has.
type Kept struct {
	Segments       int64
	Entries, Bytes int64 // of closed segments
	Uncounted      int64 // segments of which neither is recorded: one that is written, damaged ones
}

// Kept counts it.
func (l *Log) Kept() (k Kept) {
	for i := range l.Segments {
		s := &l.Segments[i]
		switch {
		case !s.Kept():
			continue
		case s.Closed():
			k.Entries, k.Bytes = k.Entries+s.Last+1, k.Bytes+s.Bytes
		default:
			k.Uncounted++
		}
		k.Segments++
	}
	return k
}

// Oldest is the first entry that it has, as far as the records of its segments tell.
func (l *Log) Oldest() (LogPosition, bool) {
	if l != nil {
		for i := range l.Segments {
			if s := &l.Segments[i]; s.Kept() && s.State != LogMissing {
				return LogPosition{Segment: s.ID}, true
			}
		}
	}
	return LogPosition{}, false
}

// Behind counts the entries and bytes of closed segments after a position, and the segments of which neither is recorded, as one is
// while it is written. The bytes of the segment that it lies in are counted in proportion.
func (l *Log) Behind(p LogPosition) (entries, bytes, uncounted int64) {
	for i := range l.Segments {
		s := &l.Segments[i]
		switch {
		case s.ID < p.Segment:
		case !s.Closed():
			uncounted++
		case s.ID > p.Segment:
			entries, bytes = entries+s.Last+1, bytes+s.Bytes
		case s.Last >= 0:
			n := max(s.Last-p.Entry, 0)
			entries, bytes = entries+n, bytes+int64(float64(s.Bytes)*float64(n)/float64(s.Last+1))
		}
	}
	return entries, bytes, uncounted
}

// End is the newest entry that is recorded.
func (l *Log) End() (LogPosition, bool) {
	for i := len(l.Segments) - 1; i >= 0; i-- {
		if s := &l.Segments[i]; s.Closed() && s.Last >= 0 {
			return LogPosition{s.ID, s.Last}, true
		}
	}
	return LogPosition{}, false
}
