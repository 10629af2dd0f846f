package live

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// milvus is a Milvus collection, searched through one proxy.
type milvus struct {
	addr     *address
	o        *Options
	database string
	desc     Description
	level    commonpb.ConsistencyLevel
	budget   budget
}

// levels maps the names of consistency levels. Options.Consistency accepts all but customized.
func levels() map[string]commonpb.ConsistencyLevel {
	return map[string]commonpb.ConsistencyLevel{
		"strong": commonpb.ConsistencyLevel_Strong, "session": commonpb.ConsistencyLevel_Session,
		"bounded": commonpb.ConsistencyLevel_Bounded, "eventually": commonpb.ConsistencyLevel_Eventually,
		"customized": commonpb.ConsistencyLevel_Customized,
	}
}

func openMilvus(ctx context.Context, a *address, o *Options) (Target, error) {
	m := &milvus{addr: a, o: o}
	m.budget.limit = o.MaxRequests
	if err := o.name(a, ""); err != nil {
		return nil, err
	}
	var err error
	if m.database, err = databaseOf(a, o); err != nil {
		return nil, err
	}
	if _, known := levels()[strings.ToLower(o.Consistency)]; o.Consistency != "" &&
		(!known || strings.EqualFold(o.Consistency, "customized")) {
		return nil,
			faultf(Mismatch, "one of strong, bounded, session, eventually", "unknown consistency level: %s",
				clip(o.Consistency))
	}
	s, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if m.desc, err = s.describe(ctx); err != nil {
		return nil, err
	}
	m.level = levels()[m.desc.Consistency]
	return m, nil
}

// Name returns the address without credentials, and the collection.
func (m *milvus) Name() string {
	return m.addr.scheme + "://" + m.addr.host + "/" + strings.TrimPrefix(m.database+"/", "/") + m.desc.Collection
}

// Description implements Target.
func (m *milvus) Description() Description { return m.desc }

// Server implements Target. In a cluster each role is a process, and this is the proxy.
func (m *milvus) Server() Server {
	return Server{
		Network: "tcp", Address: m.addr.host, Commands: []string{"milvus"},
		SingleProcess: func(arguments []string) bool {
			return slices.Contains(arguments, "standalone") || slices.Contains(arguments, "embedded")
		},
	}
}

// Session opens a new connection.
func (m *milvus) Session(ctx context.Context) (load.Session, error) { return m.connect(ctx) }

// milvusSession is one HTTP/2 connection for one request at a time. grpc reconnects when it is lost.
type milvusSession struct {
	milvusReads
	m       *milvus
	conn    *grpc.ClientConn
	headers metadata.MD // sent with every call; they contain credentials
	answer  load.Answer
	hits    []load.Hit
}

// Close closes the connection.
func (s *milvusSession) Close() error { return s.conn.Close() }

// Ask searches. Milvus does not report the number of distances computed.
func (s *milvusSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if err := s.m.desc.fits(r); err != nil {
		return nil, err
	}
	request, err := s.m.search(r)
	if err != nil {
		return nil, err
	}
	if err := s.m.budget.take(); err != nil {
		return nil, err
	}
	// While the connection is lost, the next request waits for a new one until its deadline. If it failed
	// immediately, a closed loop would only count failures as fast as it can.
	results, err := s.Search(ctx, request, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(s.m.desc.maxAnswerSize(r)))
	if err != nil {
		return nil, callFault(ctx, err, s.m.addr.host, s.m.o)
	}
	if err := statusFault(results.GetStatus(), s.m.addr.host); err != nil {
		return nil, err
	}
	if err := s.read(results, r); err != nil {
		return nil, err
	}
	return &s.answer, nil
}

// maxAnswerSize returns the maximum size of an answer, in bytes. A numeric key and its score take 14 bytes, and servers
// add a little to each. A text key may be as long as a varchar.
func (d *Description) maxAnswerSize(r *load.Request) int {
	hit := int64(64)
	if d.TextKeys {
		hit += maxKey
	}
	return int(min(maxAnswer, 1<<20+hit*int64(r.Vectors.Rows)*int64(min(r.K, maxAnswer))))
}

// read decodes the hits of an answer. In all versions, scores are squared distances for L2 and similarities for IP
// and COSINE (internal/proxy/task_search.go negates the scores of nodes).
func (s *milvusSession) read(results *milvuspb.SearchResults, r *load.Request) error {
	data := results.GetResults()
	s.answer = load.Answer{Hits: s.answer.Hits[:0]}
	s.hits = s.hits[:0]
	scores, topks := data.GetScores(), data.GetTopks()
	numbers, texts := data.GetIds().GetIntId().GetData(), data.GetIds().GetStrId().GetData()
	found := len(numbers) + len(texts)
	if found == 0 && len(scores) == 0 {
		for range r.Vectors.Rows {
			s.answer.Hits = append(s.answer.Hits, nil)
		}
		return nil // no row passed the filter
	}
	switch {
	case len(topks) != r.Vectors.Rows, len(scores) != found, len(numbers) > 0 && len(texts) > 0:
		return fault(Garbled, "inconsistent response: numbers of vectors, ids and scores differ", "")
	case len(texts) > 0 != s.m.desc.TextKeys:
		return fault(Garbled, "the keys in the response and the collection differ in type", "")
	}
	for i := range found {
		key := engine.Key{IsText: s.m.desc.TextKeys}
		if key.IsText {
			key.Text = texts[i]
		} else {
			key.Number = numbers[i]
		}
		s.hits = append(s.hits, load.Hit{Key: key, Distance: scores[i]})
	}
	rest := s.hits
	for _, n := range topks {
		if n < 0 || n > int64(len(rest)) || n > int64(r.K) {
			return fault(Garbled, "inconsistent response: more hits than it declares, or than requested", "")
		}
		s.answer.Hits = append(s.answer.Hits, rest[:n:n])
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return fault(Garbled, "inconsistent response: fewer hits than it declares", "")
	}
	return nil
}

// Guarantee timestamps with a special meaning (pymilvus client/constants.py; internal/proxy/util.go).
const (
	guaranteeStrong     = 0
	guaranteeEventually = 1
	guaranteeBounded    = 2
)

// search builds the message that pymilvus 2.1.3, 2.2.17 and 2.3.6 build (client/prepare.py,
// search_requests_with_expr). Later servers interpret each field in the same way.
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
	// Servers before 2.2.9 ignore these fields and use only the timestamp.
	if m.o.Consistency == "" {
		request.UseDefaultConsistency = true
	} else {
		request.ConsistencyLevel = m.level
	}
	return request, nil
}

// guarantee returns the timestamp that represents a level. A session that never wrote has seen all its writes.
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

// placeholders encodes the vectors: rows of little-endian elements, as in memory; sparse rows as pairs of a
// dimension and a value.
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

// params encodes the search parameters that the collection's index supports. For example, ef has no meaning for IVF,
// and Milvus 2.1 and 2.2 reject some unknown parameters.
func (m *milvus) params(r *load.Request) string {
	params := map[string]any{}
	kind := strings.ToUpper(m.desc.Index)
	for f, x := range r.Given() {
		key := f.Key
		if kind == "DISKANN" && f.Trait == engine.HasGraph {
			key = "search_list"
		}
		if indexHas(kind, f.Trait) {
			params[key] = f.Number(x)
		}
	}
	text, err := json.Marshal(params)
	if err != nil {
		return "{}" // numbers by name always marshal
	}
	return string(text)
}

// indexHas reports whether indexes of a kind have a trait. It excludes the mean document length, which servers
// compute.
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

// expr returns the filter in Milvus's language (internal/parser/planparserv2/Plan.g4): the filter of the log, or a
// filter of keys. It returns "" without a filter.
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

// quote writes a key as a literal in double quotes with Go's escapes. Milvus 2.1.0 and 2.3 read them alike (2.1.0
// does not support single quotes).
func quote(key string) (string, error) {
	if !utf8.ValidString(key) {
		return "", fault(Mismatch, "not sent: a filter key is not UTF-8", "")
	}
	return strconv.Quote(key), nil
}

// callError merges the two errors of an answer: the error of the call and the error in its status.
func callError[A interface{ GetStatus() *commonpb.Status }](ctx context.Context, m *milvus, answer A, err error) error {
	if err != nil {
		return callFault(ctx, err, m.addr.host, m.o)
	}
	return statusFault(answer.GetStatus(), m.addr.host)
}

// handshake makes the first call. Milvus has Connect since 2.2.9, and expects the returned identifier with every call.
func (s *milvusSession) handshake(ctx context.Context) error {
	host, o := s.m.addr.host, s.m.o
	answer, err := s.Connect(ctx,
		&milvuspb.ConnectRequest{ClientInfo: &commonpb.ClientInfo{SdkType: "kitescope", User: s.m.addr.user}})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil
	case err == nil:
		s.headers.Set("identifier", strconv.FormatInt(answer.GetIdentifier(), 10))
		return statusFault(answer.GetStatus(), host)
	}
	err = callFault(ctx, err, host, o)
	f, ok := errors.AsType[*FaultError](err)
	if ok && f.Kind == Unreachable && o.TLS != nil {
		return cmp.Or(s.m.alert(ctx), err)
	}
	if ok && f.Kind == TimedOut {
		f.Advice = "check that a Milvus proxy listens at " + host + ", and that it is healthy"
	}
	return err
}

// describe reads the whole Description. Properties that the user may not read but that searches do not need remain
// unknown.
func (s *milvusSession) describe(ctx context.Context) (Description, error) {
	m := s.m
	d := Description{Kind: "milvus", Database: m.database, Collection: m.o.Collection}
	answer, err := s.DescribeCollection(ctx, &milvuspb.DescribeCollectionRequest{
		DbName: m.database, CollectionName: m.o.Collection,
	})
	if err := callError(ctx, m, answer, err); err != nil {
		return d, withContext("collection "+clip(m.o.Collection), s.suggest(ctx, err))
	}
	d.Collection = answer.GetSchema().GetName()
	if err := m.describeFields(&d, answer.GetSchema()); err != nil {
		return d, err
	}
	d.Consistency = strings.ToLower(m.o.Consistency)
	if d.Consistency == "" {
		d.Consistency = strings.ToLower(answer.GetConsistencyLevel().String())
	}
	if err := s.describeIndex(ctx, &d); err != nil {
		return d, err
	}
	return d, s.loaded(ctx, d.Collection)
}

// ignoreDenied returns nil for errors that do not end a description: missing privileges, or a call that the server
// rejects.
func ignoreDenied(err error) error {
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

// element returns the element type of a vector field, and whether the field can be searched.
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
		return faultf(Mismatch, "name one of them", "collection %s has several vector fields: %s", d.Collection,
			strings.Join(names, ", "))
	case d.KeyField == "" || d.Dim < 1 && d.Element != dist.Sparse:
		return faultf(Garbled, "", "the schema of collection %s has no primary key, or no dimensions", d.Collection)
	case m.o.KeyField != "" && m.o.KeyField != d.KeyField:
		return faultf(Mismatch, "omit it", "the primary key of %s is %s, not %s: Milvus returns only the primary key",
			d.Collection, d.KeyField, clip(m.o.KeyField))
	}
	return d.checkVectors(m.o)
}

func (s *milvusSession) describeIndex(ctx context.Context, d *Description) error {
	m := s.m
	answer, err := s.DescribeIndex(ctx, &milvuspb.DescribeIndexRequest{
		DbName: m.database, CollectionName: m.o.Collection, FieldName: d.Field,
	})
	missing := answer.GetStatus().GetCode() == 700 || olderCode(answer.GetStatus()) == commonpb.ErrorCode_IndexNotExist
	if err := callError(ctx, m, answer, err); err != nil && !missing && ignoreDenied(err) != nil {
		return withContext("index of "+d.Collection, err)
	}
	for _, index := range answer.GetIndexDescriptions() {
		if index.GetFieldName() != d.Field {
			continue
		}
		d.Index, d.Metric = clip(value(index.GetParams(), "index_type")),
			strings.ToUpper(clip(value(index.GetParams(), "metric_type")))
	}
	switch {
	case m.o.Metric == "" && d.Metric == "":
		return faultf(Mismatch, "name the metric", "field %s of %s has no index to take the metric from", d.Field,
			d.Collection)
	case m.o.Metric != "" && d.Metric != "" && d.Metric != m.o.Metric:
		return faultf(Mismatch, "omit the metric: the index has it", "the index of %s has metric %s, not %s",
			d.Collection, clip(d.Metric), clip(m.o.Metric))
	case d.Metric == "":
		d.Metric = m.o.Metric
	}
	if d.Metric == metricBM25 {
		// buildBM25IDF, internal/querynodev2/delegator/delegator_data.go
		return faultf(Mismatch, "replay it against its files",
			"field %s of %s has metric BM25: Milvus searches it by text, the log has vectors", d.Field, d.Collection)
	}
	return nil
}

// metricBM25 ranks texts. Milvus computes their sparse vectors itself.
const metricBM25 = "BM25"

// loaded returns an error if the collection cannot be searched. ShowCollections reports that in all versions;
// GetLoadState was added in 2.2.
func (s *milvusSession) loaded(ctx context.Context, name string) error {
	m := s.m
	answer, err := s.ShowCollections(ctx, &milvuspb.ShowCollectionsRequest{
		DbName: m.database, Type: milvuspb.ShowType_InMemory,
		CollectionNames: []string{name}, //nolint:staticcheck // SA1019: what replaces it is not in 2.1
	}, grpc.MaxCallRecvMsgSize(maxList))
	if err := callError(ctx, m, answer, err); err != nil {
		if bad := ignoreDenied(err); bad != nil {
			return withContext("collection "+name, bad)
		}
		return nil // the first search will report it
	}
	at := slices.Index(answer.GetCollectionNames(), name)
	percentages := answer.GetInMemoryPercentages() //nolint:staticcheck // SA1019: what replaces it is not in 2.1
	switch {
	case at < 0:
		return withContext("collection "+name, notLoaded())
	case at < len(percentages) && percentages[at] < 100:
		return faultf(NotLoaded, "wait until it is fully loaded", "collection %s is only %d%% loaded", name,
			percentages[at])
	}
	return nil
}

// suggest adds the names of existing collections to the error of an unknown one.
func (s *milvusSession) suggest(ctx context.Context, err error) error {
	m := s.m
	f, ok := errors.AsType[*FaultError](err)
	if !ok || f.Kind != NotFound {
		return err
	}
	answer, listErr := s.ShowCollections(ctx, &milvuspb.ShowCollectionsRequest{DbName: m.database},
		grpc.MaxCallRecvMsgSize(maxList))
	if callError(ctx, m, answer, listErr) != nil || len(answer.GetCollectionNames()) == 0 {
		return err
	}
	names := slices.Sorted(slices.Values(answer.GetCollectionNames()))
	more := ""
	if len(names) > 10 {
		names, more = names[:10], fmt.Sprintf(" and %d more", len(names)-10)
	}
	return &FaultError{NotFound, f.Reason, line("collections: "+strings.Join(names, ", ")+more, maxMessage)}
}

// milvusReads holds the calls of the Milvus client that this package can make. No call modifies anything except
// the proxy's list of clients (Connect). The client itself has a method for each write as well.
type milvusReads interface {
	Connect(context.Context, *milvuspb.ConnectRequest, ...grpc.CallOption) (*milvuspb.ConnectResponse, error)
	DescribeCollection(
		context.Context, *milvuspb.DescribeCollectionRequest, ...grpc.CallOption,
	) (*milvuspb.DescribeCollectionResponse, error)
	DescribeIndex(
		context.Context, *milvuspb.DescribeIndexRequest, ...grpc.CallOption,
	) (*milvuspb.DescribeIndexResponse, error)
	ShowCollections(
		context.Context, *milvuspb.ShowCollectionsRequest, ...grpc.CallOption,
	) (*milvuspb.ShowCollectionsResponse, error)
	Search(context.Context, *milvuspb.SearchRequest, ...grpc.CallOption) (*milvuspb.SearchResults, error)
}

const (
	// An answer has k ids and scores for each vector. Milvus allows 16,384 of each, but few requests need as many.
	// Descriptions are far smaller, but can take a hundred times their size once decoded: an empty message takes two
	// bytes.
	maxAnswer      = 256 << 20
	maxDescription = 1 << 20
	maxList        = 16 << 20 // names of collections
	maxCatalog     = 4 << 20  // of a table or index, with everything that a server sends with it
	maxKey         = 64 << 10
	maxHeader      = 64 << 10
)

// connect opens a connection and sends the credentials.
func (m *milvus) connect(ctx context.Context) (*milvusSession, error) {
	s := &milvusSession{m: m, headers: metadata.MD{}}
	// As in pymilvus, authorization is the token, or user:password, in base64 (client/grpc_handler.py of 2.1 to
	// 2.6).
	switch {
	case m.o.Token != "":
		s.headers.Set("authorization", base64.StdEncoding.EncodeToString([]byte(m.o.Token)))
	case m.addr.user != "":
		s.headers.Set("authorization", base64.StdEncoding.EncodeToString([]byte(m.addr.user+":"+m.addr.password)))
	}
	creds := insecure.NewCredentials()
	if m.o.TLS != nil {
		creds = credentials.NewTLS(m.tls())
	}
	conn, err := grpc.NewClient("passthrough:///"+url.PathEscape(m.addr.host),
		grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return m.o.Dial(ctx, "tcp", m.addr.host)
		}),
		grpc.WithUnaryInterceptor(s.send),
		// Ignore the environment: no proxy, no service config from DNS, no hidden retries.
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithUserAgent("kitescope"),
		// Reconnect soon, because otherwise a restart of the proxy costs more requests than its downtime. grpc's own
		// timeout of 20 s for a silent server must not end before our deadline.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second,
			},
			MinConnectTimeout: m.o.Deadline + time.Second,
		}),
		grpc.WithMaxHeaderListSize(maxHeader),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxDescription), grpc.MaxCallSendMsgSize(maxAnswer)),
	)
	if err != nil {
		return nil, faultf(Mismatch, "check the address", "%s is not a server address", m.addr.host)
	}
	s.conn, s.milvusReads = conn, milvuspb.NewMilvusServiceClient(conn)
	if err := s.handshake(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// tls returns Options.TLS for the host of the proxy.
func (m *milvus) tls() *tls.Config {
	config := m.o.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(m.addr.host)
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	return config
}

// alert connects once more to find the reason why a TLS connection was lost at its beginning; nil if the server does
// not send one. In TLS 1.3 a server checks the client's certificate after the client's handshake is done, and data
// that the client sends by then can discard the server's alert. alert therefore sends nothing.
func (m *milvus) alert(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.o.Deadline)
	defer cancel()
	raw, err := m.o.Dial(ctx, "tcp", m.addr.host)
	if err != nil {
		return nil // keep the first reason
	}
	config := m.tls()
	config.NextProtos = []string{"h2"}
	conn := tls.Client(raw, config)
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	if err = conn.HandshakeContext(ctx); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	if f := tlsFault(fmt.Sprint(err), m.addr.host); f != nil {
		return f
	}
	return nil
}

// send adds the headers and the deadline to every call.
func (s *milvusSession) send(
	ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, s.m.o.Deadline)
	defer cancel()
	if len(s.headers) > 0 {
		ctx = metadata.NewOutgoingContext(ctx, s.headers)
	}
	return invoke(ctx, method, in, out, conn, opts...)
}

// callFault returns the reason why a call to host has no answer. If the caller canceled ctx, it returns the error of
// ctx.
func callFault(ctx context.Context, err error, host string, o *Options) error {
	if err == nil {
		return nil
	}
	if gone := callerError(ctx); gone != nil {
		return gone
	}
	s := status.Convert(err)
	message := s.Message()
	switch s.Code() {
	case codes.DeadlineExceeded:
		// While there is no connection, grpc appends the last connection error to the deadline error.
		if _, why, waited := strings.Cut(message, "last connection error: "); waited {
			return connectionFault(why, host)
		}
		return timeoutFault(ctx, o.Deadline)
	case codes.Canceled:
		return fault(Failed, "the session was closed", "")
	case codes.Unimplemented:
		return faultf(Garbled, "give the port of a Milvus proxy, 19530 by default",
			"%s is not Milvus: it does not implement the call", host)
	case codes.Unauthenticated:
		return unauthenticated(host)
	case codes.PermissionDenied:
		return faultf(Denied, "grant the user the privileges to search and describe the collection",
			"permission denied by %s: %s", host, normalize(message))
	case codes.ResourceExhausted:
		if strings.Contains(message, "larger than max") {
			return fault(Garbled, "the response is larger than requested",
				"check that it is Milvus; lower k, or send fewer vectors per request")
		}
		return limited(normalize(message))
	case codes.Unavailable:
		return connectionFault(message, host)
	default:
	}
	if f := faultByMessage(message, host); f != nil {
		return f
	}
	if strings.Contains(message, "unexpected HTTP status code") || strings.Contains(message, "malformed header") ||
		strings.Contains(message, "unmarshal") {
		return garbled(host)
	}
	return faultf(Failed, "", "%s: %s", s.Code(), normalize(message))
}

// connectionFault returns the reason why there is no connection, based on grpc's message, because grpc does not wrap
// the cause.
func connectionFault(message, host string) *FaultError {
	if f := tlsFault(message, host); f != nil {
		return f
	}
	if f := dialFault(message, host); f != nil {
		return f
	}
	switch {
	case contains(message, "looked like an HTTP/1.1 header", "unexpected HTTP status code", "frame too large"):
		return garbled(host)
	case contains(message, "server preface"):
		return faultf(Garbled, "it may require TLS, or not be Milvus; the proxy's default port is 19530",
			"%s closes connections without a gRPC response", host)
	}
	return faultf(Unreachable, "check that the server is still running", "the connection to %s was lost", host)
}

func garbled(host string) *FaultError {
	return faultf(Garbled, "give the port of a Milvus proxy, 19530 by default (9091 is metrics)",
		"%s is not a gRPC server, so not Milvus", host)
}

func unauthenticated(host string) *FaultError {
	return faultf(Denied, "put user and password into the address, or give a token",
		"%s rejects the credentials, or requires some", host)
}

func limited(why string) *FaultError {
	return fault(Limited, "limited: "+why, "the server's quotaAndLimits settings limit it; use a lower rate")
}

// olderCode returns the only error code that Milvus before 2.3 reports.
//
//nolint:staticcheck // SA1019: older servers have no other
func olderCode(s *commonpb.Status) commonpb.ErrorCode { return s.GetErrorCode() }

// statusFault returns the error of the status in an answer; nil if it is a success.
func statusFault(s *commonpb.Status, host string) error {
	code, old := s.GetCode(), olderCode(s)
	if code == 0 && old == commonpb.ErrorCode_Success {
		return nil
	}
	reason := normalize(s.GetReason())
	switch code { // since Milvus 2.3 (pkg/util/merr/errors.go); before, only commonpb.ErrorCode
	case 4, 8, 9, 11: // too many requests, rate limit, quota, time tick delay
		return limited(reason)
	case 100, 200, 800: // collection, partition, database
		return notFound(reason)
	case 101, 103, 106, 201, 202: // not or partly loaded, recovering; partitions
		return notLoaded()
	case 1400, 1800:
		return unauthenticated(host)
	case 1401:
		return denied(reason, host)
	case 1, 2:
		return fault(Failed, "not ready: "+reason, "wait until the server is healthy")
	case 1100: // a parameter
		return fault(Mismatch, "refused: "+reason, "")
	}
	switch old {
	case commonpb.ErrorCode_RateLimit, commonpb.ErrorCode_ForceDeny, commonpb.ErrorCode_TimeTickLongDelay,
		commonpb.ErrorCode_MemoryQuotaExhausted, commonpb.ErrorCode_DiskQuotaExhausted:
		return limited(reason)
	case commonpb.ErrorCode_CollectionNotExists, commonpb.ErrorCode_CollectionNameNotFound:
		return notFound(reason)
	case commonpb.ErrorCode_PermissionDenied:
		return denied(reason, host)
	default:
	}
	if f := faultByMessage(s.GetReason(), host); f != nil {
		return f
	}
	return fault(Failed, "refused: "+reason, "")
}

// faultByMessage recognizes faults by their message: Milvus before 2.3 reports most faults as UnexpectedError, and
// interceptors report plain gRPC errors.
func faultByMessage(message, host string) *FaultError {
	lower := strings.ToLower(message)
	for _, known := range []struct {
		sign string
		made func() *FaultError
	}{
		{"auth check failure", func() *FaultError { return unauthenticated(host) }},
		{"unauthenticated", func() *FaultError { return unauthenticated(host) }},
		{"permission deny", func() *FaultError { return denied(normalize(message), host) }},
		{"permissiondenied", func() *FaultError { return denied(normalize(message), host) }},
		{"not loaded", notLoaded},
		{"not been loaded", notLoaded},
		{"not fully loaded", notLoaded},
		{"can't find collection", func() *FaultError { return notFound(normalize(message)) }},
		{"collection not found", func() *FaultError { return notFound(normalize(message)) }},
		{"database not found", func() *FaultError { return notFound(normalize(message)) }},
		{"rate limit", func() *FaultError { return limited(normalize(message)) }},
		{"force to deny", func() *FaultError { return limited(normalize(message)) }},
		{"queue is full", func() *FaultError { return limited(normalize(message)) }},
		{"deadline exceeded", func() *FaultError { return fault(TimedOut, "the server gave up at its deadline", "") }},
	} {
		if strings.Contains(lower, known.sign) {
			return known.made()
		}
	}
	return nil
}

func notFound(reason string) *FaultError {
	return fault(NotFound, "not found: "+reason, "check the names of collection and database")
}

func notLoaded() *FaultError {
	return fault(NotLoaded, "the collection is not loaded", "load it first: a replay never does")
}

func denied(reason, host string) *FaultError {
	return faultf(Denied, "grant the user the privileges to search and describe the collection",
		"permission denied by %s: %s", host, reason)
}
