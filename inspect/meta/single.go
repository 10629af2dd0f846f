package meta

import (
	"bytes"
	"strings"
	"time"

	"github.com/milvus-io/milvus/pkg/v2/proto/datapb"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/secret"
)

// Decoder decodes keys one by one, as Load does, for who follows what happened and not what is. It is not safe for concurrent use.
type Decoder struct {
	state *state
	// known are keys that were parsed before; most are written again and again, but for those of segments.
	known     map[string]*knownKey
	segment   model.Segment
	index     model.SegmentIndex
	allocator model.Allocator
}

// knownKey is what came of parsing a key.
type knownKey struct {
	parts keyParts
	err   error
	// channel is nil until a checkpoint or a watch of a vchannel is decoded, and then what was said last.
	channel *model.VChannel
}

// knownKeys bounds how many are kept.
const knownKeys = 1 << 16

// Single is what one key says by itself.
type Single struct {
	// Kind is the name of the kind of key (KindInfo.Name); "history" for RootCoord's older values, "" where no pattern explains the key.
	Kind string
	// Object is a pointer to what the model has of such a key, without what other keys say of it: *model.Session, *model.Segment,
	// *model.SegmentIndex, *model.VChannel for what watches it, its checkpoint and its removal, *model.PChannel, *model.LoadState,
	// *GrantOf and so on. nil for kinds of which nothing happens that anybody would call an event, and where Gone or Problem say why.
	// Segments, their indexes, vchannels and allocators are valid until the next call. Of segments, indexes, checkpoints and watches
	// that are gone it has what the key says.
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
	return &Decoder{state: s, known: map[string]*knownKey{}}, nil
}

// parse parses a key, once; of the many keys of segments nothing is kept, and hot has what came of them.
func (d *Decoder) parse(key []byte, hot *knownKey) *knownKey {
	g := d.state.grammar
	if rel, ok := bytes.CutPrefix(key, g.meta); ok {
		if g.parseHot(rel, &hot.parts) {
			return hot
		}
	}
	known := d.known[string(key)]
	if known == nil {
		known = new(knownKey)
		known.parts, known.err = g.parse(bytes.Clone(key))
		if len(d.known) < knownKeys {
			d.known[string(key)] = known
		}
	}
	return known
}

// vchannel is the vchannel that a key names, of which nothing else is known.
func (k *knownKey) vchannel() *model.VChannel {
	if k.channel == nil {
		k.channel = &model.VChannel{Name: k.parts.name(), Shard: -1}
		k.channel.PChannel, k.channel.Collection = splitVChannel(k.channel.Name)
	}
	return k.channel
}

// Decode says what a key holds; deleted, that it holds nothing any more. Secrets are taken out, as in a Cluster.
func (d *Decoder) Decode(kv source.KV, deleted bool) Single {
	s := d.state
	var hot knownKey
	known := d.parse(kv.Key, &hot)
	k := &known.parts
	switch {
	case known.err != nil:
		return Single{Gone: deleted, Problem: known.err.Error()}
	case k.history:
		return Single{Kind: "history", Gone: deleted}
	}
	kind := s.grammar.kinds[k.kind]
	out := Single{Kind: kind.name, Gone: deleted || strings.HasPrefix(kind.pattern, "root-coord/") && isTombstone(kv.Value)}
	if collectionKind(k.kind) {
		out.Collection = (&fact{kind: k.kind, ids: k.ids}).collectionID()
	}
	switch k.kind {
	case kindSegment:
		d.putSegment(&out, kv, k)
	case kindSegmentIndex:
		d.putIndex(&out, kv, k)
	case kindChannelCheckpoint:
		d.putCheckpoint(&out, kv, known)
	case kindChannelWatch:
		d.putWatch(&out, kv, known)
	case kindAllocator:
		d.putAllocator(&out, kv, k)
	case kindBinlog, kindDeltalog, kindStatslog, kindBM25Log, kindPredicateDeltalog, kindTarget, kindSessionID:
	default:
		if !out.Gone {
			d.putSmall(&out, kv, k)
		}
	}
	return out
}

func (d *Decoder) putSegment(out *Single, kv source.KV, k *keyParts) {
	v := &d.state.segments.value
	v.reset()
	switch {
	case out.Gone:
	case len(kv.Value) > maxMessage:
		out.Problem = errTooLarge.Error()
		return
	case !fastSegment(kv.Value, v):
		if _, err := slowSegment(kv.Value, v); err != nil {
			out.Problem = "SegmentInfo: not a valid protobuf message"
			return
		}
	}
	d.segment = v.s
	d.segment.Collection, d.segment.Partition, d.segment.ID = model.CollectionID(k.ids[0]), model.PartitionID(k.ids[1]), model.SegmentID(k.ids[2])
	d.segment.VChannel = d.state.segments.intern(v.channel)
	if len(v.compacted) > 0 {
		d.segment.CompactedFrom = v.compacted
	}
	out.Object = &d.segment
}

func (d *Decoder) putIndex(out *Single, kv source.KV, k *keyParts) {
	x := &d.index
	*x = model.SegmentIndex{}
	switch {
	case out.Gone:
	case len(kv.Value) > maxMessage:
		out.Problem = errTooLarge.Error()
		return
	case !fastSegmentIndex(kv.Value, x):
		if _, err := slowSegmentIndex(kv.Value, x); err != nil {
			out.Problem = "SegmentIndex: not a valid protobuf message"
			return
		}
	}
	x.FailReason = secret.Text(x.FailReason)
	x.Collection, x.Partition = model.CollectionID(k.ids[0]), model.PartitionID(k.ids[1])
	x.Segment, x.Build = model.SegmentID(k.ids[2]), model.BuildID(k.ids[3])
	out.Object = x
}

// putCheckpoint reads the time alone, which is all that says how a checkpoint moves.
func (d *Decoder) putCheckpoint(out *Single, kv source.KV, k *knownKey) {
	v := k.vchannel()
	v.Checkpoint.At = 0
	out.Object = v
	if out.Gone {
		return
	}
	at, ok := fastPosition(kv.Value)
	if ok {
		v.Checkpoint.At = at
		return
	}
	d.putSmall(out, kv, &k.parts)
}

// putWatch reads the state and since when it is. In a livelock a watch is written hundreds of times a second, each time with the
// schema of the collection, so what is in it is left alone.
func (d *Decoder) putWatch(out *Single, kv source.KV, k *knownKey) {
	v := k.vchannel()
	v.Watched, v.Watcher, v.WatchState, v.WatchedAt = false, model.NodeID(k.parts.ids[0]), "", time.Time{}
	out.Object = v
	if out.Gone {
		return
	}
	state, started, ok := fastWatch(kv.Value)
	if !ok {
		d.putSmall(out, kv, &k.parts)
		return
	}
	v.Watched, v.WatchState, v.WatchedAt = true, state.String(), wallTimeSigned(started)
}

// fastWatch reads a datapb.ChannelWatchInfo; false leaves it to the generated message.
func fastWatch(b []byte) (state datapb.ChannelWatchState, started int64, ok bool) {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return 0, 0, false
		}
		b = rest
		switch f.tag() {
		case 2<<3 | varint:
			started = int64(f.value)
		case 3<<3 | varint:
			state = datapb.ChannelWatchState(int32(f.value))
		case 4<<3 | varint, 6<<3 | varint, 7<<3 | varint:
		case 1<<3 | lenDel, 5<<3 | lenDel, 8<<3 | lenDel: // the channel, the schema, properties of the database
			if !wellFormed(f.bytes) {
				return 0, 0, false
			}
		default:
			return 0, 0, false
		}
	}
	return state, started, true
}

func (d *Decoder) putAllocator(out *Single, kv source.KV, k *keyParts) {
	switch {
	case out.Gone:
	case len(kv.Value) != 8:
		d.putSmall(out, kv, k)
	default:
		d.allocator = model.Allocator{Name: d.state.segments.intern(k.names[0]), At: timeOf(kv.Value)}
		out.Object = &d.allocator
	}
}

// putSmall has a key that is alone in its store assembled as those of a Cluster are.
func (d *Decoder) putSmall(out *Single, kv source.KV, k *keyParts) {
	s := d.state
	out.Object = nil
	f, err := s.fact(kv, k)
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
			return &list[0]
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
	case kindImportJob, kindPreImportTask, kindImportTask, kindCompactionTask, kindAnalyzeTask, kindStatsTask, kindBroadcastTask:
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
