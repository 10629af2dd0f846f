package segment

import (
	"bytes"
	"errors"

	"kitescope/engine/binlog"
)

// Deletes holds deleted keys, with the time of the last delete of each. It is immutable, and segments share it,
// because L0 segments apply to all segments of their channel and partition.
type Deletes struct {
	numbers map[int64]uint64
	texts   map[string]uint64
}

// NewDeletes merges deletes from several places. It ignores nil elements.
func NewDeletes(list ...*binlog.Deltas) *Deletes {
	d := &Deletes{}
	for _, l := range list {
		switch {
		case l == nil || len(l.Timestamps) == 0:
		case l.Strings != nil:
			d.texts = latest(d.texts, l.Strings, l.Timestamps)
		default:
			d.numbers = latest(d.numbers, l.Int64s, l.Timestamps)
		}
	}
	return d
}

func latest[K comparable](last map[K]uint64, keys []K, at []uint64) map[K]uint64 {
	if last == nil {
		last = make(map[K]uint64, len(keys))
	}
	for i, k := range keys {
		last[k] = max(last[k], at[i])
	}
	return last
}

// Keys returns the number of deleted keys.
func (d *Deletes) Keys() int { return len(d.numbers) + len(d.texts) }

// delete marks the rows that were inserted before their key was deleted. A key that was inserted again later stays
// (Milvus internal/querynodev2: delete timestamp >= insert timestamp).
func (s *Segment) delete(d *Deletes) error {
	if d == nil || d.Keys() == 0 || s.Rows == 0 {
		return nil
	}
	if s.Strings != nil && d.numbers != nil || s.Strings == nil && d.texts != nil {
		return errors.New("deleted keys are of another type than the primary keys")
	}
	if s.Strings != nil {
		mark(s, s.Strings, d.texts)
	} else {
		mark(s, s.Int64s, d.numbers)
	}
	return nil
}

func mark[K comparable](s *Segment, keys []K, last map[K]uint64) {
	for row, k := range keys {
		if t, ok := last[k]; ok && t >= s.Timestamps[row] {
			s.Deleted.Set(row)
		}
	}
}

// ShareVectors drops one copy of the vectors if the index has exactly the same ones as the insert logs, and reports
// whether it did. That halves the memory of a segment with an HNSW index. The segment must not be in use.
func (s *Segment) ShareVectors() bool {
	if s.Index == nil {
		return false
	}
	v, _ := s.Index.OwnMemory()
	if v == nil || v == s.Vectors {
		return v != nil
	}
	if v.Rows != s.Rows || v.Element != s.Vectors.Element || v.Dim != s.Vectors.Dim {
		return false
	}
	for i := range v.Rows {
		if !bytes.Equal(v.Row(i), s.Vectors.Row(i)) {
			return false
		}
	}
	s.Vectors.Release()
	s.Vectors = v
	return true
}
