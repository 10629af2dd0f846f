// Package layout derives the replay.Layout of a collection from a cluster's metadata and from the responses of its
// nodes: the segments that each node searches, their states and their files.
//
// The inputs are an inspect/model Cluster (live, or from any file that kitescope reads), the name of a collection,
// and options. The output is a Layout, with notes on unknown facts and their replacements. inspect does not depend
// on replay. In replay only this package and replay.ServerUsage depend on inspect.
//
// The steps of New: the collection and its vector field (find.go, collection.go), the query nodes (nodes.go), their
// settings (settings.go), replicas and shard leaders (replicas.go), the segments as nodes serve them (served.go) or,
// if no node reported any, as the metadata has them (recorded.go, spread.go), their files (files.go), and the
// location of storage (storage.go). Locate finds the path of the files in an opened store.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

// Parts are the parts of the metadata that New needs. It also needs the cluster's records (Cluster.Keyspace),
// because only they contain the names of logs.
const Parts = model.PartCatalog | model.PartChannels | model.PartSegments | model.PartLogs | model.PartSegmentIndexes |
	model.PartConfig | model.PartRest

// Options are the options of New.
type Options struct {
	// Collection is a name, "database.name", an alias or an id.
	Collection string
	// Field is the vector field's name or id; "" for the only one.
	Field string
	// Version overrides the cluster's Milvus version, e.g. "2.3" or "2.3.5".
	Version string
	// Metric is the metric if the metadata has none (2.1 without an index); "" for Milvus's default.
	Metric string
}

// New returns the layout of a collection. It returns an error if the collection or field does not exist or is
// ambiguous, if the engine cannot search the field's type of vectors, or if the metadata was not read. Facts that
// are merely unknown are notes of the Layout.
func New(c *model.Cluster, o Options) (*replay.Layout, error) {
	if need := model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments; !c.Loaded.Has(need) {
		return nil,
			errors.New("lay out a collection: objects, indexes, replicas or segments were not read from the metadata")
	}
	x, err := find(c, o)
	if err != nil {
		return nil, err
	}
	b := &builder{Cluster: c, o: o, collection: x, segments: make(map[model.SegmentID]*replay.Segment)}
	b.l = &replay.Layout{Source: c.Origin.Location, Taken: c.Origin.Taken, Version: cmp.Or(o.Version, c.Version.Text)}
	b.major, b.minor = release(b.l.Version)
	if err := b.setCollection(); err != nil {
		return nil, err
	}
	b.l.Storage, b.l.ChunkRows = b.storage(), b.chunkRows()
	b.replicas()
	b.nodes()
	b.place()
	b.noteUnknownRows()
	b.files()
	for _, id := range slices.Sorted(maps.Keys(b.segments)) {
		b.l.Segments = append(b.l.Segments, *b.segments[id])
	}
	b.noteUnflushed()
	return b.l, nil
}

// builder is the state of New.
type builder struct {
	*model.Cluster
	o            Options
	l            *replay.Layout
	collection   *model.Collection
	field        *model.Field // vector field
	index        *model.Index // index of the field; nil if none is defined
	major, minor int          // 0 unknown
	members      []*members   // by replica of the layout
	segments     map[model.SegmentID]*replay.Segment
	levelZero    []*model.Segment
}

func (b *builder) note(format string, args ...any) {
	b.l.Notes = append(b.l.Notes, fmt.Sprintf(format, args...))
}

// before reports whether the cluster is known to be older than a minor release of Milvus 2.
func (b *builder) before(minor int) bool {
	return b.major == 1 || b.major == 2 && b.minor < minor
}

// release parses the major and minor number of "2.3.5", "v2.3" or "2.2.9 to 2.3". It returns 0, 0 for other texts.
func release(text string) (major, minor int) {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "v"), " ")
	parts := strings.SplitN(first, ".", 3)
	if len(parts) < 2 {
		return 0, 0
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0
	}
	minor, err = strconv.Atoi(strings.TrimRightFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' }))
	if err != nil {
		return 0, 0
	}
	return major, minor
}

// place determines the segments to search, their states and their nodes.
func (b *builder) place() {
	switch {
	case b.LoadState(b.collection.ID) == nil && len(b.Runtime.SealedOf(b.collection.ID)) == 0 &&
		len(b.Runtime.ViewsOf(b.collection.ID)) == 0:
		b.note("%s is not loaded, no node serves it: laid out as if it were loaded now", b.collection.Name)
		b.addRecorded()
		b.placeByRule()
	case b.anyReported():
		b.addServed()
	default:
		b.addRecorded()
		if !b.placeRecorded() {
			b.placeByRule()
		}
	}
}

// noteUnknownRows adds a note on segments with an unknown number of rows.
func (b *builder) noteUnknownRows() {
	n := 0
	for _, s := range b.segments {
		if s.Rows < 0 {
			n++
		}
	}
	if n > 0 {
		b.note("row count unknown for %s: etcd has none for a growing segment until its first sync",
			words.Count(n, "segment", "segments"))
	}
}

// segment returns the segment of an id. It creates a new one from its record; rec may be nil.
func (b *builder) segment(
	id model.SegmentID, rec *model.Segment, partition model.PartitionID, channel string,
) *replay.Segment {
	if s := b.segments[id]; s != nil {
		return s
	}
	s := &replay.Segment{
		ID: int64(id), Partition: int64(partition), Channel: channel, Rows: -1, On: make([]int64, len(b.l.Replicas)),
	}
	if rec != nil {
		s.Partition, s.Channel = int64(rec.Partition), cmp.Or(channel, rec.VChannel)
	}
	s.PartitionName = b.PartitionName(model.PartitionID(s.Partition))
	b.segments[id] = s
	return s
}

// segmentOf returns the collection's segment in the metadata, nil if there is none or if it belongs to another
// collection.
func (b *builder) segmentOf(id model.SegmentID) *model.Segment {
	if s := b.Segment(id); s != nil && s.Collection == b.collection.ID {
		return s
	}
	return nil
}
