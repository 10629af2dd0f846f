package meta

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// Decoder decodes single keys, like Load, for consumers of events rather than of a state. It is not safe for
// concurrent use.
type Decoder struct{ state *state }

// SegmentBrief holds the fields of a segment that events need.
type SegmentBrief struct {
	ID         model.SegmentID
	Collection model.CollectionID
	VChannel   string
	State      model.SegmentState
	Level      model.SegmentLevel
	Invisible  bool
	Rows       int64
	// CompactedFrom is valid until the next call.
	CompactedFrom []model.SegmentID
}

// IndexBrief holds the fields of a segment's index that events need.
type IndexBrief struct {
	Segment    model.SegmentID
	Build      model.BuildID
	Collection model.CollectionID
	Index      model.IndexID
	Node       model.NodeID
	State      model.IndexState
	FailReason string
}

// DecodedKey is the decoded content of a key.
type DecodedKey struct {
	// Kind is the name of the kind of key (KindInfo.Name). It is "history" for RootCoord's older values, and "" if
	// no pattern matches the key.
	Kind string
	// Key is the absolute key.
	Key string
	// Object is a pointer to the model's object for such a key, without data of other keys: *model.Session,
	// *model.VChannel for watches, checkpoints and removals, *model.PChannel, *model.LoadState, *GrantPart and so
	// on; *SegmentBrief and *IndexBrief. It is nil for kinds without events, and if Deleted or Problem explains it.
	// For deleted segments, indexes, checkpoints and watches it holds the data in the key.
	Object any
	// Collection is the collection whose record the key is part of, 0 if none.
	Collection model.CollectionID
	// Deleted means that the key has no value: it was deleted, or holds RootCoord's tombstone.
	Deleted bool
	// Problem is the reason why the value could not be decoded, or its unknown fields.
	Problem string
}

// GrantPart is one of the two kinds of keys that form a grant: a role and an object, or a privilege and its grantor.
// Keys with the same ID belong together.
type GrantPart struct {
	ID string
	model.Grant
}

// UserRole assigns a role to a user.
type UserRole struct{ User, Role string }

// NewDecoder returns a Decoder for the keys of a store.
func NewDecoder(h source.Header) (*Decoder, error) {
	s, err := newState(h, Want{Parts: model.PartAll})
	if err != nil {
		return nil, err
	}
	return &Decoder{state: s}, nil
}

// Decode decodes a key. deleted means that the key was deleted. Secrets are redacted, as in a Cluster.
func (d *Decoder) Decode(kv *source.KV, deleted bool) *DecodedKey {
	out := &DecodedKey{Key: string(kv.Key), Deleted: deleted}
	parts, err := d.state.grammar.parse([]byte(out.Key))
	k := &parts
	switch {
	case err != nil:
		out.Problem = err.Error()
		return out
	case k.history:
		out.Kind = "history"
		return out
	}
	kind := d.state.grammar.kinds[k.kind]
	out.Kind = kind.name
	switch k.kind {
	case kindSegment:
		d.putSegment(out, kv, k)
	case kindSegmentIndex:
		d.putIndex(out, kv, k)
	case kindChannelCheckpoint, kindChannelWatch:
		if !deleted {
			d.putSmall(out, kv, k)
			break
		}
		v := &model.VChannel{Name: k.name(), Shard: -1, Watcher: model.NodeID(k.ids[0])}
		v.PChannel, v.Collection = model.SplitVChannel(v.Name)
		out.Object = v
	case kindBinlog, kindDeltalog, kindStatslog, kindBM25Log, kindPredicateDeltalog, kindTarget, kindSessionID:
	default:
		out.Deleted = deleted || isTombstone(kv.Value) && strings.HasPrefix(kind.pattern, "root-coord/")
		if collectionKind(k.kind) {
			out.Collection = (&fact{kind: k.kind, ids: k.ids}).collectionID()
		}
		if !out.Deleted {
			d.putSmall(out, kv, k)
		}
	}
	return out
}

// putSegment decodes a segment's record.
func (d *Decoder) putSegment(out *DecodedKey, kv *source.KV, k *keyParts) {
	x := &SegmentBrief{ID: model.SegmentID(k.ids[2]), Collection: model.CollectionID(k.ids[0])}
	if !out.Deleted {
		v := &d.state.segments.value
		if _, err := readSegment(kv.Value, v); err != nil {
			out.Problem = "SegmentInfo: " + err.Error()
			return
		}
		x.VChannel = d.state.segments.intern(v.channel)
		x.State, x.Level, x.Invisible, x.Rows = v.s.State, v.s.Level, v.s.Invisible, v.s.Rows
		x.CompactedFrom = v.compacted
	}
	out.Object = x
}

// putIndex decodes the record of an index on a segment.
func (d *Decoder) putIndex(out *DecodedKey, kv *source.KV, k *keyParts) {
	var x model.SegmentIndex
	if !out.Deleted {
		if _, err := readSegmentIndex(kv.Value, &x); err != nil {
			out.Problem = "SegmentIndex: " + err.Error()
			return
		}
	}
	x.Collection, x.Segment, x.Build = model.CollectionID(k.ids[0]), model.SegmentID(k.ids[2]), model.BuildID(k.ids[3])
	out.Object = newIndexBrief(&x)
}

// newIndexBrief returns the fields of an index that events need.
func newIndexBrief(x *model.SegmentIndex) *IndexBrief {
	return &IndexBrief{
		Segment: x.Segment, Build: x.Build, Collection: x.Collection, Index: x.Index, Node: x.Node, State: x.State,
		FailReason: redact.Text(x.FailReason),
	}
}

// putSmall assembles a single key with the code that assembles a Cluster.
func (d *Decoder) putSmall(out *DecodedKey, kv *source.KV, k *keyParts) {
	s := d.state
	out.Object = nil
	f, err := s.fact(*kv, k)
	for _, list := range s.undecoded {
		out.Problem = list[0].Reason
	}
	clear(s.undecoded)
	if err != nil {
		out.Problem = err.Error()
		return
	}
	if collectionKind(k.kind) {
		out.Object = f.collectionObject()
		return
	}
	s.facts[k.kind] = map[string]*fact{f.key: f}
	out.Object = s.assembleSingle(f)
	s.facts[k.kind] = nil
}

// collectionObject returns the object of a single key of a collection.
func (f *fact) collectionObject() any {
	c := &collectionFacts{id: f.collectionID(), facts: map[string]*fact{f.key: f}}
	c.rebuild()
	switch f.kind {
	case kindCollection, kindCollection22:
		return c.built.collection
	case kindPartition:
		return firstOrNil(c.built.partitions)
	case kindIndex21:
		return firstOrNil(c.built.indexes)
	case kindFunction:
		return firstOrNil(c.functions(nil))
	}
	return firstOrNil(c.fields(nil)) // of a struct: the struct itself, which comes first
}

// assembleSingle assembles the only fact of the state.
func (s *state) assembleSingle(f *fact) any {
	s.legacy = s.grammar.kinds[f.kind].until == "2.1"
	switch f.kind {
	case kindSession:
		return firstOrNil(s.sessions())
	case kindDatabase:
		return firstOrNil(s.databases())
	case kindAlias, kindAlias22, kindAlias21:
		return alias(f)
	case kindFieldIndex:
		return firstOrNil(s.indexes())
	case kindSegmentIndex21, kindIndexMeta21:
		for _, list := range s.segmentIndexes21() {
			return newIndexBrief(&list[0])
		}
		return nil
	case kindChannelCheckpoint, kindChannelRemoval, kindChannelWatch, kindWALVChannel:
		v, _ := s.channels(nil)
		return firstOrNil(v)
	case kindWALCheckpoint, kindPChannel:
		_, p := s.channels(nil)
		return firstOrNil(p)
	case kindCollectionLoad, kindPartitionLoad, kindCollectionLoad21:
		return firstOrNil(s.loadStates())
	case kindReplica, kindReplica21:
		return firstOrNil(s.replicas())
	case kindResourceGroup:
		return firstOrNil(s.resourceGroups())
	case kindConfig:
		return firstOrNil(s.config())
	case kindAllocator:
		return firstOrNil(s.allocators())
	case kindImportJob, kindPreImportTask, kindImportTask, kindImportTask23, kindCompactionTask, kindAnalyzeTask,
		kindStatsTask, kindBroadcastTask, kindCopySegmentJob, kindCopySegmentTask, kindExportSnapshotJob,
		kindRefreshJob, kindRefreshTask:
		return firstOrNil(s.tasks())
	case kindSnapshot:
		return firstOrNil(s.snapshots())
	}
	return s.assembleAccess(f)
}

func (s *state) assembleAccess(f *fact) any {
	switch f.kind {
	case kindUser:
		users, _, _, _ := s.access()
		return firstOrNil(users)
	case kindRole:
		_, roles, _, _ := s.access()
		return firstOrNil(roles)
	case kindUserRole:
		return &UserRole{User: f.names[0], Role: f.names[1]}
	case kindGrantee:
		return &GrantPart{ID: f.value.(string), Grant: decodeGrantee(f)}
	case kindGrant:
		return &GrantPart{ID: f.names[0], Grant: model.Grant{Privilege: privilege(f), Grantor: f.value.(string)}}
	case kindPrivilegeGroup:
		_, _, _, groups := s.access()
		return firstOrNil(groups)
	}
	return nil
}

// firstOrNil returns the first element of a list. It returns an untyped nil if the list is empty.
func firstOrNil[T any](list []*T) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
