package meta

import (
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// putHistory decodes one older value of a RootCoord key. It keeps the names, because the history is the only place
// with the names of dropped objects.
func (s *state) putHistory(kv source.KV, k *keyParts) {
	kind := s.grammar.kinds[k.kind]
	relative := strings.TrimPrefix(string(kv.Key), string(s.grammar.meta))
	of := strings.TrimPrefix(relative, historyPrefix)
	h := &model.HistoryEntry{
		Key: relative, OriginalKey: of[:strings.LastIndex(of, historySep)], Kind: kind.name, At: k.at,
		Tombstone: isTombstone(kv.Value),
	}
	s.dirty |= groupHistory
	s.history[string(kv.Key)] = h
	if h.Tombstone {
		return
	}
	value, err := s.decode(kind, kv)
	if err != nil {
		s.note(kv, err.Error())
		delete(s.history, string(kv.Key))
		return
	}
	switch m := value.(type) {
	case *etcdpb.DatabaseInfo:
		h.ID, h.Name = m.GetId(), truncateName(m.GetName())
	case *etcdpb.CollectionInfo:
		h.ID, h.Name = m.GetID(), truncateName(m.GetSchema().GetName())
	case *etcdpb.PartitionInfo:
		h.ID, h.Name = m.GetPartitionID(), truncateName(m.GetPartitionName())
	case *etcdpb.AliasInfo:
		h.ID, h.Name = m.GetCollectionId(), truncateName(m.GetAliasName())
	case *schemapb.FieldSchema:
		h.ID, h.Name = m.GetFieldID(), truncateName(m.GetName())
	case *schemapb.FunctionSchema:
		h.ID, h.Name = m.GetId(), truncateName(m.GetName())
	}
}
