package meta

import (
	"context"
	"fmt"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Want selects the data to read.
type Want struct {
	// Parts are the parts of the metadata. Logs and segment indexes include segments, and segments include the
	// catalog.
	Parts model.Part
	// Collection restricts segments, their logs and their indexes to one collection: a name, "database.name", an
	// alias or an id. "" means all collections. A name that exists in several databases matches each collection
	// with that name.
	Collection string
	// Records retains every key that is read, for Cluster.Keyspace.
	Records bool
	// UnknownSettings retains the text of dynamic settings that are unknown to Milvus. The text may hold a secret.
	UnknownSettings bool
}

// complete adds the parts that the wanted parts depend on.
func (w Want) complete() Want {
	if w.Parts&(model.PartLogs|model.PartSegmentIndexes) != 0 {
		w.Parts |= model.PartSegments
	}
	if w.Parts&(model.PartSegments|model.PartCatalog) != 0 || w.Collection != "" {
		w.Parts |= model.PartCatalog // small, and its parts explain each other
	}
	return w
}

// UnknownCollectionError means that Want.Collection matches nothing.
type UnknownCollectionError struct {
	Name string
	// Known are the names of all collections and aliases, "database.name" outside of the default database.
	Known []string
}

func (e *UnknownCollectionError) Error() string { return fmt.Sprintf("no collection %q", e.Name) }

// Load reads the wanted parts of a snapshot. If the store can be read in pieces, Load reads the small ranges first
// and then the segments, cut at the collections found. A broken record is part of the result (Undecoded). Load
// returns an error only for a failed read, or *UnknownCollectionError.
func Load(ctx context.Context, snap source.Snapshot, want Want) (*model.Cluster, error) {
	s, _, err := load(ctx, snap, want)
	if err != nil {
		return nil, err
	}
	return s.build(nil, newSnapshotInfo(snap)), nil
}

// snapshotInfo is the part of a cluster that does not come from keys.
type snapshotInfo struct {
	revision int64
	taken    time.Time
	gaps     []model.Gap
	denied   []source.Range
	// recent describes the latest writes, nil if they were not counted.
	recent *model.EtcdActivity
}

func newSnapshotInfo(snap source.Snapshot) snapshotInfo {
	h := snapshotInfo{
		revision: snap.Header().Revision, taken: snap.Header().Taken, denied: deniedKeys(snap.Gaps()),
		recent: snap.Header().Recent,
	}
	for _, g := range snap.Gaps() {
		// Gaps without keys are places in a damaged file, except unrecorded times and the gaps of a recording in a
		// bundle.
		damage := g.Keys == (source.Range{}) && g.Where != source.RecordingGap && !g.Unrecorded
		h.gaps = append(h.gaps, model.Gap{Where: g.Where, Reason: g.Reason, Count: g.Count, Damage: damage})
	}
	return h
}

// load reads a snapshot into a state. It also returns the ranges that it read.
func load(ctx context.Context, snap source.Snapshot, want Want) (*state, rangeList, error) {
	if snap.Header().FileDate {
		want.Parts |= newestTimeParts
	}
	want = want.complete()
	s, err := newState(snap.Header(), want)
	if err != nil {
		return nil, nil, err
	}
	put := func(kv source.KV) error {
		s.put(kv, true)
		return nil
	}
	small, hot := splitRanges(snap.Header(), want.Parts)
	if !snap.Seekable() && want.Parts&outsideParts != 0 {
		small = append(source.OutsideRoot(), small...)
		small = small.sorted()
	}
	// For one collection a file is read twice, because skipping a key costs a tenth of decoding it.
	if !snap.Seekable() && want.Collection == "" {
		all := append(small, cutAll(hot, nil)...).sorted()
		if err := snap.Scan(ctx, all, put); err != nil {
			return nil, nil, err
		}
		return s, all, s.resolve()
	}
	if err := snap.Scan(ctx, small, put); err != nil {
		return nil, nil, err
	}
	if err := s.resolve(); err != nil {
		return nil, nil, err
	}
	var pieces rangeList
	if s.scope != nil {
		pieces = collectionRanges(hot, s.scope)
	} else {
		collections, partitions, _ := s.assembleCollections()
		pieces = cutAll(hot, cutPoints(snap.Header(), collections, partitions))
	}
	if err := snap.Scan(ctx, pieces, put); err != nil {
		return nil, nil, err
	}
	if snap.Seekable() && want.Parts&outsideParts != 0 && s.hasStreaming() {
		if err := s.readOutside(ctx, snap); err != nil {
			return nil, nil, err
		}
	}
	return s, append(small, pieces...).sorted(), nil
}
