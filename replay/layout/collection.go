package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/engine/sparse"
	"kitescope/inspect/model"
	"kitescope/replay"
)

// setCollection sets the properties of the collection that a search needs.
func (b *builder) setCollection() error {
	x := b.collection
	if err := b.chooseField(); err != nil {
		return fmt.Errorf("collection %s: %w", x.Name, err)
	}
	element, ok := dataType(b.field.Type).Element()
	if !ok {
		return fmt.Errorf("collection %s: field %s has vectors of type %s; the engine cannot search them", x.Name,
			b.field.Name, b.field.Type)
	}
	dim := int(b.field.Dim)
	if element == dist.Sparse {
		dim = 0 // sparse vectors have no dimension
	} else if dim <= 0 || dim > maxDim {
		return fmt.Errorf("collection %s: field %s has %d dimensions, expected 1 to %d", x.Name, b.field.Name,
			b.field.Dim, maxDim)
	}
	b.l.Collection = replay.Collection{
		ID: int64(x.ID), Name: x.Name, Database: b.DatabaseName(x.Database), VectorField: b.field.Name, Dim: dim,
		Element: element,
	}
	schema := segment.Schema{Vector: int64(b.field.ID), Types: make(map[int64]binlog.Type, len(x.Fields))}
	for _, f := range x.Fields {
		schema.Types[int64(f.ID)] = dataType(f.Type)
		if f.PrimaryKey {
			schema.PrimaryKey, b.l.Collection.KeyField = int64(f.ID), f.Name
		}
	}
	if b.l.Collection.KeyField == "" {
		return fmt.Errorf("collection %s: no primary key among its fields", x.Name)
	}
	schema.Types[segment.RowIDField], schema.Types[segment.TimestampField] = binlog.Int64, binlog.Int64
	b.chooseIndex()
	metric, err := b.metric(element)
	if err != nil {
		return fmt.Errorf("collection %s: %w", x.Name, err)
	}
	schema.Metric = metric
	b.l.Collection.Metric, b.l.Collection.Schema = metric, schema
	b.l.Collection.Filter = b.filterSchema()
	if b.index != nil {
		b.l.Collection.Index = indexOf(b.index)
	}
	b.sparse()
	return nil
}

// maxDim is eight times Milvus's maximum (proxy.maxDimension, 32,768), which is the limit for binary vectors,
// because their dimensions are bits.
const maxDim = 8 * 32_768

// chooseField selects the requested vector field, or the only one.
func (b *builder) chooseField() error {
	var vectors []*model.Field
	var list []string
	for _, f := range b.collection.Fields {
		if !f.Vector() {
			continue
		}
		vectors = append(vectors, f)
		list = append(list, f.Name)
		if b.o.Field != "" && (f.Name == b.o.Field || f.ID.String() == b.o.Field) {
			b.field = f
		}
	}
	switch {
	case b.field != nil:
	case len(vectors) == 0:
		return errors.New("it has no vector field")
	case b.o.Field != "":
		return fmt.Errorf("no vector field %q; vector fields: %s", b.o.Field, strings.Join(list, ", "))
	case len(vectors) > 1:
		return fmt.Errorf("it has several vector fields (%s): name one", strings.Join(list, ", "))
	default:
		b.field = vectors[0]
	}
	return nil
}

// dataType returns the data type with a name in the metadata, or binlog.None if the engine does not support it.
func dataType(name string) binlog.Type {
	for _, t := range []binlog.Type{
		binlog.Bool, binlog.Int8, binlog.Int16, binlog.Int32, binlog.Int64, binlog.Float, binlog.Double, binlog.String,
		binlog.VarChar, binlog.Array, binlog.JSON, binlog.Geometry, binlog.Text, binlog.Timestamptz,
		binlog.BinaryVector, binlog.FloatVector, binlog.Float16Vector, binlog.BFloat16Vector,
		binlog.SparseFloatVector, binlog.Int8Vector, binlog.ArrayOfVector,
	} {
		if t.String() == name {
			return t
		}
	}
	return binlog.None
}

// chooseIndex selects the field's index. Milvus allows one index per vector field; if there are several, e.g. a
// leftover, the last in the list (the newest) is used.
func (b *builder) chooseIndex() {
	for _, x := range b.IndexesOf(b.collection.ID) {
		if x.Field == b.field.ID && !x.Deleted {
			b.index = x
		}
	}
}

// metric returns the metric of the index, of the field (2.1) or of the options, in this order of precedence. If
// all three are unset, it returns Milvus's default.
func (b *builder) metric(element dist.Element) (engine.Metric, error) {
	name, from := b.o.Metric, "the caller"
	for _, list := range [][]model.Pair{b.field.IndexParams, b.field.Params} {
		if v := param(list, "metric_type"); v != "" {
			name, from = v, "field "+b.field.Name
		}
	}
	if b.index != nil && b.index.Metric != "" {
		name, from = b.index.Metric, "index "+b.index.Name
	}
	if name == "" {
		name, from = defaultMetric(element, b.before(4)), "Milvus's default"
		b.note("no metric in the metadata (there is no index): assuming %s", name)
	}
	m, err := dist.ParseMetric(name)
	if err != nil {
		return 0, fmt.Errorf("metric %q of %s: %w", name, from, err)
	}
	return m, nil
}

// defaultMetric returns the default metric of Milvus's client: IP for sparse vectors, JACCARD for binary ones
// before 2.4 and HAMMING since 2.4, otherwise L2 (pkg/util/indexparamcheck, constraints.go:
// BinaryVectorDefaultMetricType).
func defaultMetric(element dist.Element, old bool) string {
	switch {
	case element == dist.Sparse:
		return "IP"
	case element != dist.Bit:
		return "L2"
	case old:
		return "JACCARD"
	}
	return "HAMMING"
}

func param(list []model.Pair, name string) string {
	for _, p := range list {
		if strings.EqualFold(p.Key, name) {
			return p.Value
		}
	}
	return ""
}

// indexOf returns the type and parameters of an index definition.
func indexOf(x *model.Index) replay.Index {
	number := func(name string) int {
		n, err := strconv.Atoi(cmp.Or(param(x.Params, name), param(x.UserParams, name)))
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	// Milvus 2.1 does not record indexes of type FLAT. In later versions a search cannot use an index without a
	// type.
	return replay.Index{Type: x.Type, M: number("M"), EFConstruction: number("efConstruction"), NList: number("nlist")}
}

// sparse sets the BM25 parameters from the index.
func (b *builder) sparse() {
	if b.l.Collection.Element != dist.Sparse || b.index == nil {
		return
	}
	said := func(name string) string { return cmp.Or(param(b.index.Params, name), param(b.index.UserParams, name)) }
	if b.l.Collection.Metric != dist.BM25 {
		return
	}
	p := sparse.DefaultBM25()
	for name, to := range map[string]*float32{"bm25_k1": &p.K1, "bm25_b": &p.B, "bm25_avgdl": &p.AvgDL} {
		if x, err := strconv.ParseFloat(said(name), 32); err == nil {
			*to = float32(x)
		}
	}
	b.l.Collection.BM25 = &p
}

// isBruteForce reports whether searches with an index type compare every row.
func isBruteForce(kind string) bool { return kind == "" || kind == "FLAT" || kind == "BIN_FLAT" }
