// Package layout makes of a cluster's metadata, and of what its nodes say, the replay.Layout of one collection: which node
// searches which segments, in which state, from which files.
//
// In: an inspect/model Cluster (live, or of any file that kitescope reads), a collection's name, options. Out: a Layout, with
// notes on what was not known and had to be taken from elsewhere. It is the one place that knows both sides: nothing in
// inspect knows replay, and nothing else in replay knows a cluster.
//
// The steps of Of: the collection and its vector field (find.go, collection.go), the query nodes and how they admit reads
// (nodes.go, knobs.go), replicas and shard leaders (replicas.go), the segments as nodes serve them (served.go) or, where no
// node said so, as the metadata has them (recorded.go, spread.go), their files (files.go), where storage is (storage.go).
// Locate finds under which path of an opened store the files lie.
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

// Parts are those of the metadata that a Layout needs. The cluster's records must have been kept as well
// (Cluster.Keyspace): the names of logs are in no other place.
const Parts = model.PartCatalog | model.PartChannels | model.PartSegments | model.PartLogs | model.PartSegmentIndexes | model.PartConfig | model.PartRest

// Options say which collection is laid out, and how.
type Options struct {
	// Collection is a name, "database.name", an alias or an id.
	Collection string
	// Field is the vector field's name or id; "" the only one.
	Field string
	// Version is the Milvus version in place of what the cluster says: "2.3", "2.3.5"; "" as it says.
	Version string
	// Metric is the metric where the metadata names none (2.1 without an index); "" is Milvus's default.
	Metric string
}

// Of lays out one collection. Errors: a collection or field that is not there or not the only one, a field that has no
// dense vectors, metadata that was not read. What is merely unknown is a note of the Layout.
func Of(c *model.Cluster, o Options) (*replay.Layout, error) {
	if need := model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments; !c.Loaded.Has(need) {
		return nil, errors.New("lay out a collection: objects, indexes, replicas or segments were not read from the metadata")
	}
	x, err := find(c, o)
	if err != nil {
		return nil, err
	}
	b := &builder{Cluster: c, o: o, collection: x, segments: make(map[model.SegmentID]*replay.Segment)}
	b.l = &replay.Layout{Source: c.Origin.Location, Taken: c.Origin.Taken, Version: cmp.Or(o.Version, c.Version.Text)}
	b.major, b.minor = release(b.l.Version)
	if err := b.facts(); err != nil {
		return nil, err
	}
	b.l.Storage, b.l.ChunkRows = b.storage(), b.chunkRows()
	b.replicas()
	b.nodes()
	b.place()
	b.unknownRows()
	b.files()
	for _, id := range slices.Sorted(maps.Keys(b.segments)) {
		b.l.Segments = append(b.l.Segments, *b.segments[id])
	}
	b.unflushed()
	return b.l, nil
}

// builder is a Layout under way.
type builder struct {
	*model.Cluster
	o            Options
	l            *replay.Layout
	collection   *model.Collection
	field        *model.Field // of vectors
	index        *model.Index // of the field; nil if none is defined
	major, minor int          // 0 unknown
	members      []*members   // of each replica of the layout
	segments     map[model.SegmentID]*replay.Segment
	levelZero    []*model.Segment
}

func (b *builder) note(format string, args ...any) {
	b.l.Notes = append(b.l.Notes, fmt.Sprintf(format, args...))
}

// before reports whether the cluster is known to be older than a release of Milvus 2.
func (b *builder) before(minor int) bool {
	return b.major == 1 || b.major == 2 && b.minor < minor
}

// release reads "2.3.5", "v2.3" or "2.2.9 to 2.3" up to the minor number; 0, 0 if it is none.
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

// place decides which segments are searched, in which state, on which node.
func (b *builder) place() {
	switch {
	case b.LoadState(b.collection.ID) == nil && len(b.Runtime.SealedOf(b.collection.ID)) == 0 && len(b.Runtime.ViewsOf(b.collection.ID)) == 0:
		b.note("%s is not loaded, no node serves it: laid out as if it were loaded now", b.collection.Name)
		b.recorded()
		b.spread()
	case b.someoneTold():
		b.served()
	default:
		b.recorded()
		if !b.assigned() {
			b.spread()
		}
	}
}

// unknownRows counts the segments whose rows nobody tells.
func (b *builder) unknownRows() {
	n := 0
	for _, s := range b.segments {
		if s.Rows < 0 {
			n++
		}
	}
	if n > 0 {
		b.note("row count unknown for %s: etcd has none for a growing segment until its first sync", words.Count(n, "segment", "segments"))
	}
}

// segment returns the segment of an id, made from its record if it is new; rec may be nil.
func (b *builder) segment(id model.SegmentID, rec *model.Segment, partition model.PartitionID, channel string) *replay.Segment {
	if s := b.segments[id]; s != nil {
		return s
	}
	s := &replay.Segment{ID: int64(id), Partition: int64(partition), Channel: channel, Rows: -1, On: make([]int64, len(b.l.Replicas))}
	if rec != nil {
		s.Partition, s.Channel = int64(rec.Partition), cmp.Or(channel, rec.VChannel)
	}
	s.PartitionName = b.PartitionName(model.PartitionID(s.Partition))
	b.segments[id] = s
	return s
}

// segmentOf is a segment of the collection as the metadata has it, nil if it has none. Another collection's is none.
func (b *builder) segmentOf(id model.SegmentID) *model.Segment {
	if s := b.Segment(id); s != nil && s.Collection == b.collection.ID {
		return s
	}
	return nil
}
