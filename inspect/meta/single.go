package meta

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// Decoder decodes keys one by one, as Load does, for who follows what happened and not what is. It is not safe for concurrent use.
type Decoder struct{ state *state }

// SegmentBrief is what of a segment matters to what happens to it.
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

// IndexBrief is what of an index on a segment matters to what happens to it.
type IndexBrief struct {
	Segment    model.SegmentID
	Build      model.BuildID
	Collection model.CollectionID
	Index      model.IndexID
	Node       model.NodeID
	State      model.IndexState
	FailReason string
}

// Single is what one key says by itself.
type Single struct {
	// Kind is the name of the kind of key (KindInfo.Name); "history" for RootCoord's older values, "" where no pattern explains the key.
	Kind string
	// Key is the key.
	Key string
	// Object is a pointer to what the model has of such a key, without what other keys say of it: *model.Session, *model.VChannel for
	// what watches it, its checkpoint and its removal, *model.PChannel, *model.LoadState, *GrantOf and so on; *SegmentBrief and
	// *IndexBrief. nil for kinds of which nothing happens that anybody would call an event, and where Gone or Problem say why.
	// Of segments, indexes, checkpoints and watches that are gone it has what the key says.
	Object any
	// Collection is the one that the key is part of the record of, 0 if none.
	Collection model.CollectionID
	// Gone says that there is nothing under the key: it was deleted, or holds RootCoord's mark of what was dropped.
	Gone bool
	// Problem is why the value could not be decoded, or what of it is unknown.
	Problem string
}

// GrantOf is one of the two kinds of keys that make grants: who may do something with what, or, with a Privilege, what that is.
// They belong together by ID.
type GrantOf struct {
	ID string
	model.Grant
}

// UserRole says that a user has a role.
type UserRole struct{ User, Role string }

// NewDecoder is a Decoder of the keys of one store.
func NewDecoder(h source.Header) (*Decoder, error) {
	s, err := newState(h, Want{Parts: model.PartAll})
	if err != nil {
		return nil, err
	}
	return &Decoder{state: s}, nil
}

// Decode decodes a key; deleted: there is nothing under it any more. Secrets are taken out, as in a Cluster.
func (d *Decoder) Decode(kv *source.KV, deleted bool) *Single {
	out := &Single{Key: string(kv.Key), Gone: deleted}
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
		v.PChannel, v.Collection = splitVChannel(v.Name)
		out.Object = v
	case kindBinlog, kindDeltalog, kindStatslog, kindBM25Log, kindPredicateDeltalog, kindTarget, kindSessionID:
	default:
		out.Gone = deleted || isTombstone(kv.Value) && strings.HasPrefix(kind.pattern, "root-coord/")
		if collectionKind(k.kind) {
			out.Collection = (&fact{kind: k.kind, ids: k.ids}).collectionID()
		}
		if !out.Gone {
			d.putSmall(out, kv, k)
		}
	}
	return out
}

// putSegment decodes a segment's record.
func (d *Decoder) putSegment(out *Single, kv *source.KV, k *keyParts) {
	x := &SegmentBrief{ID: model.SegmentID(k.ids[2]), Collection: model.CollectionID(k.ids[0])}
	if !out.Gone {
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
func (d *Decoder) putIndex(out *Single, kv *source.KV, k *keyParts) {
	var x model.SegmentIndex
	if !out.Gone {
		if _, err := readSegmentIndex(kv.Value, &x); err != nil {
			out.Problem = "SegmentIndex: " + err.Error()
			return
		}
	}
	x.Collection, x.Segment, x.Build = model.CollectionID(k.ids[0]), model.SegmentID(k.ids[2]), model.BuildID(k.ids[3])
	out.Object = newIndexBrief(&x)
}

// newIndexBrief returns what of an index matters to what happens to it.
func newIndexBrief(x *model.SegmentIndex) *IndexBrief {
	return &IndexBrief{
		Segment: x.Segment, Build: x.Build, Collection: x.Collection, Index: x.Index, Node: x.Node, State: x.State, FailReason: redact.Text(x.FailReason),
	}
}

// putSmall has a key that is alone in its store assembled as those of a Cluster are.
func (d *Decoder) putSmall(out *Single, kv *source.KV, k *keyParts) {
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
		out.Object = f.ofCollection()
		return
	}
	s.facts[k.kind] = map[string]*fact{f.key: f}
	out.Object = s.alone(f)
	s.facts[k.kind] = nil
}

// ofCollection is what one of the keys of a collection says.
func (f *fact) ofCollection() any {
	c := &collectionFacts{id: f.collectionID(), facts: map[string]*fact{f.key: f}}
	c.rebuild()
	switch f.kind {
	case kindCollection, kindCollection22:
		return c.built.collection
	case kindPartition:
		return only(c.built.partitions)
	case kindIndex21:
		return only(c.built.indexes)
	case kindFunction:
		return only(c.functions(nil))
	}
	return only(c.fields(nil)) // of a struct: the struct itself, which comes first
}

// alone assembles the only fact of the state.
func (s *state) alone(f *fact) any {
	s.legacy = s.grammar.kinds[f.kind].until == "2.1"
	switch f.kind {
	case kindSession:
		return only(s.sessions())
	case kindDatabase:
		return only(s.databases())
	case kindAlias, kindAlias22, kindAlias21:
		return alias(f)
	case kindFieldIndex:
		return only(s.indexes())
	case kindSegmentIndex21, kindIndexMeta21:
		for _, list := range s.segmentIndexes21() {
			return newIndexBrief(&list[0])
		}
		return nil
	case kindChannelCheckpoint, kindChannelRemoval, kindChannelWatch, kindWALVChannel:
		v, _ := s.channels(nil)
		return only(v)
	case kindWALCheckpoint, kindPChannel:
		_, p := s.channels(nil)
		return only(p)
	case kindCollectionLoad, kindPartitionLoad, kindCollectionLoad21:
		return only(s.loadStates())
	case kindReplica, kindReplica21:
		return only(s.replicas())
	case kindResourceGroup:
		return only(s.resourceGroups())
	case kindConfig:
		return only(s.config())
	case kindAllocator:
		return only(s.allocators())
	case kindImportJob, kindPreImportTask, kindImportTask, kindImportTask23, kindCompactionTask, kindAnalyzeTask, kindStatsTask, kindBroadcastTask,
		kindCopySegmentJob, kindCopySegmentTask, kindExportSnapshotJob, kindRefreshJob, kindRefreshTask:
		return only(s.tasks())
	case kindSnapshot:
		return only(s.snapshots())
	}
	return s.aloneAccess(f)
}

func (s *state) aloneAccess(f *fact) any {
	switch f.kind {
	case kindUser:
		users, _, _, _ := s.access()
		return only(users)
	case kindRole:
		_, roles, _, _ := s.access()
		return only(roles)
	case kindUserRole:
		return &UserRole{User: f.names[0], Role: f.names[1]}
	case kindGrantee:
		return &GrantOf{ID: f.value.(string), Grant: granted(f)}
	case kindGrant:
		return &GrantOf{ID: f.names[0], Grant: model.Grant{Privilege: privilege(f), Grantor: f.value.(string)}}
	case kindPrivilegeGroup:
		_, _, _, groups := s.access()
		return only(groups)
	}
	return nil
}

// only is the first of a list, and no typed nil where there is none.
func only[T any](list []*T) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}
