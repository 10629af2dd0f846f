package model

import (
	"cmp"
	"fmt"
	"time"
)

// Woodpecker is the metadata in etcd of Woodpecker, the message queue that Milvus embeds since 2.6.
type Woodpecker struct {
	// Logs are all logs in this etcd by name, including logs of another Milvus that shares it.
	Logs []*Log
}

// Log is the log of a pchannel.
type Log struct {
	Name string
	ID   int64 // 0 if only its segments are recorded
	// Created and Modified are the times of its record. Each truncation modifies it.
	Created, Modified time.Time
	// Truncated is the last truncated entry. Its Segment is -1 if there is none.
	Truncated LogPosition
	Segments  []LogSegment // by id
	Readers   []LogReader  // by name
}

// LogPosition is the position of an entry in a log.
type LogPosition struct{ Segment, Entry int64 }

func (p LogPosition) String() string { return fmt.Sprintf("%d/%d", p.Segment, p.Entry) }

// Compare orders positions.
func (p LogPosition) Compare(q LogPosition) int {
	return cmp.Or(cmp.Compare(p.Segment, q.Segment), cmp.Compare(p.Entry, q.Entry))
}

// The states of log segments: the names that Woodpecker uses, and two for unreadable and missing records.
const (
	LogActive    = "Active"    // written, size and last entry not recorded
	LogCompleted = "Completed" // closed
	LogSealed    = "Sealed"    // closed and compacted; never occurs for data in folders
	LogTruncated = "Truncated" // no longer needed, deleted after the retention period
	LogUndecoded = "Undecoded" // its record cannot be decoded
	LogMissing   = "Missing"   // no record, although older and newer segments have one
)

// LogSegment is a part of a log.
type LogSegment struct {
	ID    int64
	State string
	// Last is the last entry and Bytes the size. Both are known only if Closed.
	Last, Bytes int64
	Completed   time.Time // zero if not recorded
	// Nodes hold the entries, if Woodpecker runs as a service. Each entry is on WriteQuorum of the Nodes, and
	// AckQuorum have to confirm it. Embedded Woodpecker has none.
	Nodes                  []string
	WriteQuorum, AckQuorum int32
	// CleaningFailed is true if the segment could not be deleted. CleaningError is the reason.
	CleaningFailed bool
	CleaningError  string
}

// Closed reports whether the segment is no longer written to. Its size is then known.
func (s *LogSegment) Closed() bool {
	return s.State == LogCompleted || s.State == LogSealed || s.State == LogTruncated
}

// LogReader is a reader of a log, with its last recorded position.
type LogReader struct {
	Name             string
	Read             LogPosition
	OpenedAt, ReadAt time.Time
}

// WALRecovered is the stage of a position that is in a streaming node's own checkpoint, from which it restarts.
const WALRecovered = "Recovered"

// Log returns the log of a pchannel, or nil if there is none or Woodpecker's metadata were not read.
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

// Retained reports whether the entries are still needed. Entries of a truncated segment are deleted or will be.
func (s *LogSegment) Retained() bool { return s.State != LogTruncated }

// RetainedLog is the retained part of a log.
type RetainedLog struct {
	Segments       int64
	Entries, Bytes int64 // of closed segments
	Uncounted      int64 // segments with unknown entries and bytes: open or damaged ones
}

// Retained returns the retained part of the log.
func (l *Log) Retained() (k RetainedLog) {
	for i := range l.Segments {
		s := &l.Segments[i]
		switch {
		case !s.Retained():
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

// Oldest returns the first retained entry, as far as the records of its segments show.
func (l *Log) Oldest() (LogPosition, bool) {
	if l != nil {
		for i := range l.Segments {
			if s := &l.Segments[i]; s.Retained() && s.State != LogMissing {
				return LogPosition{Segment: s.ID}, true
			}
		}
	}
	return LogPosition{}, false
}

// Behind counts the entries and bytes of closed segments after a position. uncounted is the number of segments
// with unknown size, e.g. the one that is being written. The bytes of the position's own segment are counted in
// proportion to its entries.
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

// End returns the newest recorded entry.
func (l *Log) End() (LogPosition, bool) {
	for i := len(l.Segments) - 1; i >= 0; i-- {
		if s := &l.Segments[i]; s.Closed() && s.Last >= 0 {
			return LogPosition{s.ID, s.Last}, true
		}
	}
	return LogPosition{}, false
}
