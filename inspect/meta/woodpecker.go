package meta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// maxMissing limits the number of missing segments that are listed per log, because ids come from keys.
const maxMissing = 64

// woodpecker assembles Woodpecker's logs, nil if no key of Woodpecker was read.
func (s *state) woodpecker() *model.Woodpecker {
	out, found := &model.Woodpecker{}, false
	s.each(kindWoodpeckerInstance, func(*fact) { found = true })
	s.each(kindWoodpeckerVersion, func(*fact) { found = true })
	logs := map[string]*model.Log{}
	log := func(name string) *model.Log {
		if logs[name] == nil {
			logs[name] = &model.Log{Name: name, Truncated: model.LogPosition{Segment: -1, Entry: -1}}
		}
		return logs[name]
	}
	s.each(kindWoodpeckerLog, func(f *fact) {
		m, l := f.value.(*legacypb.LogMeta), log(f.names[0])
		l.ID = m.GetLogId()
		l.Truncated = model.LogPosition{Segment: m.GetTruncatedSegmentId(), Entry: m.GetTruncatedEntryId()}
		l.Created, l.Modified = unixSeconds(m.GetCreationTimestamp()), unixSeconds(m.GetModificationTimestamp())
	})
	s.each(kindWoodpeckerSegment, func(f *fact) {
		l := log(f.names[0])
		l.Segments = append(l.Segments, logSegment(f))
	})
	for key := range s.undecoded {
		k, err := s.grammar.parse([]byte(key))
		if err != nil || k.kind != kindWoodpeckerSegment || s.facts[kindWoodpeckerSegment][key] != nil {
			continue
		}
		l := log(k.name())
		l.Segments = append(l.Segments, model.LogSegment{ID: k.ids[0], State: model.LogUndecoded})
	}
	byID := map[int64]*model.Log{}
	for _, l := range logs {
		slices.SortFunc(l.Segments, func(a, b model.LogSegment) int { return cmp.Compare(a.ID, b.ID) })
		l.Segments = withMissing(l)
		if l.ID != 0 {
			byID[l.ID] = l
		}
	}
	s.addReaders(byID)
	s.addCleaning(byID)
	if !found && len(logs) == 0 {
		return nil
	}
	out.Logs = values(logs)
	slices.SortFunc(out.Logs, func(a, b *model.Log) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func logSegment(f *fact) model.LogSegment {
	m := f.value.(*legacypb.SegmentMetadata)
	x := model.LogSegment{
		ID: f.ids[0], State: m.GetState().String(), Last: m.GetLastEntryId(), Bytes: m.GetSize(),
		Completed: model.MillisTime(m.GetCompletionTime()),
	}
	if q := m.GetQuorum(); q != nil {
		x.Nodes, x.WriteQuorum, x.AckQuorum = q.GetNodes(), q.GetWq(), q.GetAq()
	}
	return x
}

// withMissing inserts the segments without a record: between segments with one, and before the first if it does
// not follow the last truncated one. Woodpecker deletes only records of truncated segments, and numbers segments
// without gaps (log_handle.go).
func withMissing(l *model.Log) []model.LogSegment {
	var out []model.LogSegment
	missing, next := 0, int64(-1)
	if l.ID != 0 && l.Truncated.Segment >= 0 {
		next = l.Truncated.Segment + 1
	}
	for i, x := range l.Segments {
		for id := next; next >= 0 && id < x.ID && missing < maxMissing; id++ {
			out = append(out, model.LogSegment{ID: id, State: model.LogMissing})
			missing++
		}
		out = append(out, l.Segments[i])
		next = max(next, x.ID+1)
	}
	return out
}

func (s *state) addReaders(logs map[int64]*model.Log) {
	s.each(kindWoodpeckerReader, func(f *fact) {
		l := logs[f.ids[0]]
		if l == nil {
			return
		}
		m := f.value.(*legacypb.ReaderTempInfo)
		l.Readers = append(l.Readers, model.LogReader{
			Name:     f.names[0],
			Read:     model.LogPosition{Segment: m.GetRecentReadSegmentId(), Entry: m.GetRecentReadEntryId()},
			OpenedAt: model.MillisTime(int64(m.GetOpenTimestamp())),
			ReadAt:   model.MillisTime(int64(m.GetRecentReadTimestamp())),
		})
	})
	for _, l := range logs {
		slices.SortFunc(l.Readers, func(a, b model.LogReader) int { return cmp.Compare(a.Name, b.Name) })
	}
}

func (s *state) addCleaning(logs map[int64]*model.Log) {
	s.each(kindWoodpeckerCleaning, func(f *fact) {
		l := logs[f.ids[0]]
		if l == nil {
			return
		}
		i, ok := slices.BinarySearchFunc(l.Segments, f.ids[1], func(x model.LogSegment, id int64) int {
			return cmp.Compare(x.ID, id)
		})
		if !ok {
			return
		}
		m, x := f.value.(*legacypb.SegmentCleanupStatus), &l.Segments[i]
		if m.GetState() == legacypb.SegmentCleanupState_CLEANUP_FAILED {
			x.CleaningFailed, x.CleaningError = true, redact.Text(m.GetErrorMessage())
		}
	})
}

func unixSeconds(n uint64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}

// queueKeys returns the keys of a topic, a subscription "topic/name" or a position "pchannel/stage/vchannel".
func (k *keyspace) queueKeys(resource, id string) []string {
	topic, rest, _ := strings.Cut(id, "/")
	log := "woodpecker/logs/" + topic
	switch stage, vchannel, _ := strings.Cut(rest, "/"); {
	case resource == "queue-topics":
		return []string{log, log + "/"}
	case resource == "queue-subscriptions":
		if l := k.parts.Woodpecker.Log(topic); l != nil {
			return []string{fmt.Sprintf("woodpecker/readers/%d/%s", l.ID, rest)}
		}
		return nil
	case stage == model.WALRecovered:
		return k.metaKeys("streamingnode-meta/wal/" + topic + "/consume-checkpoint")
	case vchannel != "":
		return k.metaKeys("datacoord-meta/channel-cp/" + vchannel)
	}
	return []string{log, log + "/segments/"}
}
