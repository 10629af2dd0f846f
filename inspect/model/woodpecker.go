package model

import (
	"cmp"
	"fmt"
	"time"
)

// Woodpecker is what Woodpecker, the message queue that Milvus embeds since 2.6, keeps in etcd.
type Woodpecker struct {
	Version string // of its metadata: "1.0.0"; "" if not recorded
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
	// Locked: a writer holds its lock. Not every storage needs one.
	Locked bool
	Key    string
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
	// Created, Completed and Sealed are zero where they are not recorded.
	Created, Completed, Sealed time.Time
	// Nodes, Ensemble, WriteQuorum and AckQuorum are of Woodpecker as a service; embedded it has one.
	Nodes                            []string
	Ensemble, WriteQuorum, AckQuorum int32
	// Cleaning is "" unless its deletion has begun: InProgress, Completed, Failed. CleaningSince and CleaningError are of that.
	Cleaning      string
	CleaningSince time.Time
	CleaningError string
	Key           string
}

// Closed reports whether nothing more is written to it, and its size is known.
func (s *LogSegment) Closed() bool {
	return s.State == LogCompleted || s.State == LogSealed || s.State == LogTruncated
}

// LogReader is a reader of a log, as it noted its place last.
type LogReader struct {
	Name             string
	Opened, Read     LogPosition
	OpenedAt, ReadAt time.Time
	Key              string
}

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

// Kept counts what the log still has: of which entries and bytes are known, and whether that is all. An active segment's are not
// recorded, and those of a truncated one are gone or going.
func (l *Log) Kept() (segments, entries, bytes int64, all bool) {
	all = true
	for i := range l.Segments {
		s := &l.Segments[i]
		switch {
		case s.State == LogTruncated:
		case s.Closed():
			segments, entries, bytes = segments+1, entries+s.Last+1, bytes+s.Bytes
		default:
			segments, all = segments+1, false
		}
	}
	return segments, entries, bytes, all
}

// Behind counts the entries and bytes of closed segments after a position, and whether that is all there is: it is not while a
// segment is written. The bytes of the segment that it lies in are counted in proportion.
func (l *Log) Behind(p LogPosition) (entries, bytes int64, all bool) {
	all = true
	for i := range l.Segments {
		s := &l.Segments[i]
		switch {
		case s.ID < p.Segment:
		case !s.Closed():
			all = false
		case s.ID > p.Segment:
			entries, bytes = entries+s.Last+1, bytes+s.Bytes
		case s.Last >= 0:
			n := max(s.Last-p.Entry, 0)
			entries, bytes = entries+n, bytes+int64(float64(s.Bytes)*float64(n)/float64(s.Last+1))
		}
	}
	return entries, bytes, all
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
