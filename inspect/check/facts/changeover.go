package facts

import (
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// OldKeys are the keys under which Milvus 2.1 and older keep what 2.2 and later keep elsewhere: how many of each kind, in the order of
// their names, and in all.
func OldKeys(c *model.Cluster) (kinds []KindCount, total int64) {
	for _, kind := range slices.Sorted(maps.Keys(c.KeysByKind)) {
		if n := c.KeysByKind[kind]; n > 0 && strings.HasSuffix(kind, "-2.1") {
			kinds, total = append(kinds, KindCount{kind, n}), total+n
		}
	}
	return kinds, total
}

// KindCount is how many keys there are of a kind.
type KindCount struct {
	Kind  string
	Count int64
}

// Having are the segments of a collection that are alive and of some kind.
type Having struct {
	Segments int
	Rows     int64
	Objects  []model.Ref // the first of them
}

// Having finds them.
func (f *Facts) Having(id model.CollectionID, has func(*model.Segment) bool) (h Having) {
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

// LogsBeside reports whether a segment has its logs only under keys of their own, where 2.1 does not look.
func LogsBeside(s *model.Segment) bool { return s.LogKeys && !s.TwoLayouts }

// UsualQuota is etcd's default for --quota-backend-bytes (etcd, server/storage/quota.go: DefaultQuotaBytes).
const UsualQuota = int64(2) << 30

// QuotaShare is the part of its quota that the database of a member has, of the usual one where it is not reported.
func QuotaShare(m *model.EtcdMember) float64 {
	if m.DBQuota > 0 {
		return Part(m.DBSize, m.DBQuota)
	}
	return Part(m.DBSize, UsualQuota)
}

// TaskEnded reports whether nothing follows on the state of a task.
func TaskEnded(t *model.Task) bool {
	switch strings.ToLower(t.State) {
	case "completed", "cleaned", "failed", "failedandcleaned", "timeout", "finished", "tombstone", "done":
		return true
	}
	return false
}
