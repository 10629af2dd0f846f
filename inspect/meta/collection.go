package meta

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// collectionFacts holds the keys of a collection and the objects assembled from these keys. The objects are
// reused until a key changes.
type collectionFacts struct {
	id    model.CollectionID
	facts map[string]*fact
	dirty bool
	built builtCollection
}

// builtCollection holds the objects assembled from a collection's keys. collection is nil if only leftover keys
// exist.
type builtCollection struct {
	collection *model.Collection
	partitions []*model.Partition
	indexes    []*model.Index // of 2.1
	twoLayouts bool           // both the key of 2.1 or 2.2 and that of 2.2.9 exist
}

// collectionKind reports whether keys of the kind belong to a collection's own record.
func collectionKind(k kindID) bool {
	switch k {
	case kindCollection, kindCollection22, kindPartition, kindField, kindFunction, kindStructField, kindIndex21:
		return true
	}
	return false
}

// collectionID returns the collection in the key of a collectionKind.
func (f *fact) collectionID() model.CollectionID {
	if f.kind == kindCollection {
		return model.CollectionID(f.ids[1])
	}
	return model.CollectionID(f.ids[0])
}

func (s *state) collection(id model.CollectionID) *collectionFacts {
	c := s.collections[id]
	if c == nil {
		c = &collectionFacts{id: id, facts: make(map[string]*fact)}
		s.collections[id] = c
	}
	return c
}

func (c *collectionFacts) put(f *fact) {
	c.facts[f.key] = f
	c.dirty = true
}

func (c *collectionFacts) remove(f *fact) {
	delete(c.facts, f.key)
	c.dirty = true
}

// byKind returns the facts of a kind, sorted by second id and then by key.
func (c *collectionFacts) byKind(k kindID) []*fact {
	var list []*fact
	for _, f := range c.facts {
		if f.kind == k {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(a.ids[1], b.ids[1]), cmp.Compare(a.key, b.key))
	})
	return list
}

// assembleCollections reassembles the changed collections and returns the objects of all collections.
func (s *state) assembleCollections() (
	collections []*model.Collection, partitions []*model.Partition, indexes []*model.Index,
) {
	for _, id := range slices.Sorted(maps.Keys(s.collections)) {
		c := s.collections[id]
		if len(c.facts) == 0 {
			delete(s.collections, id)
			continue
		}
		if c.dirty {
			c.dirty = false
			c.rebuild()
		}
		if c.built.collection != nil {
			collections = append(collections, c.built.collection)
		}
		partitions = append(partitions, c.built.partitions...)
		if s.legacy {
			indexes = append(indexes, c.built.indexes...)
		}
	}
	return collections, partitions, indexes
}

// remains counts the leftover records of collections without a record of their own.
func (s *state) remains() (list []*model.Remains) {
	for _, id := range slices.Sorted(maps.Keys(s.collections)) {
		c := s.collections[id]
		if c.built.collection != nil || len(c.facts) == 0 {
			continue
		}
		x := &model.Remains{Collection: id}
		for _, f := range c.facts {
			switch f.kind {
			case kindField, kindStructField:
				x.Fields++
			case kindPartition:
				x.Partitions++
			case kindFunction:
				x.Functions++
			}
		}
		if x.Fields+x.Partitions+x.Functions > 0 {
			list = append(list, x)
		}
	}
	return list
}

// rebuild assembles the collection. Objects that are equal to the old ones keep their pointers.
func (c *collectionFacts) rebuild() {
	old := c.built
	c.built = builtCollection{}
	info := c.info()
	if info != nil {
		c.built.collection = c.assemble(info)
		if reflect.DeepEqual(c.built.collection, old.collection) {
			c.built.collection = old.collection
		}
	}
	c.built.partitions = share(old.partitions, c.partitions(info), func(p *model.Partition) model.PartitionID {
		return p.ID
	})
	c.built.indexes = share(old.indexes, c.indexes21(info), func(x *model.Index) string { return x.Key })
	c.built.twoLayouts = len(c.byKind(kindCollection)) > 0 && len(c.byKind(kindCollection22)) > 0
}

// info returns the collection's record of the newest layout. If several databases have one (an interrupted
// rename), it returns the record that was modified last.
func (c *collectionFacts) info() *fact {
	list := c.byKind(kindCollection)
	if len(list) == 0 {
		list = c.byKind(kindCollection22)
	}
	if len(list) == 0 {
		return nil
	}
	return slices.MaxFunc(list, func(a, b *fact) int {
		return cmp.Or(cmp.Compare(a.mod, b.mod), cmp.Compare(a.ids[0], b.ids[0]))
	})
}

func (c *collectionFacts) assemble(f *fact) *model.Collection {
	info := f.value.(*etcdpb.CollectionInfo)
	schema := info.GetSchema()
	x := &model.Collection{
		ID: c.id, Name: truncateName(schema.GetName()), Description: schema.GetDescription(),
		Shards: int(info.GetShardsNum()), ConsistencyLevel: info.GetConsistencyLevel().String(),
		AutoID:       schema.GetAutoID(), //nolint:staticcheck // releases up to 2.2 fill the deprecated field
		DynamicField: schema.GetEnableDynamicField(),
		CreatedAt:    model.TSO(info.GetCreateTime()),
		VChannels:    info.GetVirtualChannelNames(), PChannels: info.GetPhysicalChannelNames(),
		Properties: pairs(info.GetProperties()),
		UpdatedAt:  model.TSO(info.GetUpdateTimestamp()), SchemaVersion: schema.GetVersion(),
		Namespace:      schema.GetEnableNamespace(),
		ExternalSource: redact.Text(schema.GetExternalSource()), FileResources: schema.GetFileResourceIds(),
		Layout: c.layout(f), Key: f.key,
	}
	if f.kind == kindCollection {
		x.Database = model.DatabaseID(f.ids[0])
	}
	if x.Layout != "2.1" {
		x.State = objectState(info.GetState().String(), "Collection")
	}
	for _, shard := range info.GetShardInfos() {
		x.TruncatedAt = append(x.TruncatedAt, model.TSO(shard.GetLastTruncateTimeTick()))
	}
	x.Fields = c.fields(schema)
	x.Functions = c.functions(schema)
	for _, field := range x.Fields {
		x.AutoID = x.AutoID || field.PrimaryKey && field.AutoID
		x.DynamicField = x.DynamicField || field.Dynamic
	}
	x.DynamicUndeclared = !schema.GetEnableDynamicField() &&
		slices.ContainsFunc(x.Fields, func(f *model.Field) bool { return f.Dynamic && f.State == "Created" })
	if x.Shards == 0 {
		x.Shards = len(x.VChannels)
	}
	return x
}

// layout returns the layout of a collection's record: 2.2.9 has the database in the key, 2.2 stores fields under
// their own keys, and 2.1 has everything inline.
func (c *collectionFacts) layout(f *fact) string {
	switch {
	case f.kind == kindCollection:
		return "2.2.9"
	case len(f.value.(*etcdpb.CollectionInfo).GetSchema().GetFields()) > 0:
		return "2.1"
	}
	return "2.2"
}

// objectState strips the prefix of a state's name, e.g. "CollectionCreated" becomes "Created".
func objectState(name, prefix string) model.ObjectState {
	return model.ObjectState(strings.TrimPrefix(name, prefix))
}

// fields decodes the fields from their own keys, or from the collection's record if fields have no keys.
func (c *collectionFacts) fields(schema *schemapb.CollectionSchema) []*model.Field {
	var list []*model.Field
	for _, f := range c.byKind(kindField) {
		list = append(list, c.field(f.value.(*schemapb.FieldSchema), ""))
	}
	if len(list) == 0 {
		for _, f := range schema.GetFields() {
			list = append(list, c.field(f, ""))
		}
	}
	var structs []*schemapb.StructArrayFieldSchema
	for _, f := range c.byKind(kindStructField) {
		structs = append(structs, f.value.(*schemapb.StructArrayFieldSchema))
	}
	if len(structs) == 0 {
		structs = schema.GetStructArrayFields()
	}
	for _, st := range structs {
		list = append(list, &model.Field{
			ID: model.FieldID(st.GetFieldID()), Collection: c.id, Name: truncateName(st.GetName()),
			Description: st.GetDescription(),
			Type:        schemapb.DataType_ArrayOfStruct.String(), State: objectStateField(0),
			Params: pairs(st.GetTypeParams()), Nullable: st.GetNullable(),
		})
		for _, member := range st.GetFields() {
			list = append(list, c.field(member, truncateName(st.GetName())))
		}
	}
	slices.SortStableFunc(list, func(a, b *model.Field) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func objectStateField(state schemapb.FieldState) string {
	return strings.TrimPrefix(state.String(), "Field")
}

func (c *collectionFacts) field(f *schemapb.FieldSchema, structName string) *model.Field {
	x := &model.Field{
		ID: model.FieldID(f.GetFieldID()), Collection: c.id, Name: truncateName(f.GetName()),
		Description: f.GetDescription(),
		Type:        f.GetDataType().String(), State: objectStateField(f.GetState()),
		PrimaryKey: f.GetIsPrimaryKey(), AutoID: f.GetAutoID(), PartitionKey: f.GetIsPartitionKey(),
		Clustering: f.GetIsClusteringKey(), Dynamic: f.GetIsDynamic(), Nullable: f.GetNullable(),
		FuncOutput: f.GetIsFunctionOutput(),
		Default:    defaultValue(f.GetDefaultValue()),
		Params:     pairs(f.GetTypeParams()), IndexParams: pairs(f.GetIndexParams()), Struct: structName,
		External: truncateName(f.GetExternalField()),
	}
	if f.GetElementType() != schemapb.DataType_None {
		x.ElementType = f.GetElementType().String()
	}
	x.Dim, _ = strconv.ParseInt(pairValue(x.Params, "dim"), 10, 64)
	return x
}

// defaultValue formats a field's default value, "" if it has none.
func defaultValue(v *schemapb.ValueField) string {
	switch d := v.GetData().(type) {
	case *schemapb.ValueField_BoolData:
		return strconv.FormatBool(d.BoolData)
	case *schemapb.ValueField_IntData:
		return strconv.FormatInt(int64(d.IntData), 10)
	case *schemapb.ValueField_LongData:
		return strconv.FormatInt(d.LongData, 10)
	case *schemapb.ValueField_FloatData:
		return strconv.FormatFloat(float64(d.FloatData), 'g', -1, 32)
	case *schemapb.ValueField_DoubleData:
		return strconv.FormatFloat(d.DoubleData, 'g', -1, 64)
	case *schemapb.ValueField_StringData:
		return d.StringData
	case *schemapb.ValueField_BytesData:
		return string(d.BytesData)
	case *schemapb.ValueField_DateData:
		return strconv.FormatInt(int64(d.DateData), 10)
	case *schemapb.ValueField_TimeData:
		return strconv.FormatInt(d.TimeData, 10)
	case *schemapb.ValueField_TimestamptzData:
		return strconv.FormatInt(d.TimestamptzData, 10)
	}
	return ""
}

func (c *collectionFacts) functions(schema *schemapb.CollectionSchema) []*model.Function {
	list := schema.GetFunctions()
	if facts := c.byKind(kindFunction); len(facts) > 0 {
		list = nil
		for _, f := range facts {
			list = append(list, f.value.(*schemapb.FunctionSchema))
		}
	}
	var out []*model.Function
	for _, f := range list {
		out = append(out, &model.Function{
			ID: f.GetId(), Name: truncateName(f.GetName()), Type: f.GetType().String(), Description: f.GetDescription(),
			Inputs: f.GetInputFieldNames(), Outputs: f.GetOutputFieldNames(), Params: pairs(f.GetParams()),
		})
	}
	return out
}

// partitions decodes the partitions from their own keys, or from a record of 2.1 if partitions have no keys.
func (c *collectionFacts) partitions(record *fact) []*model.Partition {
	var list []*model.Partition
	for _, f := range c.byKind(kindPartition) {
		p := f.value.(*etcdpb.PartitionInfo)
		list = append(list, &model.Partition{
			ID: model.PartitionID(f.ids[1]), Collection: c.id, Name: truncateName(p.GetPartitionName()),
			State:     objectState(p.GetState().String(), "Partition"),
			CreatedAt: model.TSO(p.GetPartitionCreatedTimestamp()),
		})
	}
	if len(list) > 0 || record == nil {
		return list
	}
	info := record.value.(*etcdpb.CollectionInfo)
	for i, id := range info.GetPartitionIDs() {
		p := &model.Partition{ID: model.PartitionID(id), Collection: c.id}
		if names := info.GetPartitionNames(); i < len(names) {
			p.Name = truncateName(names[i])
		}
		if times := info.GetPartitionCreatedTimestamps(); i < len(times) {
			p.CreatedAt = model.TSO(times[i])
		}
		list = append(list, p)
	}
	return list
}
