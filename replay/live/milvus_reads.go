package live

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// milvusReads calls a Milvus. These are all calls that this package can make: none changes anything but the proxy's list of clients
// (Connect). Milvus's own client has a method for each write as well.
type milvusReads struct{ conn grpc.ClientConnInterface }

func (m milvusReads) Connect(ctx context.Context, r *milvuspb.ConnectRequest, o ...grpc.CallOption) (*milvuspb.ConnectResponse, error) {
	return called(ctx, m, "Connect", r, new(milvuspb.ConnectResponse), o)
}

func (m milvusReads) GetMetrics(ctx context.Context, r *milvuspb.GetMetricsRequest, o ...grpc.CallOption) (*milvuspb.GetMetricsResponse, error) {
	return called(ctx, m, "GetMetrics", r, new(milvuspb.GetMetricsResponse), o)
}

func (m milvusReads) DescribeCollection(
	ctx context.Context, r *milvuspb.DescribeCollectionRequest, o ...grpc.CallOption,
) (*milvuspb.DescribeCollectionResponse, error) {
	return called(ctx, m, "DescribeCollection", r, new(milvuspb.DescribeCollectionResponse), o)
}

func (m milvusReads) DescribeIndex(ctx context.Context, r *milvuspb.DescribeIndexRequest, o ...grpc.CallOption) (*milvuspb.DescribeIndexResponse, error) {
	return called(ctx, m, "DescribeIndex", r, new(milvuspb.DescribeIndexResponse), o)
}

func (m milvusReads) GetCollectionStatistics(
	ctx context.Context, r *milvuspb.GetCollectionStatisticsRequest, o ...grpc.CallOption,
) (*milvuspb.GetCollectionStatisticsResponse, error) {
	return called(ctx, m, "GetCollectionStatistics", r, new(milvuspb.GetCollectionStatisticsResponse), o)
}

func (m milvusReads) ShowCollections(ctx context.Context, r *milvuspb.ShowCollectionsRequest, o ...grpc.CallOption) (*milvuspb.ShowCollectionsResponse, error) {
	return called(ctx, m, "ShowCollections", r, new(milvuspb.ShowCollectionsResponse), o)
}

func (m milvusReads) Search(ctx context.Context, r *milvuspb.SearchRequest, o ...grpc.CallOption) (*milvuspb.SearchResults, error) {
	return called(ctx, m, "Search", r, new(milvuspb.SearchResults), o)
}

// milvusService is what a proxy serves (milvus.proto).
const milvusService = "milvus.proto.milvus.MilvusService"

// called calls a method and returns its answer.
func called[T proto.Message](ctx context.Context, m milvusReads, method string, request proto.Message, answer T, o []grpc.CallOption) (T, error) {
	if err := m.conn.Invoke(ctx, "/"+milvusService+"/"+method, request, answer, append([]grpc.CallOption{grpc.StaticMethod()}, o...)...); err != nil {
		var none T
		return none, err //nolint:wrapcheck // callers read its code
	}
	return answer, nil
}

const (
	// An answer has k ids and scores for each vector: Milvus allows 16,384 of each, and few ask for so many. What describes a server
	// is far smaller.
	largestAnswer      = 256 << 20
	largestDescription = 32 << 20
	largestHeader      = 64 << 10
)

// pool hands out connections to one Milvus, each to so many sessions.
type pool struct {
	host    string
	o       *Options
	headers metadata.MD // with every call; it holds credentials

	mu     sync.Mutex
	closed bool
	lines  []*connection
}

// connection is one HTTP/2 connection, which grpc makes anew when it is lost.
type connection struct {
	grpc *grpc.ClientConn
	milvusReads
	users int
}

// newPool prepares connections; nothing is dialed.
func newPool(a *address, o *Options) *pool {
	p := &pool{host: a.host, o: o, headers: metadata.MD{}}
	// As pymilvus: authorization is the token, or user:password, in base64 (client/grpc_handler.py of 2.1 to 2.6).
	switch {
	case o.Token != "":
		p.headers.Set("authorization", base64.StdEncoding.EncodeToString([]byte(o.Token)))
	case a.user != "":
		p.headers.Set("authorization", base64.StdEncoding.EncodeToString([]byte(a.user+":"+a.password)))
	}
	return p
}

// enter gives a connection that has room for one more session, or a new one.
func (p *pool) enter() (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault(Failed, "the target was closed", "")
	}
	for _, c := range p.lines {
		if c.users < p.o.SessionsPerConnection {
			c.users++
			return c, nil
		}
	}
	conn, err := p.connect()
	if err != nil {
		return nil, err
	}
	c := &connection{grpc: conn, milvusReads: milvusReads{conn}, users: 1}
	p.lines = append(p.lines, c)
	return c, nil
}

// leave gives a session's place free. Connections stay until the pool ends: the next round has as many sessions.
func (p *pool) leave(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.users--
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var first error
	for _, c := range p.lines {
		if err := c.grpc.Close(); err != nil && first == nil {
			first = err
		}
	}
	p.lines = nil
	return first
}

func (p *pool) connect() (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if p.o.TLS != nil {
		creds = credentials.NewTLS(p.tls())
	}
	conn, err := grpc.NewClient("passthrough:///"+url.PathEscape(p.host),
		grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return p.o.Dial(ctx, "tcp", p.host) }),
		grpc.WithUnaryInterceptor(p.send),
		// Nothing of the environment: no proxy, no service config from DNS, no second tries behind our back.
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithUserAgent("kitescope"),
		// A lost connection is made anew soon, else a restart of the proxy costs more requests than it did; and grpc's own 20 s
		// for a silent server never come before our deadline.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: p.o.Deadline + time.Second,
		}),
		grpc.WithMaxHeaderListSize(largestHeader),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestDescription), grpc.MaxCallSendMsgSize(largestAnswer)),
	)
	if err != nil {
		return nil, faultf(Mismatch, "check the address", "%s is not a server address", p.host)
	}
	return conn, nil
}

func (p *pool) tls() *tls.Config {
	config := p.o.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(p.host)
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	return config
}

// alert asks once more why a TLS connection was lost at its beginning, nil if the server does not say. In TLS 1.3 a server
// looks at the client's certificate after the client is done, and what the client then sends can cost it the server's reason.
// Here nothing is sent.
func (p *pool) alert(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	raw, err := p.o.Dial(ctx, "tcp", p.host)
	if err != nil {
		return nil // the first reason stands
	}
	config := p.tls()
	config.NextProtos = []string{"h2"}
	conn := tls.Client(raw, config)
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	if err = conn.HandshakeContext(ctx); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	if err != nil {
		if f := tlsFault(err.Error(), p.host); f != nil {
			return f
		}
	}
	return nil
}

// send adds what Milvus wants with every call, and its deadline.
func (p *pool) send(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, p.o.Deadline)
	defer cancel()
	if len(p.headers) > 0 {
		ctx = metadata.NewOutgoingContext(ctx, p.headers)
	}
	return invoke(ctx, method, in, out, conn, opts...)
}
