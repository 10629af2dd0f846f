package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kitescope/engine"
	"kitescope/replay/load"
)

// proxy is a gRPC server that responds like a Milvus proxy. It can produce situations that are hard to cause on a
// real server.
type proxy struct {
	address string
	old     bool // no Connect, as before 2.2.9
	text    bool
	fields  []*schemapb.FieldSchema // additional fields
	index   []*milvuspb.IndexDescription
	answer  func(ctx context.Context, r *milvuspb.SearchRequest) (*milvuspb.SearchResults, error)

	searches atomic.Int64
	mu       sync.Mutex
	last     *milvuspb.SearchRequest
	headers  metadata.MD
	server   *grpc.Server
}

// serve starts a proxy with one collection, "items", with 1,000 rows of 4 dims and an HNSW index.
func serve(t *testing.T, p *proxy, opts ...grpc.ServerOption) *proxy {
	t.Helper()
	if p.index == nil {
		p.index = []*milvuspb.IndexDescription{{FieldName: "vec", Params: []*commonpb.KeyValuePair{
			{Key: "index_type", Value: "HNSW"},
			{Key: "metric_type", Value: "L2"},
			{Key: "params", Value: `{"M":16,"efConstruction":200}`},
		}}}
	}
	p.listen(t, "127.0.0.1:0", opts...)
	t.Cleanup(func() { p.server.Stop() })
	return p
}

func (p *proxy) listen(t *testing.T, address string, opts ...grpc.ServerOption) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p.address = l.Addr().String()
	p.server = grpc.NewServer(opts...)
	p.server.RegisterService(&serviceOfProxy, p)
	server := p.server
	go func() { _ = server.Serve(l) }() // ends with Stop
}

// serviceOfProxy is the part of Milvus's service that proxy implements.
var serviceOfProxy = grpc.ServiceDesc{
	ServiceName: milvuspb.MilvusService_ServiceDesc.ServiceName,
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{
		method("Connect", (*proxy).Connect), method("DescribeCollection", (*proxy).DescribeCollection),
		method("DescribeIndex", (*proxy).DescribeIndex), method("ShowCollections", (*proxy).ShowCollections),
		method("Search", (*proxy).Search),
	},
}

func method[Request, Answer any](
	name string, answer func(*proxy, context.Context, *Request) (*Answer, error),
) grpc.MethodDesc {
	return grpc.MethodDesc{
		MethodName: name,
		Handler: func(
			server any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
		) (any, error) {
			r := new(Request)
			if err := decode(r); err != nil {
				return nil, err
			}
			return answer(server.(*proxy), ctx, r)
		},
	}
}

func (p *proxy) Connect(context.Context, *milvuspb.ConnectRequest) (*milvuspb.ConnectResponse, error) {
	if p.old {
		return nil, status.Error(codes.Unimplemented, "unknown method Connect")
	}
	return &milvuspb.ConnectResponse{Status: &commonpb.Status{}, Identifier: 77}, nil
}

func (p *proxy) DescribeCollection(
	_ context.Context, r *milvuspb.DescribeCollectionRequest,
) (*milvuspb.DescribeCollectionResponse, error) {
	if r.GetCollectionName() != "items" && r.GetCollectionName() != "alias" {
		return &milvuspb.DescribeCollectionResponse{
			Status: &commonpb.Status{Code: 100, Reason: "collection not found"},
		}, nil
	}
	key := schemapb.DataType_Int64
	if p.text {
		key = schemapb.DataType_VarChar
	}
	return &milvuspb.DescribeCollectionResponse{
		ConsistencyLevel: commonpb.ConsistencyLevel_Bounded,
		Schema: &schemapb.CollectionSchema{Name: "items", Fields: append([]*schemapb.FieldSchema{
			{Name: "id", IsPrimaryKey: true, DataType: key},
			{
				Name: "vec", DataType: schemapb.DataType_FloatVector,
				TypeParams: []*commonpb.KeyValuePair{{Key: "dim", Value: "4"}},
			},
		}, p.fields...)},
	}, nil
}

func (p *proxy) DescribeIndex(
	context.Context, *milvuspb.DescribeIndexRequest,
) (*milvuspb.DescribeIndexResponse, error) {
	if len(p.index) == 0 {
		return &milvuspb.DescribeIndexResponse{
			Status: legacyStatus(commonpb.ErrorCode_IndexNotExist, "index not exist"),
		}, nil
	}
	return &milvuspb.DescribeIndexResponse{IndexDescriptions: p.index}, nil
}

func (p *proxy) ShowCollections(
	context.Context, *milvuspb.ShowCollectionsRequest,
) (*milvuspb.ShowCollectionsResponse, error) {
	return &milvuspb.ShowCollectionsResponse{
		CollectionNames:     []string{"items"},
		InMemoryPercentages: []int64{100}, //nolint:staticcheck // SA1019: all versions have it
	}, nil
}

func (p *proxy) Search(ctx context.Context, r *milvuspb.SearchRequest) (*milvuspb.SearchResults, error) {
	p.searches.Add(1)
	p.mu.Lock()
	p.last = r
	p.headers, _ = metadata.FromIncomingContext(ctx)
	p.mu.Unlock()
	if p.answer != nil {
		return p.answer(ctx, r)
	}
	return results([]int64{2}, []int64{5, 6}, 0.5, 1.5), nil
}

// results returns an answer with numeric keys.
func results(topks, ids []int64, scores ...float32) *milvuspb.SearchResults {
	return &milvuspb.SearchResults{Status: &commonpb.Status{}, Results: &schemapb.SearchResultData{
		NumQueries: int64(len(topks)), Topks: topks, Scores: scores,
		Ids: &schemapb.IDs{IdField: &schemapb.IDs_IntId{IntId: &schemapb.LongArray{Data: ids}}},
	}}
}

func open(t *testing.T, uri string, o Options) Target {
	t.Helper()
	if o.Collection == "" {
		o.Collection = "items"
	}
	target, err := Open(t.Context(), uri, o)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func session(t *testing.T, target Target) load.Session {
	t.Helper()
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func vectors(t testing.TB, rows ...float32) *engine.Vectors {
	t.Helper()
	v, err := engine.FromFloat32s(4, rows)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func one(t testing.TB) *load.Request {
	t.Helper()
	return &load.Request{Vectors: vectors(t, 1, 2, 3, 4), K: 10, SearchParams: engine.SearchParams{EF: 64}}
}

// certificates returns the TLS configurations of a server on the loopback interface and of a client that trusts it.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func tlsServer(config *tls.Config) grpc.ServerOption { return grpc.Creds(credentials.NewTLS(config)) }

// silentServer starts a listener that never responds.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

const shortTimeout = 300 * time.Millisecond
