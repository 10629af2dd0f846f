package meta

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
)

const slabSize = 1024

// segmentLoad collects segments during the first read of a store, with keys in any order. Segments are allocated
// in slabs, because one allocation each would cost more than decoding. All segment ids come from one allocator, so
// keys with the same id belong to the same segment.
type segmentLoad struct {
	byID          map[model.SegmentID]int32
	lastID        model.SegmentID // the keys of a segment are consecutive
	lastAt        int32
	slabs         [][]model.Segment
	records       []bool // the segments that have a record
	logList       [][]loadedLogs
	inline        map[int32][]model.FieldLogs
	indexes       slab[model.SegmentIndex]
	compactedFrom slab[model.SegmentID]
}

// loadedLogs holds the logs of a key until its segment is complete.
type loadedLogs struct {
	at   int32
	logs model.FieldLogs
}

func newSegmentLoad() *segmentLoad {
	return &segmentLoad{byID: make(map[model.SegmentID]int32), lastAt: -1, inline: make(map[int32][]model.FieldLogs)}
}

// at returns the segment with an id. It adds the segment if it is missing.
func (l *segmentLoad) at(
	id model.SegmentID, collection model.CollectionID, partition model.PartitionID,
) (*model.Segment, int32) {
	if l.lastAt >= 0 && id == l.lastID {
		return l.get(l.lastAt), l.lastAt
	}
	i, ok := l.byID[id]
	if !ok {
		i = int32(len(l.records))
		l.byID[id] = i
		l.records = append(l.records, false)
		if i%slabSize == 0 {
			l.slabs = append(l.slabs, make([]model.Segment, slabSize))
		}
		s := l.get(i)
		s.ID, s.Collection, s.Partition = id, collection, partition
	}
	l.lastID, l.lastAt = id, i
	return l.get(i), i
}

func (l *segmentLoad) get(i int32) *model.Segment { return &l.slabs[i/slabSize][i%slabSize] }

func (l *segmentLoad) record(v *segmentValue) {
	s, i := l.at(v.s.ID, v.s.Collection, v.s.Partition)
	indexes := s.Indexes
	*s = v.s
	s.Indexes = indexes
	s.CompactedFrom = l.compactedFrom.copy(v.compacted)
	l.records[i] = true
	delete(l.inline, i)
	if len(v.inline) > 0 {
		l.inline[i] = tidyLogs(slices.Clone(v.inline))
	}
}

func (l *segmentLoad) logs(k *keyParts, logs model.FieldLogs) {
	_, i := l.at(model.SegmentID(k.ids[2]), model.CollectionID(k.ids[0]), model.PartitionID(k.ids[1]))
	n := len(l.logList)
	if n == 0 || len(l.logList[n-1]) == slabSize {
		l.logList = append(l.logList, make([]loadedLogs, 0, slabSize))
		n++
	}
	l.logList[n-1] = append(l.logList[n-1], loadedLogs{i, logs})
}

func (l *segmentLoad) index(x model.SegmentIndex) {
	s, _ := l.at(x.Segment, x.Collection, x.Partition)
	s.Indexes = l.indexes.append(s.Indexes, x)
}

// finish completes the segments and returns those with a record and the orphans, both sorted by id.
func (l *segmentLoad) finish(st *segmentStore) (list, orphans []*model.Segment) {
	keyed := l.distribute()
	list = make([]*model.Segment, 0, len(l.records))
	for i, record := range l.records {
		s := l.get(int32(i))
		if len(keyed[i]) > 1 {
			keyed[i] = tidyLogs(keyed[i])
		}
		if inline := l.inline[int32(i)]; inline != nil {
			st.setLayout(s, segmentLayout{inline: inline, keyed: keyed[i]})
		} else {
			s.Logs, s.LogKeys = keyed[i], len(keyed[i]) > 0
		}
		if len(s.Indexes) > 1 {
			slices.SortFunc(s.Indexes, compareSegmentIndex)
		}
		addUpSegment(s)
		if record {
			list = append(list, s)
		} else {
			orphans = append(orphans, s)
		}
	}
	byID := func(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(list, byID)
	slices.SortFunc(orphans, byID)
	return list, orphans
}

// distribute groups the logs by segment.
func (l *segmentLoad) distribute() [][]model.FieldLogs {
	counts := make([]int32, len(l.records))
	for _, chunk := range l.logList {
		for i := range chunk {
			counts[chunk[i].at]++
		}
	}
	keyed := make([][]model.FieldLogs, len(l.records))
	var room slab[model.FieldLogs]
	for i, n := range counts {
		if n > 0 {
			keyed[i] = room.alloc(int(n))
		}
	}
	for c, chunk := range l.logList {
		for i := range chunk {
			keyed[chunk[i].at] = append(keyed[chunk[i].at], chunk[i].logs)
		}
		l.logList[c] = nil
	}
	return keyed
}

// slab allocates small slices from large arrays.
type slab[T any] struct {
	base []T
	used int
	last int // start of the last slice
}

// alloc returns an empty slice with capacity n.
func (s *slab[T]) alloc(n int) []T {
	if s.used+n > len(s.base) {
		s.base, s.used = make([]T, max(n, slabSize)), 0
	}
	s.last = s.used
	s.used += n
	return s.base[s.last:s.last:s.used]
}

// copy returns list as a slice of the slab, nil if it is empty.
func (s *slab[T]) copy(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return append(s.alloc(len(list)), list...)
}

// append appends x to a slice that this method returned. It grows in place if the slice is the last one allocated.
func (s *slab[T]) append(list []T, x T) []T {
	if n := len(list); n > 0 && s.used < len(s.base) && s.last+n == s.used && &list[0] == &s.base[s.last] {
		s.used++
		grown := s.base[s.last:s.used:s.used]
		grown[n] = x
		return grown
	}
	return append(append(s.alloc(len(list)+1), list...), x)
}
