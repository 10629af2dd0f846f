package live

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/protobuf/proto"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// Guarantee timestamps with a meaning of their own (pymilvus client/constants.py; internal/proxy/util.go).
const (
	guaranteeStrong     = 0
	guaranteeEventually = 1
	guaranteeBounded    = 2
)

// search makes the message that pymilvus 2.1.3, 2.2.17 and 2.3.6 make (client/prepare.py, search_requests_with_expr), of which
// newer servers understand each field as they did.
func (m *milvus) search(r *load.Request) (*milvuspb.SearchRequest, error) {
	group, err := placeholders(r.Vectors)
	if err != nil {
		return nil, err
	}
	expr, err := m.expr(r)
	if err != nil {
		return nil, err
	}
	request := &milvuspb.SearchRequest{
		DbName:             m.database,
		CollectionName:     m.o.Collection,
		PartitionNames:     m.o.Partitions,
		Dsl:                expr,
		DslType:            commonpb.DslType_BoolExprV1,
		SearchInput:        &milvuspb.SearchRequest_PlaceholderGroup{PlaceholderGroup: group},
		Nq:                 int64(r.Vectors.Rows),
		GuaranteeTimestamp: guarantee(m.level),
		SearchParams: []*commonpb.KeyValuePair{
			{Key: "anns_field", Value: m.desc.Field},
			{Key: "topk", Value: strconv.Itoa(r.K)},
			{Key: "metric_type", Value: m.desc.Metric},
			{Key: "params", Value: m.params(r)},
			{Key: "round_decimal", Value: "-1"},
			{Key: "ignore_growing", Value: map[bool]string{false: "False", true: "True"}[m.o.IgnoreGrowing]},
		},
	}
	// Servers before 2.2.9 know neither of these, and go by the timestamp alone.
	if m.o.Consistency == "" {
		request.UseDefaultConsistency = true
	} else {
		request.ConsistencyLevel = m.level
	}
	return request, nil
}

// guarantee is the timestamp that stands for a level. A session that never wrote has seen all that it wrote.
func guarantee(level commonpb.ConsistencyLevel) uint64 {
	switch level {
	case commonpb.ConsistencyLevel_Strong:
		return guaranteeStrong
	case commonpb.ConsistencyLevel_Bounded:
		return guaranteeBounded
	case commonpb.ConsistencyLevel_Session, commonpb.ConsistencyLevel_Eventually, commonpb.ConsistencyLevel_Customized:
	}
	return guaranteeEventually
}

// placeholders are the vectors: rows of little-endian elements, as they lie in memory; sparse ones as pairs of a dimension and a value.
func placeholders(v *engine.Vectors) ([]byte, error) {
	value := &commonpb.PlaceholderValue{Tag: "$0", Values: make([][]byte, v.Rows)}
	switch v.Element {
	case dist.Float32:
		value.Type = commonpb.PlaceholderType_FloatVector
	case dist.Float16:
		value.Type = commonpb.PlaceholderType_Float16Vector
	case dist.BFloat16:
		value.Type = commonpb.PlaceholderType_BFloat16Vector
	case dist.Int8:
		value.Type = commonpb.PlaceholderType_Int8Vector
	case dist.Bit:
		value.Type = commonpb.PlaceholderType_BinaryVector
	case dist.Sparse:
		value.Type = commonpb.PlaceholderType_SparseFloatVector
	}
	for i := range v.Rows {
		value.Values[i] = v.Row(i)
	}
	group, err := proto.Marshal(&commonpb.PlaceholderGroup{Placeholders: []*commonpb.PlaceholderValue{value}})
	if err != nil {
		return nil, fault(Mismatch, "not sent: the vectors do not fit in one message", "")
	}
	return group, nil
}

// params are what the collection's index understands: ef means nothing to IVF, and Milvus 2.1 and 2.2 refuse what they do not know
// of some.
func (m *milvus) params(r *load.Request) string {
	params := map[string]any{}
	kind := strings.ToUpper(m.desc.Index)
	for f, x := range r.Given() {
		key := f.Key
		if kind == "DISKANN" && f.Of == engine.HasGraph {
			key = "search_list"
		}
		if indexHas(kind, f.Of) {
			params[key] = f.Number(x)
		}
	}
	text, err := json.Marshal(params)
	if err != nil {
		return "{}" // numbers by name do marshal
	}
	return string(text)
}

// indexHas reports whether indexes of a kind have a trait. The mean length of documents a server knows itself.
func indexHas(kind string, trait engine.Trait) bool {
	graph, lists := strings.Contains(kind, "HNSW"), strings.Contains(kind, "IVF")
	switch trait {
	case engine.HasGraph:
		return graph || kind == "DISKANN"
	case engine.HasLists:
		return lists || kind == "SCANN"
	case engine.HasSparse:
		return strings.HasPrefix(kind, "SPARSE")
	default:
		return false
	}
}

// expr is the filter in Milvus's language (internal/parser/planparserv2/Plan.g4), "" for none: as the log has it, or of keys.
func (m *milvus) expr(r *load.Request) (string, error) {
	if r.Keys == nil || len(r.Keys) == 0 && r.Exclude {
		return r.Expr, nil
	}
	var b strings.Builder
	b.WriteString(m.desc.KeyField)
	if r.Exclude {
		b.WriteString(" not")
	}
	b.WriteString(" in [")
	for i, k := range r.Keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if !k.IsText {
			b.WriteString(strconv.FormatInt(k.Number, 10))
			continue
		}
		quoted, err := quote(k.Text)
		if err != nil {
			return "", err
		}
		b.WriteString(quoted)
	}
	b.WriteByte(']')
	return b.String(), nil
}

// quote writes a key as a literal: in double quotes with Go's escapes, which Milvus 2.1.0 reads as 2.3 does (it knows no single
// quotes).
func quote(key string) (string, error) {
	if !utf8.ValidString(key) {
		return "", fault(Mismatch, "not sent: a filter key is not UTF-8", "")
	}
	return strconv.Quote(key), nil
}
