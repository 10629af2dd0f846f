package meta

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Decoder decodes keys one by one, as Load does, for who follows what happened and not what is. It is not safe for concurrent use.
type Decoder struct {
	state *state
	// known are keys that were parsed before; most are written again and again, but for those of segments.
	known map[string]*knownKey
	// recent are some of them, by the ends of the keys: most changes are of a few keys, and a map takes longer.
	recent [recentKeys]*knownKey
	// channels are the names of vchannels by their numbers, numbers the numbers.
	channels []string
	numbers  map[string]int32

	// What is said of the last key.
	hot       knownKey
	path      hotPath
	single    Single
	segment   SegmentBrief
	compacted []model.SegmentID
	index     IndexBrief
	allocator model.Allocator
}

// knownKey is what came of parsing a key.
type knownKey struct {
	key   string
	parts keyParts
	err   error
	// channel is nil until a checkpoint or a watch of a vchannel is decoded, and then what was said last; number is that of its name.
	channel *model.VChannel
	number  int32
	name    string // of an allocator, once it was decoded
}

// knownKeys bounds how many are kept.
const (
	knownKeys  = 1 << 16
	recentBits = 9
	recentKeys = 1 << recentBits
)

// recentSlot is the place of a key in recent.
func recentSlot(key []byte) uint64 {
	const golden = 0x9e3779b97f4a7c15 // Knuth's multiplier
	if len(key) < wordBytes {
		return 0
	}
	return binary.LittleEndian.Uint64(key[len(key)-wordBytes:]) * golden >> (64 - recentBits)
}

// Single is what one key says by itself.
type Single struct {
	// Kind is the name of the kind of key (KindInfo.Name); "history" for RootCoord's older values, "" where no pattern explains the key.
	Kind string
	// Number is that of the kind, below KindNumbers. Several layouts of one thing have a number each.
	Number int
	// Key is the key, "" of segments, their indexes and logs.
	Key string
	// VChannel is the number of the vchannel that a checkpoint or a watch is about (Decoder.VChannels), 0 of other kinds; At is the time
	// of a checkpoint, as its Object has it until the next call.
	VChannel int32
	At       model.TSO
	// Object is a pointer to what the model has of such a key, without what other keys say of it: *model.Session, *model.VChannel for
	// what watches it, its checkpoint and its removal, *model.PChannel, *model.LoadState, *GrantOf and so on; *SegmentBrief and
	// *IndexBrief. nil for kinds of which nothing happens that anybody would call an event, and where Gone or Problem say why.
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
	return &Decoder{state: s, known: map[string]*knownKey{}, channels: []string{""}, numbers: map[string]int32{"": 0}}, nil
}

// KindNumbers is how many numbers of kinds there are: those of the kinds, of keys that no pattern explains, and of RootCoord's history.
const (
	KindNumbers   = int(kindCount) + 1
	historyNumber = int(kindCount)
)

// VChannels are the names of vchannels by their numbers, "" of 0, so far: the list stays as it is, and a later one begins with it.
func (d *Decoder) VChannels() []string { return d.channels }

// number numbers a vchannel.
func (d *Decoder) number(name []byte) int32 {
	n, known := d.numbers[string(name)]
	if !known {
		n = int32(len(d.channels))
		text := string(name)
		d.channels = append(d.channels, text)
		d.numbers[text] = n
	}
	return n
}

// parse parses a key, once; of the many keys of segments nothing is kept, and hot has what came of them.
func (d *Decoder) parse(key []byte) *knownKey {
	g := d.state.grammar
	if n := len(g.meta); len(key) > n && string(key[:n]) == string(g.meta) {
		if h := g.hotOf(key[n:]); h != nil && d.path.parse(key[n+len(h.prefix):], h.ids, &d.hot.parts) {
			d.hot.parts.kind = h.kind
			return &d.hot
		}
	}
	recent := &d.recent[recentSlot(key)]
	if *recent != nil && (*recent).key == string(key) {
		return *recent
	}
	known := d.known[string(key)]
	if known == nil {
		known = &knownKey{key: string(key)}
		known.parts, known.err = g.parse([]byte(known.key))
		if len(d.known) < knownKeys {
			d.known[known.key] = known
		}
	}
	*recent = known
	return known
}

// vchannel is the vchannel that a key names, of which nothing else is known.
func (d *Decoder) vchannel(k *knownKey) *model.VChannel {
	if k.channel == nil {
		k.channel = &model.VChannel{Name: k.parts.name(), Shard: -1}
		k.channel.PChannel, k.channel.Collection = splitVChannel(k.channel.Name)
		k.number = d.number(k.parts.names[0])
	}
	return k.channel
}

// Decode says what a key holds; deleted, that it holds nothing any more. Secrets are taken out, as in a Cluster. What it returns is
// valid until the next call.
func (d *Decoder) Decode(kv *source.KV, deleted bool) *Single {
	known := d.parse(kv.Key)
	k := &known.parts
	out := &d.single
	*out = Single{Number: int(k.kind), Key: known.key, Gone: deleted}
	switch {
	case known.err != nil:
		out.Number, out.Problem = int(kindUnknown), known.err.Error()
		return out
	case k.history:
		out.Kind, out.Number = "history", historyNumber
		return out
	}
	kind := d.state.grammar.kinds[k.kind]
	out.Kind = kind.name
	switch k.kind {
	case kindSegment:
		d.putSegment(out, kv, k)
	case kindSegmentIndex:
		d.putIndex(out, kv, k)
	case kindChannelCheckpoint:
		d.putCheckpoint(out, kv, known)
	case kindChannelWatch:
		d.putWatch(out, kv, known)
	case kindAllocator:
		d.putAllocator(out, kv, known)
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

// putCheckpoint reads the time alone, which is all that says how a checkpoint moves.
func (d *Decoder) putCheckpoint(out *Single, kv *source.KV, k *knownKey) {
	v := d.vchannel(k)
	v.Checkpoint.At = 0
	out.Object, out.VChannel = v, k.number
	if out.Gone {
		return
	}
	at, ok := briefPosition(kv.Value)
	if ok {
		v.Checkpoint.At, out.At = at, at
		return
	}
	d.putSmall(out, kv, &k.parts)
	if v, ok := out.Object.(*model.VChannel); ok {
		out.At = v.Checkpoint.At
	}
}

// putWatch reads the state and since when it is. In a livelock a watch is written hundreds of times a second, each time with the
// schema of the collection, so what is in it is left alone.
func (d *Decoder) putWatch(out *Single, kv *source.KV, k *knownKey) {
	v := d.vchannel(k)
	v.Watched, v.Watcher, v.WatchState, v.WatchedAt = false, model.NodeID(k.parts.ids[0]), "", time.Time{}
	out.Object, out.VChannel = v, k.number
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

func (d *Decoder) putAllocator(out *Single, kv *source.KV, k *knownKey) {
	switch {
	case out.Gone:
	case len(kv.Value) != 8:
		d.putSmall(out, kv, &k.parts)
	default:
		if k.name == "" {
			k.name = k.parts.name()
		}
		d.allocator = model.Allocator{Name: k.name, At: timeOf(kv.Value)}
		out.Object = &d.allocator
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
	case kindImportJob, kindPreImportTask, kindImportTask, kindCompactionTask, kindAnalyzeTask, kindStatsTask, kindBroadcastTask,
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
