package facts

import (
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// OldKeys counts the keys of the layouts that only Milvus 2.1 and older use, because 2.2 and later write the same
// records under other keys. It returns the count of each kind, sorted by name, and the total.
func OldKeys(c *model.Cluster) (kinds []KindCount, total int64) {
	for _, kind := range slices.Sorted(maps.Keys(c.KeysByKind)) {
		if n := c.KeysByKind[kind]; n > 0 && strings.HasSuffix(kind, "-2.1") {
			kinds, total = append(kinds, KindCount{kind, n}), total+n
		}
	}
	return kinds, total
}

// KindCount is the number of keys of a kind.
type KindCount struct {
	Kind  string
	Count int64
}

// SegmentCount counts the healthy segments of a collection that match a predicate.
type SegmentCount struct {
	Segments int
	Rows     int64
	Objects  []model.Ref // at most the first MaxObjects
}

// CountSegments counts the healthy segments of a collection for which has returns true.
func (f *Facts) CountSegments(id model.CollectionID, has func(*model.Segment) bool) (h SegmentCount) {
	for _, s := range f.SegmentsOf(id) {
		if !s.State.Healthy() || !has(s) {
			continue
		}
		h.Segments, h.Rows = h.Segments+1, h.Rows+s.Rows
		if len(h.Objects) < MaxObjects {
			h.Objects = append(h.Objects, RefSegment(s.ID))
		}
	}
	return h
}

// HasSeparateLogs reports whether a segment has its logs only under separate keys, which 2.1 does not read.
func HasSeparateLogs(s *model.Segment) bool { return s.LogKeys && !s.TwoLayouts }

// UsualQuota is etcd's default for --quota-backend-bytes (etcd, server/storage/quota.go: DefaultQuotaBytes).
const UsualQuota = int64(2) << 30

// QuotaShare returns the database size of a member as a share of its quota. It uses UsualQuota if the member does
// not report a quota.
func QuotaShare(m *model.EtcdMember) float64 {
	if m.DBQuota > 0 {
		return Ratio(m.DBSize, m.DBQuota)
	}
	return Ratio(m.DBSize, UsualQuota)
}

// TaskEnded reports whether the state of a task is final.
func TaskEnded(t *model.Task) bool {
	switch strings.ToLower(t.State) {
	case "completed", "cleaned", "failed", "failedandcleaned", "timeout", "finished", "tombstone", "done":
		return true
	}
	return false
}
