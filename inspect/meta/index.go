package meta

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
)

// indexes decodes the index definitions of 2.2 and later.
func (s *state) indexes() []*model.Index {
	var list []*model.Index
	s.each(kindFieldIndex, func(f *fact) {
		m := f.value.(*indexpb.FieldIndex)
		info := m.GetIndexInfo()
		x := &model.Index{
			ID: model.IndexID(f.ids[1]), Collection: model.CollectionID(f.ids[0]),
			Field: model.FieldID(info.GetFieldID()),
			Name:  truncateName(info.GetIndexName()), TypeParams: pairs(info.GetTypeParams()),
			UserParams: pairs(info.GetUserIndexParams()),
			Auto:       info.GetIsAutoIndex(), Deleted: m.GetDeleted(), CreatedAt: wallTime(m.GetCreateTime()),
			MinVersion: info.GetMinIndexVersion(), MaxVersion: info.GetMaxIndexVersion(),
			MinSchemaVersion: m.GetMinSchemaVersion(),
			Layout:           "2.2", Key: f.key,
		}
		splitParams(x, info.GetIndexParams())
		list = append(list, x)
	})
	return list
}

// splitParams extracts type and metric from the index parameters, and unfolds the JSON object in which 2.1 stores
// the other parameters.
func splitParams(x *model.Index, params []*commonpb.KeyValuePair) {
	for _, p := range pairs(params) {
		switch p.Key {
		case "index_type":
			x.Type = truncateName(p.Value)
		case "metric_type":
			x.Metric = truncateName(p.Value)
		case "params":
			x.Params = append(x.Params, unfold(p)...)
		default:
			x.Params = append(x.Params, p)
		}
	}
}

// unfold splits a JSON object into pairs, in its order. Any other value stays one pair.
func unfold(p model.Pair) []model.Pair {
	decoder := json.NewDecoder(bytes.NewReader([]byte(p.Value)))
	if t, err := decoder.Token(); err != nil || t != json.Delim('{') {
		return []model.Pair{p}
	}
	var list []model.Pair
	for decoder.More() {
		key, err := decoder.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || decoder.Decode(&value) != nil {
			return []model.Pair{p}
		}
		text := string(value)
		var plain string
		if json.Unmarshal(value, &plain) == nil {
			text = plain
		}
		list = append(list, model.Pair{Key: name, Value: text})
	}
	return list
}

// indexes21 decodes the index definitions of 2.1. The collection's record holds the field of each index.
func (c *collectionFacts) indexes21(record *fact) []*model.Index {
	var list []*model.Index
	for _, f := range c.byKind(kindIndex21) {
		m := f.value.(*etcdpb.IndexInfo)
		x := &model.Index{
			ID: model.IndexID(f.ids[1]), Collection: c.id, Name: truncateName(m.GetIndexName()),
			Deleted:    m.GetDeleted(),
			UserParams: pairs(m.GetIndexParams()), CreatedAt: wallTime(m.GetCreateTime()), Layout: "2.1", Key: f.key,
		}
		splitParams(x, m.GetIndexParams())
		if record != nil {
			for _, on := range record.value.(*etcdpb.CollectionInfo).GetFieldIndexes() {
				if on.GetIndexID() == f.ids[1] {
					x.Field = model.FieldID(on.GetFiledID())
				}
			}
		}
		if c.built.collection != nil {
			if field := c.built.collection.Field(x.Field); field != nil {
				x.TypeParams = field.Params
			}
		}
		list = append(list, x)
	}
	return list
}

// segmentIndexes21 decodes the index records of 2.1, by segment. RootCoord records which index was built on which
// segment, IndexCoord the state and result of the build.
func (s *state) segmentIndexes21() map[model.SegmentID][]model.SegmentIndex {
	builds := make(map[int64]*legacypb.IndexMeta)
	s.each(kindIndexMeta21, func(f *fact) { builds[f.ids[0]] = f.value.(*legacypb.IndexMeta) })
	bySegment := make(map[model.SegmentID][]model.SegmentIndex)
	used := make(map[int64]bool)
	s.each(kindSegmentIndex21, func(f *fact) {
		m := f.value.(*etcdpb.SegmentIndexInfo)
		x := model.SegmentIndex{
			Segment: model.SegmentID(f.ids[3]), Collection: model.CollectionID(f.ids[0]),
			Partition: model.PartitionID(f.ids[2]),
			Index:     model.IndexID(f.ids[1]), Build: model.BuildID(m.GetBuildID()),
			CreatedAt: wallTime(m.GetCreateTime()),
			State:     model.IndexUnissued, Legacy: true,
		}
		if build := builds[m.GetBuildID()]; build != nil {
			addBuild21(&x, build)
			used[m.GetBuildID()] = true
		}
		bySegment[x.Segment] = append(bySegment[x.Segment], x)
	})
	for id, build := range builds {
		if used[id] || build.GetReq().GetSegmentID() == 0 {
			continue
		}
		x := model.SegmentIndex{
			Segment: model.SegmentID(build.GetReq().GetSegmentID()), Index: model.IndexID(build.GetReq().GetIndexID()),
			Build:  model.BuildID(id),
			Legacy: true,
		}
		addBuild21(&x, build)
		bySegment[x.Segment] = append(bySegment[x.Segment], x)
	}
	for _, list := range bySegment {
		slices.SortFunc(list, compareSegmentIndex)
	}
	return bySegment
}

func addBuild21(x *model.SegmentIndex, build *legacypb.IndexMeta) {
	x.State = indexState(int32(build.GetState()))
	x.Deleted = build.GetMarkDeleted()
	x.FailReason = build.GetFailReason()
	x.Node = model.NodeID(build.GetNodeID())
	x.Version = build.GetVersion()
	x.Rows = build.GetReq().GetNumRows()
	x.Bytes = int64(build.GetSerializeSize())
	x.Files = int32(len(build.GetIndexFilePaths()))
}

func compareSegmentIndex(a, b model.SegmentIndex) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Build, b.Build))
}
