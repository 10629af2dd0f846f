package meta

import (
	"maps"
	"slices"

	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

func values[K comparable, T any](m map[K]*T) []*T { return slices.Collect(maps.Values(m)) }

func messageNameOf(v any) string {
	if m, ok := v.(proto.Message); ok {
		return messageName(m)
	}
	return ""
}

func (s *state) databases() []*model.Database {
	var list []*model.Database
	s.each(kindDatabase, func(f *fact) {
		m := f.value.(*etcdpb.DatabaseInfo)
		list = append(list, &model.Database{
			ID: model.DatabaseID(f.ids[0]), Name: truncateName(m.GetName()),
			State:     objectState(m.GetState().String(), "Database"),
			CreatedAt: wallTSO(m.GetCreatedTime()), Properties: pairs(m.GetProperties()),
			Tenant: truncateName(m.GetTenantId()),
		})
	})
	return list
}

// aliases returns each alias once, from its newest layout. An alias from before databases is in the default
// database.
func (s *state) aliases() []*model.Alias {
	type name struct {
		database model.DatabaseID
		alias    string
	}
	known := make(map[name]*model.Alias)
	for _, kind := range []kindID{kindAlias, kindAlias22, kindAlias21} {
		s.each(kind, func(f *fact) {
			x := alias(f)
			n := name{max(x.Database, 1), x.Name}
			if known[n] == nil {
				known[n] = x
			}
		})
	}
	return values(known)
}

func alias(f *fact) *model.Alias {
	if m, ok := f.value.(*etcdpb.CollectionInfo); ok { // 2.1: the alias is the schema's name
		return &model.Alias{
			Name: truncateName(f.names[0]), Collection: model.CollectionID(m.GetID()),
			CreatedAt: model.TSO(m.GetCreateTime()),
		}
	}
	m := f.value.(*etcdpb.AliasInfo)
	x := &model.Alias{
		Name: truncateName(f.names[0]), Collection: model.CollectionID(m.GetCollectionId()),
		State: objectState(m.GetState().String(), "Alias"), CreatedAt: model.TSO(m.GetCreatedTime()),
	}
	if f.kind == kindAlias {
		x.Database = model.DatabaseID(f.ids[0])
	}
	return x
}
