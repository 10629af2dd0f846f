package meta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// layoutRule maps kinds of keys to the earliest version that writes them.
type layoutRule struct {
	text  string
	kinds []kindID
}

// layoutRules returns the rules, newest layout first. Keys outlive the version that wrote them, so only the newest
// kind of key determines the version. Targets are not used, because 2.3.13 writes them like 2.4 (milvus pull
// request 31449).
func layoutRules() []layoutRule {
	return []layoutRule{
		{
			"3.0 or newer",
			[]kindID{
				kindSnapshot, kindCopySegmentJob, kindCopySegmentTask, kindExportSnapshotJob, kindRefreshJob,
				kindRefreshTask, kindQueryView, kindWALQueryView, kindWALSalvage, kindPredicateDeltalog,
			},
		},
		{
			"2.6 or newer",
			[]kindID{
				kindStreamingVersion, kindControlChannel, kindPChannel, kindBroadcastTask, kindWALCheckpoint,
				kindWALVChannel, kindWALSegment, kindStructField,
			},
		},
		{"2.5 or newer", []kindID{kindStatsTask, kindBM25Log, kindFunction, kindPrivilegeGroup}},
		{
			"2.4 or newer",
			[]kindID{
				kindImportJob, kindPreImportTask, kindImportTask, kindCompactionTask, kindAnalyzeTask,
				kindPartitionStats, kindPartitionStatsVersion,
			},
		},
		{"2.2.9 or newer", []kindID{kindDatabase, kindCollection, kindAlias}},
		{"2.2.0 to 2.2.8", []kindID{kindField, kindPartition, kindFieldIndex, kindCollectionLoad, kindAlias22}},
		{"2.1", []kindID{kindCollection22, kindIndex21, kindIndexMeta21, kindCollectionLoad21}},
	}
}

// version determines Milvus's version: from the sessions if they have one (2.2 and later), otherwise from the
// layout of the keys.
func (s *state) version() model.Version {
	v := model.Version{Notes: s.versionNotes()}
	if versions := s.sessionVersions(); len(versions) > 0 {
		v.Text, v.From, v.Others = versions[0], "sessions", versions[1:]
		return v
	}
	v.Text = s.layoutVersion()
	if v.Text != "" {
		v.From = "key layout"
	}
	return v
}

// layoutVersion determines the version from keys alone. The timestamp allocator moved from kv/tso to kv/gid in
// 2.3, which distinguishes 2.2 from 2.3 (captured servers of both).
func (s *state) layoutVersion() string {
	if s.legacy {
		return "2.1"
	}
	for _, rule := range layoutRules() {
		for _, k := range rule.kinds {
			if s.counts[k] == 0 {
				continue
			}
			if rule.text == "2.2.9 or newer" {
				return version229(s.facts[kindAllocator])
			}
			return rule.text
		}
	}
	return ""
}

func version229(allocators map[string]*fact) string {
	text := "2.2.9 to 2.3"
	for _, f := range allocators {
		switch f.names[0] {
		case "gid/timestamp":
			text = "2.3"
		case "tso/timestamp":
			text = "2.2.9 or newer 2.2"
		}
	}
	return text
}

// sessionVersions returns the versions that sessions report, the most frequent first.
func (s *state) sessionVersions() []string {
	counts := make(map[string]int)
	s.each(kindSession, func(f *fact) {
		if v := f.value.(*sessionRecord).Version; v != "" {
			counts[strings.TrimPrefix(v, "v")]++
		}
	})
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), compareVersions(b, a), cmp.Compare(a, b))
	})
}

// compareVersions compares major and minor numbers.
func compareVersions(a, b string) int {
	aMajor, aMinor := majorMinor(a)
	bMajor, bMinor := majorMinor(b)
	return cmp.Or(cmp.Compare(aMajor, bMajor), cmp.Compare(aMinor, bMinor))
}

func majorMinor(v string) (major, minor int) {
	first, rest, _ := strings.Cut(v, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, _ = strconv.Atoi(first)
	minor, _ = strconv.Atoi(second)
	return major, minor
}

// legacyLive reports whether 2.1 runs on this metadata, so that its own records of indexes and loaded collections
// are valid. Sessions decide if there are any. Those of 2.1 have no version, and neither have those of the first
// 2.2, which however stores fields under their own keys. Without sessions the result is true if there are keys of
// 2.1 and no keys that 2.2 writes for any collection in use.
func (s *state) legacyLive() bool {
	if versions := s.sessionVersions(); len(versions) > 0 {
		return compareVersions(versions[0], "2.2") < 0
	}
	if len(s.facts[kindSession]) > 0 {
		return s.counts[kindField] == 0
	}
	newer := s.counts[kindField] + s.counts[kindFieldIndex] + s.counts[kindCollectionLoad] + s.counts[kindCollection]
	older := s.counts[kindCollection22] + s.counts[kindIndex21] + s.counts[kindIndexMeta21] +
		s.counts[kindCollectionLoad21]
	return newer == 0 && older > 0
}

// versionNotes lists the facts that contradict a store written by a single version.
func (s *state) versionNotes() []string {
	var notes []string
	note := func(n int64, format string, args ...any) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	indexes := s.counts[kindIndex21] + s.counts[kindSegmentIndex21] + s.counts[kindIndexMeta21]
	loads := s.counts[kindCollectionLoad21] + s.counts[kindReplica21] + s.counts[kindLoadedSegment21]
	newer := s.counts[kindBinlog] + s.counts[kindStatslog] + s.counts[kindDeltalog] + s.counts[kindFieldIndex] +
		s.counts[kindCollectionLoad] + s.counts[kindChannelCheckpoint] + s.counts[kindResourceGroup] +
		s.counts[kindDatabase]
	if s.legacy {
		note(newer,
			"%d keys of Milvus 2.2 or newer exist (binlog, channel-cp, db-info, ...): a newer version has run here, "+
				"2.1 does not read them", newer)
	} else {
		note(indexes, "%d index keys of Milvus 2.1 (root-coord/index, root-coord/segment-index, indexes) are "+
			"left over and no longer read", indexes)
		note(loads, "%d leftover load keys of Milvus 2.1 (queryCoord-*): collections loaded then are not loaded now",
			loads)
	}
	var both, old int64
	for _, c := range s.collections {
		if c.built.twoLayouts {
			both++
		}
		if c.built.collection != nil && c.built.collection.Layout != "2.2.9" {
			old++
		}
	}
	if s.counts[kindDatabase]+s.counts[kindCollection] > 0 && !s.legacy {
		note(old, "%d collections have the layout from before Milvus 2.2.9 (root-coord/collection)", old)
	}
	note(both, "%d collections are recorded in two layouts; the newer one is shown", both)
	return append(notes, s.segments.notes(s.legacy)...)
}

// notes lists such facts about segments. legacy means that 2.1 runs.
func (st *segmentStore) notes(legacy bool) []string {
	if len(st.layouts) == 0 && !legacy {
		return nil
	}
	var both, inline, keyed int
	for _, x := range st.list.all {
		_, hasInline := st.layouts[x.ID]
		switch {
		case x.TwoLayouts:
			both++
		case hasInline:
			inline++
		case len(x.Logs) > 0:
			keyed++
		}
	}
	var notes []string
	if both > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d segments have logs both inside their record and under separate keys; the former are used", both))
	}
	switch {
	case keyed > 0 && legacy:
		notes = append(notes, fmt.Sprintf(
			"%d segments have their logs only under separate keys: Milvus 2.1 sees no data in them", keyed))
	case keyed > 0 && inline > 0:
		notes = append(notes,
			fmt.Sprintf("%d segments have their logs inside their record (Milvus 2.1), %d under separate keys", inline,
				keyed))
	}
	return notes
}

// keyCounts counts all keys, tombstones, and keys by kind.
func (s *state) keyCounts() (all, tombstones int64, byKind map[string]int64) {
	byKind = make(map[string]int64)
	for id, n := range s.counts {
		if n == 0 {
			continue
		}
		all += n
		name := ""
		if k := s.grammar.kinds[id]; k != nil {
			name = k.name
		}
		byKind[name] += n
	}
	if s.historyKeys > 0 {
		byKind["history"] = s.historyKeys
		all += s.historyKeys
	}
	tombstones = int64(len(s.tombstones))
	for _, h := range s.history {
		if h.Tombstone {
			tombstones++
		}
	}
	return all, tombstones, byKind
}
