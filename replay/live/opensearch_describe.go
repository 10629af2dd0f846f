package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/dist"
)

// openSearchID is the key of every document.
const openSearchID = "_id"

// openSearchMapping is what a mapping says of a field, in the words of 2.11 to 3.x (k-NN plugin, KNNVectorFieldMapper).
type openSearchMapping struct {
	Type       string                       `json:"type"`
	Dimension  int                          `json:"dimension"`
	DataType   string                       `json:"data_type"`
	SpaceType  string                       `json:"space_type"`
	ModelID    string                       `json:"model_id"`
	Mode       string                       `json:"mode"`
	Level      string                       `json:"compression_level"`
	Method     *openSearchMethod            `json:"method"`
	Properties map[string]openSearchMapping `json:"properties"`
}

type openSearchMethod struct {
	Name       string         `json:"name"`
	Engine     string         `json:"engine"`
	SpaceType  string         `json:"space_type"`
	Parameters map[string]any `json:"parameters"`
}

// describe asks for the mapping, and how many documents have the field.
func (t *openSearch) describe(ctx context.Context) (Description, error) {
	d := Description{
		Kind: "opensearch", Version: "OpenSearch " + clip(t.version), Collection: t.o.Collection, Rows: -1, IndexedRows: -1,
		KeyField: cmp.Or(t.o.KeyField, openSearchID),
	}
	var indexes map[string]struct {
		Mappings openSearchMapping `json:"mappings"`
	}
	if err := t.reads.ask(ctx, http.MethodGet, "/"+url.PathEscape(t.o.Collection)+"/_mapping", nil, largestDescription, &indexes); err != nil {
		return d, about("index "+clip(t.o.Collection), err)
	}
	names := slices.Sorted(maps.Keys(indexes))
	if len(names) == 0 {
		return d, faultf(NotFound, "check the index's name", "index %s: not found", clip(t.o.Collection))
	}
	// Of an alias the indexes must be alike: one metric turns the scores of all of them into distances.
	for i, name := range names {
		mine := d
		if err := t.describeFields(&mine, indexes[name].Mappings.Properties); err != nil {
			return d, about("index "+clip(name), err)
		}
		if i > 0 && (mine.Field != d.Field || mine.Dim != d.Dim || mine.Element != d.Element || mine.Metric != d.Metric || mine.Index != d.Index || mine.TextKeys != d.TextKeys) {
			return d, faultf(Mismatch, "name one index", "the indexes of %s differ in their vectors: %s and %s", clip(t.o.Collection), clip(names[0]), clip(name))
		}
		d = mine
	}
	if err := d.expected(t.o); err != nil {
		return d, err
	}
	return d, t.count(ctx, &d)
}

// greet asks what the server is, and how many nodes it has if that may be asked.
func (t *openSearch) greet(ctx context.Context) error {
	var server struct {
		Version struct {
			Number, Distribution string
		}
	}
	if err := t.reads.ask(ctx, http.MethodGet, "/", nil, largestDescription, &server); err != nil {
		return err
	}
	t.version = server.Version.Number
	switch {
	case server.Version.Distribution == "opensearch":
	case server.Version.Distribution == "" && t.version != "":
		return faultf(Mismatch, "give the address of an OpenSearch", "%s is an Elasticsearch, whose k-NN search differs", t.addr.host)
	default:
		return t.reads.stranger()
	}
	t.widen = olderThan(t.version, 2, 16)
	var health struct {
		Nodes int `json:"number_of_nodes"`
	}
	if err := t.reads.ask(ctx, http.MethodGet, "/_cluster/health", nil, largestDescription, &health); err != nil {
		return grave(err) // who may search may not be allowed to see the cluster
	}
	t.nodes = health.Nodes
	return nil
}

// olderThan compares the first two numbers of a version; one that has none is not older.
func olderThan(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	first, err := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (first < major || first == major && second < minor)
}

// flatten lists fields by their paths.
func flatten(into map[string]openSearchMapping, prefix string, fields map[string]openSearchMapping) {
	for name, f := range fields {
		if into[prefix+name] = f; f.Type != "nested" { // whose hits are parents
			flatten(into, prefix+name+".", f.Properties)
		}
	}
}

func (t *openSearch) describeFields(d *Description, properties map[string]openSearchMapping) error {
	fields := map[string]openSearchMapping{}
	flatten(fields, "", properties)
	if err := t.describeKey(d, fields); err != nil {
		return err
	}
	var names []string
	for name, f := range fields {
		if f.Type == "knn_vector" && (t.o.Field == "" || t.o.Field == name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	f, known := fields[t.o.Field]
	switch {
	case len(names) == 0 && t.o.Field != "" && known:
		return faultf(Mismatch, "name a field of type knn_vector", "field %s has type %s", clip(t.o.Field), clip(cmp.Or(f.Type, "object")))
	case len(names) == 0 && t.o.Field != "":
		return faultf(NotFound, "check its name", "no field %s", clip(t.o.Field))
	case len(names) == 0:
		return fault(Mismatch, "no knn_vector field", "name another index")
	case len(names) > 1:
		return faultf(Mismatch, "name one of them", "several vector fields: %s", strings.Join(names, ", "))
	}
	d.Field = names[0]
	f = fields[d.Field]
	if err := t.describeVectors(d, &f); err != nil {
		return about("field "+clip(d.Field), err)
	}
	return nil
}

func (t *openSearch) describeKey(d *Description, fields map[string]openSearchMapping) error {
	if d.KeyField == openSearchID {
		d.TextKeys = !t.o.NumberKeys
		return nil
	}
	f, known := fields[d.KeyField]
	if !known {
		return faultf(NotFound, "check its name, or omit it for _id", "no key field %s", clip(d.KeyField))
	}
	switch f.Type {
	case "long", "integer", "short", "byte":
	case "keyword":
		d.TextKeys = true
	default:
		return faultf(Mismatch, "give a field of whole numbers or of type keyword, or omit it for _id", "key field %s has type %s", clip(d.KeyField), clip(cmp.Or(f.Type, "object")))
	}
	return nil
}

// describeVectors takes dims, elements and metric from the mapping.
func (t *openSearch) describeVectors(d *Description, f *openSearchMapping) error {
	if f.ModelID != "" {
		return fault(Mismatch, "its index is of a trained model, whose metric the mapping does not tell", "search a field whose mapping has a method")
	}
	method := openSearchMethod{Name: "hnsw"} // what the plugin makes without one
	if f.Method != nil {
		method = *f.Method
	}
	elements := map[string]dist.Element{"": dist.Float32, "float": dist.Float32, "byte": dist.Int8, "binary": dist.Bit}
	e, known := elements[strings.ToLower(f.DataType)]
	if !known || f.Dimension < 1 {
		return faultf(Mismatch, "search a field of float, byte or binary vectors", "it has vectors that cannot be replayed: %s of %d dims", clip(f.DataType), f.Dimension)
	}
	d.Element, d.Dim, d.Index = e, f.Dimension, clip(method.Name)
	space := cmp.Or(method.SpaceType, f.SpaceType, map[bool]string{false: "l2", true: "hamming"}[e == dist.Bit])
	metric, known := map[string]string{"l2": "L2", "innerproduct": "IP", "cosinesimil": "COSINE", "hamming": "HAMMING"}[strings.ToLower(space)]
	switch {
	case !known:
		return faultf(Mismatch, "l2, innerproduct, cosinesimil and hamming can be", "its space_type cannot be compared: %s", clip(space))
	case method.Engine == "nmslib", method.Engine == "" && metric == "COSINE":
		return faultf(Mismatch, "search a field of Lucene's engine or of faiss's", "the scores of engine %s cannot be turned into distances for sure", clip(cmp.Or(method.Engine, "(default)")))
	case t.o.Metric != "" && t.o.Metric != metric:
		return faultf(Mismatch, "replay with the index's metric", "its metric is %s, not %s", metric, clip(t.o.Metric))
	}
	d.Metric = metric
	d.IndexParams = map[string]string{}
	for name, value := range map[string]string{"engine": method.Engine, "mode": f.Mode, "compression_level": f.Level} {
		if value != "" {
			d.IndexParams[name] = clip(value)
		}
	}
	for name, value := range method.Parameters {
		if nested, ok := value.(map[string]any); ok { // an encoder: {"name": "sq", "parameters": {}}
			value = nested["name"]
		}
		d.IndexParams[clip(name)] = clip(fmt.Sprint(value))
	}
	return nil
}

// count asks how many documents there are.
func (t *openSearch) count(ctx context.Context, d *Description) error {
	var answer struct {
		Hits struct {
			Total *struct{ Value int64 }
		}
	}
	path := "/" + url.PathEscape(t.o.Collection) + "/_search?filter_path=hits.total"
	body := []byte(`{"size":0,"track_total_hits":true,"query":{"exists":{"field":` + string(appendJSONText(nil, d.Field)) + `}}}`)
	err := t.reads.ask(ctx, http.MethodPost, path, body, largestDescription, &answer)
	if f, ok := errors.AsType[*FaultError](err); ok && f.Kind == Failed {
		return nil // an exists query is no part of what is asked for
	}
	if err == nil && answer.Hits.Total != nil {
		d.Rows = answer.Hits.Total.Value
	}
	return err
}
