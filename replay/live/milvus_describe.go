package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/engine/dist"
)

// asked makes one answer's two errors into one: that of the call and that of the status in it.
func asked[A interface{ GetStatus() *commonpb.Status }](ctx context.Context, m *milvus, answer A, err error) error {
	if err != nil {
		return callFault(ctx, err, m.addr.host, m.o)
	}
	return statusFault(answer.GetStatus(), m.addr.host)
}

// greet is the first call. Milvus knows Connect since 2.2.9 and wants the number it gives out with every call; an older one says
// its version among its metrics only.
func (m *milvus) greet(ctx context.Context, c *connection) error {
	answer, err := c.Connect(ctx, &milvuspb.ConnectRequest{ClientInfo: &commonpb.ClientInfo{SdkType: "kitescope", User: m.addr.user}})
	if err == nil {
		if err := statusFault(answer.GetStatus(), m.addr.host); err != nil {
			return err
		}
		m.pool.headers.Set("identifier", strconv.FormatInt(answer.GetIdentifier(), 10))
		m.version = answer.GetServerInfo().GetBuildTags()
		return nil
	}
	if status.Code(err) != codes.Unimplemented {
		err = callFault(ctx, err, m.addr.host, m.o)
		f, ok := errors.AsType[*FaultError](err)
		if ok && f.Kind == Unreachable && m.o.TLS != nil {
			return cmp.Or(m.pool.alert(ctx), err)
		}
		if ok && f.Kind == TimedOut {
			f.Advice = "check that a Milvus proxy listens at " + m.addr.host + ", and that it is healthy"
		}
		return err
	}
	metrics, err := c.GetMetrics(ctx, &milvuspb.GetMetricsRequest{Request: `{"metric_type":"system_info"}`})
	if err := asked(ctx, m, metrics, err); err != nil {
		if f, ok := errors.AsType[*FaultError](err); ok && f.Kind != Denied && f.Kind != Failed {
			return err
		}
		return ended(ctx) // who may search may not be allowed to see metrics
	}
	m.version = systemVersion(metrics.GetResponse())
	return nil
}

// systemVersion is the version of the first process that tells one (pkg/util/metricsinfo/metrics_info.go), "" if none does.
func systemVersion(metrics string) string {
	var system struct {
		Nodes []struct {
			Infos struct {
				System struct {
					Version string `json:"system_version"`
				} `json:"system_info"`
			} `json:"infos"`
		} `json:"nodes_info"`
	}
	if json.Unmarshal([]byte(metrics), &system) != nil {
		return ""
	}
	for _, n := range system.Nodes {
		if n.Infos.System.Version != "" {
			return clip(n.Infos.System.Version)
		}
	}
	return ""
}

// describe asks for all of a Description. What the user may not see but can search without is left unknown.
func (m *milvus) describe(ctx context.Context, c *connection) (Description, error) {
	d := Description{Kind: "milvus", Version: clip(m.version), Database: m.database, Collection: m.o.Collection, Rows: -1, IndexedRows: -1}
	answer, err := c.DescribeCollection(ctx, &milvuspb.DescribeCollectionRequest{DbName: m.database, CollectionName: m.o.Collection})
	if err := asked(ctx, m, answer, err); err != nil {
		return d, about("collection "+clip(m.o.Collection), m.suggest(ctx, c, err))
	}
	d.Collection = answer.GetSchema().GetName()
	if err := m.describeFields(&d, answer.GetSchema()); err != nil {
		return d, err
	}
	d.Consistency = strings.ToLower(m.o.Consistency)
	if d.Consistency == "" {
		d.Consistency = strings.ToLower(answer.GetConsistencyLevel().String())
	}
	if err := m.describeIndex(ctx, c, &d); err != nil {
		return d, err
	}
	rows, err := c.GetCollectionStatistics(ctx, &milvuspb.GetCollectionStatisticsRequest{DbName: m.database, CollectionName: m.o.Collection})
	if err := asked(ctx, m, rows, err); err == nil {
		if n, err := strconv.ParseInt(value(rows.GetStats(), "row_count"), 10, 64); err == nil && n >= 0 {
			d.Rows = n
		}
	} else if bad := grave(err); bad != nil {
		return d, bad
	}
	return d, m.loaded(ctx, c, d.Collection)
}

// grave is an error that ends a description: not that of a user who may not ask, or of a server that does not know.
func grave(err error) error {
	if f, ok := errors.AsType[*FaultError](err); ok && (f.Kind == Denied || f.Kind == Failed) {
		return nil
	}
	return err
}

func value(pairs []*commonpb.KeyValuePair, key string) string {
	for _, p := range pairs {
		if p.GetKey() == key {
			return p.GetValue()
		}
	}
	return ""
}

// elements are the types of fields that can be searched.
func element(t schemapb.DataType) (dist.Element, bool) {
	switch t {
	case schemapb.DataType_FloatVector:
		return dist.Float32, true
	case schemapb.DataType_Float16Vector:
		return dist.Float16, true
	case schemapb.DataType_BFloat16Vector:
		return dist.BFloat16, true
	case schemapb.DataType_Int8Vector:
		return dist.Int8, true
	case schemapb.DataType_BinaryVector:
		return dist.Bit, true
	case schemapb.DataType_SparseFloatVector:
		return dist.Sparse, true
	default:
		return 0, false
	}
}

func (m *milvus) describeFields(d *Description, schema *schemapb.CollectionSchema) error {
	var names []string
	for _, f := range schema.GetFields() {
		e, isVector := element(f.GetDataType())
		switch {
		case f.GetIsPrimaryKey():
			d.KeyField, d.TextKeys = f.GetName(), f.GetDataType() != schemapb.DataType_Int64
		case isVector && (m.o.Field == "" || m.o.Field == f.GetName()):
			names = append(names, f.GetName())
			d.Field, d.Element = f.GetName(), e
			d.Dim, _ = strconv.Atoi(value(f.GetTypeParams(), "dim"))
		case m.o.Field == f.GetName():
			return faultf(Mismatch, "choose a field of float, float16, bfloat16, int8, binary or sparse vectors",
				"field %s of %s has vectors that cannot be replayed: %s", f.GetName(), d.Collection, f.GetDataType())
		}
	}
	switch {
	case len(names) == 0 && m.o.Field != "":
		return faultf(NotFound, "check its name", "collection %s has no field %s", d.Collection, clip(m.o.Field))
	case len(names) == 0:
		return faultf(Mismatch, "name another collection", "collection %s has no vector field", d.Collection)
	case len(names) > 1:
		return faultf(Mismatch, "name one of them", "collection %s has several vector fields: %s", d.Collection, strings.Join(names, ", "))
	case d.KeyField == "" || d.Dim < 1 && d.Element != dist.Sparse:
		return faultf(Garbled, "", "the schema of collection %s has no primary key, or no dimensions", d.Collection)
	case m.o.KeyField != "" && m.o.KeyField != d.KeyField:
		return faultf(Mismatch, "omit it", "the primary key of %s is %s, not %s: Milvus returns only the primary key", d.Collection, d.KeyField, clip(m.o.KeyField))
	}
	return d.expected(m.o)
}

func (m *milvus) describeIndex(ctx context.Context, c *connection, d *Description) error {
	answer, err := c.DescribeIndex(ctx, &milvuspb.DescribeIndexRequest{DbName: m.database, CollectionName: m.o.Collection, FieldName: d.Field})
	missing := answer.GetStatus().GetCode() == codeNoIndex || olderCode(answer.GetStatus()) == commonpb.ErrorCode_IndexNotExist
	if err := asked(ctx, m, answer, err); err != nil && !missing && grave(err) != nil {
		return about("index of "+d.Collection, err)
	}
	for _, index := range answer.GetIndexDescriptions() {
		if index.GetFieldName() != d.Field {
			continue
		}
		d.IndexParams = map[string]string{}
		for _, p := range index.GetParams() {
			nest(d.IndexParams, p.GetKey(), p.GetValue())
		}
		d.Index, d.Metric = d.IndexParams["index_type"], strings.ToUpper(d.IndexParams["metric_type"])
		delete(d.IndexParams, "index_type")
		delete(d.IndexParams, "metric_type")
		// Milvus before 2.2 does not count.
		if index.GetTotalRows() > 0 || index.GetIndexedRows() > 0 {
			d.IndexedRows = index.GetIndexedRows()
		}
	}
	switch {
	case m.o.Metric == "" && d.Metric == "":
		return faultf(Mismatch, "name the metric", "field %s of %s has no index to take the metric from", d.Field, d.Collection)
	case m.o.Metric != "" && d.Metric != "" && d.Metric != m.o.Metric:
		return faultf(Mismatch, "omit the metric: the index has it", "the index of %s has metric %s, not %s", d.Collection, clip(d.Metric), clip(m.o.Metric))
	case d.Metric == "":
		d.Metric = m.o.Metric
	}
	if d.Metric == metricBM25 {
		// buildBM25IDF, internal/querynodev2/delegator/delegator_data.go
		return faultf(Mismatch, "replay it against its files", "field %s of %s has metric BM25: Milvus takes texts for that, the log has vectors", d.Field, d.Collection)
	}
	return nil
}

// metricBM25 ranks texts, of which Milvus itself makes sparse vectors.
const metricBM25 = "BM25"

// nest adds a parameter; Milvus has those of the index as JSON under "params" as well.
func nest(params map[string]string, key, text string) {
	var inner map[string]any
	if key != "params" || json.Unmarshal([]byte(text), &inner) != nil {
		params[clip(key)] = clip(text)
		return
	}
	for k, v := range inner {
		params[clip(k)] = clip(fmt.Sprint(v))
	}
}

// loaded reports whether the collection can be searched. ShowCollections tells it in all versions; GetLoadState came with 2.2.
func (m *milvus) loaded(ctx context.Context, c *connection, name string) error {
	answer, err := c.ShowCollections(ctx, &milvuspb.ShowCollectionsRequest{
		DbName: m.database, Type: milvuspb.ShowType_InMemory, CollectionNames: []string{name}, //nolint:staticcheck // SA1019: what replaces it is not in 2.1
	})
	if err := asked(ctx, m, answer, err); err != nil {
		if bad := grave(err); bad != nil {
			return about("collection "+name, bad)
		}
		return nil // the first search will tell
	}
	at := slices.Index(answer.GetCollectionNames(), name)
	percentages := answer.GetInMemoryPercentages() //nolint:staticcheck // SA1019: what replaces it is not in 2.1
	switch {
	case at < 0:
		return about("collection "+name, notLoaded())
	case at < len(percentages) && percentages[at] < 100:
		return faultf(NotLoaded, "wait until it is fully loaded", "collection %s is only %d%% loaded", name, percentages[at])
	}
	return nil
}

// suggest adds to an unknown collection which there are.
func (m *milvus) suggest(ctx context.Context, c *connection, err error) error {
	f, ok := errors.AsType[*FaultError](err)
	if !ok || f.Kind != NotFound {
		return err
	}
	answer, listErr := c.ShowCollections(ctx, &milvuspb.ShowCollectionsRequest{DbName: m.database})
	if asked(ctx, m, answer, listErr) != nil || len(answer.GetCollectionNames()) == 0 {
		return err
	}
	names := slices.Sorted(slices.Values(answer.GetCollectionNames()))
	more := ""
	if len(names) > 10 {
		names, more = names[:10], fmt.Sprintf(" and %d more", len(names)-10)
	}
	return &FaultError{NotFound, f.Reason, line("there are "+strings.Join(names, ", ")+more, longest)}
}
