package meta

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// isTombstone reports whether value is RootCoord's mark of a dropped key (Milvus
// internal/metastore/kv/rootcoord/suffix_snapshot.go).
func isTombstone(value []byte) bool { return string(value) == "\xE2\x9B\xBC" }

// fact is one decoded key of a small kind. Facts are immutable; a new value is a new fact.
type fact struct {
	key   string // absolute
	kind  kindID
	ids   [maxIDs]int64
	names [maxNames]string
	mod   int64
	lease int64
	// version counts the writes of the key since revision created.
	version, created int64
	// value is a proto.Message, a *sessionRecord, a string, an int64 or a time.Time, depending on the kind's
	// encoding.
	value any
}

// state holds the decoded keys of a store. It can assemble a Cluster repeatedly. It is not safe for
// concurrent use.
type state struct {
	grammar      *grammar
	header       source.Header
	want         Want
	decompressor *decompressor
	// scope is nil unless Want.Collection restricts segments to some collections.
	scope map[model.CollectionID]bool

	facts       [kindCount]map[string]*fact // by absolute key; without those of collections
	collections map[model.CollectionID]*collectionFacts
	segments    *segmentStore
	history     map[string]*model.HistoryEntry
	undecoded   map[string][]*model.Undecoded
	tombstones  map[string]bool
	counts      [kindCount]int64 // keys of each kind; kindUnknown counts the unknown keys
	historyKeys int64
	// records is nil unless Want.Records is set.
	records *recordStore
	outside map[string]int64 // the keys outside the root that were read separately, and their revisions

	dirty  groupSet    // changed since parts was assembled; segments have their edits instead
	parts  model.Parts // the last assembled parts; clusters share the lists, so these are replaced, not changed
	legacy bool        // the last result of legacyLive: if true, keys of 2.1 are valid and not leftovers
}

func newState(h source.Header, want Want) (*state, error) {
	unzip, err := newDecompressor()
	if err != nil {
		return nil, err
	}
	s := emptyState(newGrammar(h), unzip)
	s.header, s.want = h, want
	if want.Records {
		if s.records, err = newRecordStore(s.grammar, unzip); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// emptyState returns the state of a store without keys.
func emptyState(g *grammar, unzip *decompressor) *state {
	return &state{
		grammar: g, decompressor: unzip,
		collections: make(map[model.CollectionID]*collectionFacts),
		segments:    newSegmentStore(),
		history:     make(map[string]*model.HistoryEntry),
		undecoded:   make(map[string][]*model.Undecoded),
		tombstones:  make(map[string]bool),
		dirty:       allGroups,
	}
}

// put adds one key. created means that it did not exist before.
func (s *state) put(kv source.KV, created bool) {
	if !created && len(s.undecoded) > 0 {
		s.forgetUndecoded(kv.Key)
	}
	k, err := s.grammar.parse(kv.Key)
	if created {
		s.count(&k, err, 1)
	}
	if s.records != nil {
		s.records.put(kv, &k, err)
	}
	switch {
	case err != nil:
		s.note(kv, err.Error())
	case k.history:
		s.putHistory(kv, &k)
	case s.isHot(k.kind):
		s.segments.put(s, kv, &k)
	default:
		s.putSmall(kv, &k)
	}
}

// remove removes a key.
func (s *state) remove(key []byte) {
	k, err := s.grammar.parse(key)
	s.count(&k, err, -1)
	s.forgetUndecoded(key)
	if s.records != nil {
		s.records.remove(key)
	}
	if err != nil {
		return // an unparsable key has no other data
	}
	delete(s.tombstones, string(key))
	switch {
	case k.history:
		delete(s.history, string(key))
		s.dirty |= groupHistory
	case s.isHot(k.kind):
		s.segments.remove(&k)
	default:
		s.forget(string(key), &k)
	}
}

func (s *state) count(k *keyParts, err error, n int64) {
	switch {
	case err != nil:
		s.counts[kindUnknown] += n
	case k.history:
		s.historyKeys += n
	default:
		s.counts[k.kind] += n
	}
}

func (s *state) isHot(k kindID) bool {
	switch k {
	case kindSegment, kindSegmentIndex, kindBinlog, kindStatslog, kindDeltalog, kindBM25Log, kindPredicateDeltalog:
		return true
	}
	return false
}

// note records a key that could not be decoded.
func (s *state) note(kv source.KV, reason string) {
	key := string(kv.Key)
	k, err := s.grammar.parse(kv.Key)
	s.undecoded[key] = append(s.undecoded[key], &model.Undecoded{
		Key: s.grammar.safeKey(&k, err, key), Reason: reason, Size: len(kv.Value),
	})
	s.dirty |= groupUndecoded
}

func (s *state) forgetUndecoded(key []byte) {
	if _, ok := s.undecoded[string(key)]; ok {
		delete(s.undecoded, string(key))
		s.dirty |= groupUndecoded
	}
}

// putSmall decodes a key of a kind with few keys.
func (s *state) putSmall(kv source.KV, k *keyParts) {
	key := string(kv.Key)
	kind := s.grammar.kinds[k.kind]
	if strings.HasPrefix(kind.pattern, "root-coord/") && isTombstone(kv.Value) {
		s.tombstones[key] = true
		s.forget(key, k)
		return
	}
	delete(s.tombstones, key)
	f, err := s.fact(kv, k)
	if err != nil {
		s.note(kv, err.Error())
		s.forget(key, k)
		return
	}
	s.dirty |= groupOf(k.kind)
	if c := collectionKind(k.kind); c {
		s.collection(f.collectionID()).put(f)
		return
	}
	if s.facts[k.kind] == nil {
		s.facts[k.kind] = make(map[string]*fact)
	}
	s.facts[k.kind][key] = f
}

// fact decodes the value of such a key.
func (s *state) fact(kv source.KV, k *keyParts) (*fact, error) {
	value, err := s.decode(s.grammar.kinds[k.kind], kv)
	if err != nil {
		return nil, err
	}
	f := &fact{
		key: string(kv.Key), kind: k.kind, ids: k.ids, mod: kv.ModRevision, lease: kv.Lease, version: kv.Version,
		created: kv.CreateRevision, value: value,
	}
	for i := range k.names {
		f.names[i] = string(k.names[i])
	}
	if reason := contradiction(f); reason != "" {
		s.note(kv, reason)
	}
	return f, nil
}

// forget removes the fact of a key.
func (s *state) forget(key string, k *keyParts) {
	s.dirty |= groupOf(k.kind)
	if collectionKind(k.kind) {
		f := &fact{key: key, kind: k.kind, ids: k.ids}
		s.collection(f.collectionID()).remove(f)
		return
	}
	delete(s.facts[k.kind], key)
}

// decode decodes a value in the encoding of its kind. Unknown protobuf fields are noted, and the message is used
// anyway.
func (s *state) decode(kind *kind, kv source.KV) (any, error) {
	switch kind.enc {
	case encProto:
		return s.decodeMessage(kind, kv, kv.Value)
	case encZstdProto:
		raw, err := s.decompressor.value(kv.Value)
		if errors.Is(err, errTooLarge) {
			return nil, fmt.Errorf("%s: %w", messageName(kind.message()), err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: not zstd compressed", messageName(kind.message()))
		}
		return s.decodeMessage(kind, kv, raw)
	case encJSON:
		return s.decodeJSON(kind, kv)
	case encNumber:
		n, err := strconv.ParseInt(string(kv.Value), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: not a number", kind.name)
		}
		return n, nil
	case encTime:
		if len(kv.Value) != 8 {
			return nil, fmt.Errorf("%s: %d bytes where a time has 8", kind.name, len(kv.Value))
		}
		return timeOf(kv.Value), nil
	default:
		return string(kv.Value), nil
	}
}

// timeOf decodes a time of 8 bytes.
func timeOf(value []byte) time.Time { return time.Unix(0, int64(binary.BigEndian.Uint64(value))).UTC() }

func (s *state) decodeMessage(kind *kind, kv source.KV, raw []byte) (any, error) {
	m := kind.message()
	if len(raw) > maxMessage {
		return nil, fmt.Errorf("%s: %w", messageName(m), errTooLarge)
	}
	if err := proto.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("%s: not a valid protobuf message", messageName(m))
	}
	if unknown := unknownFields(m.ProtoReflect()); len(unknown) > 0 {
		s.note(kv, unknownReason(messageName(m), unknown))
	}
	return m, nil
}

// decodeJSON validates a JSON value. It returns nil for users, whose value holds the password hash. A session with
// a field of an unexpected type is noted, and its other fields are used.
func (s *state) decodeJSON(kind *kind, kv source.KV) (any, error) {
	safe, _, ok := redact.JSON(kv.Value)
	if !ok {
		return nil, fmt.Errorf("%s: not valid JSON", kind.name)
	}
	if kind.id != kindSession && kind.id != kindQueryNode21 {
		return nil, nil
	}
	r := new(sessionRecord)
	if err := json.Unmarshal(safe, r); err != nil {
		odd, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok || odd.Field == "" {
			return nil, fmt.Errorf("%s: JSON, but not an object", kind.name)
		}
		s.note(kv, fmt.Sprintf("%s: %s is a JSON %s", kind.name, odd.Field, odd.Value))
	}
	return r, nil
}

// messageName returns a message's short name, e.g. "SegmentInfo".
func messageName(m proto.Message) string { return string(m.ProtoReflect().Descriptor().Name()) }

// each calls visit for the facts of a kind, in undefined order.
func (s *state) each(k kindID, visit func(f *fact)) {
	for _, f := range s.facts[k] {
		visit(f)
	}
}
