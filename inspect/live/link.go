package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kitescope/inspect/model"
)

// link is the connection to one gRPC server, which may hold several sessions.
type link struct {
	client  *Client
	address string
	cluster string // the cluster's key, sent along; "" is not sent
	conn    *grpc.ClientConn

	mu sync.Mutex
	// broken is why the connection could not be made, the first time.
	broken *failure
	// dialed: the network let us through; what follows is the server's doing.
	dialed bool
	first  []byte // the first bytes that the server sent
}

// connect prepares the link; nothing is dialed before the first call.
func (c *Client) connect(address, cluster string) (*link, error) {
	l := &link{client: c, address: address, cluster: cluster}
	creds := insecure.NewCredentials()
	if c.opts.TLS != nil {
		creds = &witness{l.tlsCredentials(), l}
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.dial(ctx) }),
		// Nothing of the environment: no proxy, no service config from DNS, no retries behind our back.
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithUserAgent("kitescope"),
		// Else grpc gives up on a silent server after 20 s of its own, and says that it hung up.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: c.opts.Timeout + time.Second}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(int(c.opts.MaxAnswer))),
	)
	if err != nil {
		return nil, failed(model.Unreachable, "%v", err)
	}
	l.conn = conn
	return l, nil
}

func (l *link) tlsCredentials() credentials.TransportCredentials {
	config := l.client.opts.TLS.Clone()
	if config.ServerName == "" {
		// The certificate names the address in the cluster, wherever the map leads.
		if host, _, err := net.SplitHostPort(l.address); err == nil {
			config.ServerName = host
		}
	}
	return credentials.NewTLS(config)
}

func (l *link) close() { _ = l.conn.Close() }

// dial makes the connection for grpc and notes why it failed, as grpc keeps only text.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	conn, err := l.client.dialer.dial(ctx, l.address, true)
	if err != nil {
		if f, ok := errors.AsType[*failure](err); ok {
			l.breaks(f)
		}
		return nil, err
	}
	l.mu.Lock()
	l.dialed = true
	l.mu.Unlock()
	return &listener{conn, l}, nil
}

func (l *link) breaks(f *failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = f
	}
}

// state is why the link is broken, nil if it is not known to be; and whether it was dialed.
func (l *link) state() (broken *failure, dialed bool, first []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken, l.dialed, l.first
}

// ready connects and waits until calls can be made. It returns why not.
func (l *link) ready(ctx context.Context) error {
	l.conn.Connect()
	for {
		state := l.conn.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return l.whyBroken(ctx)
		default:
		}
		if !l.conn.WaitForStateChange(ctx, state) {
			return l.whyLate(ctx)
		}
	}
}

// whyLate is what a deadline means: no connection, or no answer over one.
func (l *link) whyLate(ctx context.Context) error {
	if cause := context.Cause(ctx); !isTimeout(cause) {
		return cause
	}
	broken, dialed, first := l.state()
	switch {
	case broken != nil:
		return broken
	case len(first) > 0 && !isSettings(first):
		return l.whyGarbled(first)
	case dialed:
		return failed(model.TimedOut, "connected, and no answer within %s", l.client.opts.Timeout)
	}
	return failed(model.Unreachable, "no connection within %s", l.client.opts.Timeout)
}

// whyBroken explains a connection that was not made, or not understood.
func (l *link) whyBroken(ctx context.Context) error {
	broken, dialed, first := l.state()
	if broken != nil {
		return broken
	}
	if !dialed {
		return l.whyLate(ctx)
	}
	if len(first) > 0 && !isSettings(first) {
		return l.whyGarbled(first)
	}
	if l.client.opts.TLS == nil && l.client.dialer.wantsTLS(ctx, l.address) {
		return failed(model.Denied, "the server speaks TLS only")
	}
	return failed(model.CutOff, "the server closed the connection at once")
}

const (
	tlsAlert     = 0x15
	tlsHandshake = 0x16
)

func (l *link) whyGarbled(first []byte) *failure {
	if first[0] == tlsAlert || first[0] == tlsHandshake {
		return failed(model.Denied, "the server speaks TLS only")
	}
	return failed(model.Garbled, "this is no gRPC server: it begins with %q", first)
}

// isSettings reports whether bytes begin as a server of HTTP/2 does: with a frame of
// type SETTINGS on stream 0 (RFC 9113, sections 3.4 and 4.1).
func isSettings(b []byte) bool {
	const typeAt, streamAt, head = 3, 5, 9
	if len(b) < head {
		return len(b) <= typeAt || b[typeAt] == 4
	}
	return b[typeAt] == 4 && b[streamAt]|b[streamAt+1]|b[streamAt+2]|b[streamAt+3] == 0
}

// wantsTLS tries a TLS handshake: a TLS server of Go just hangs up on plaintext.
func (d *dialer) wantsTLS(ctx context.Context, address string) bool {
	conn, err := d.dial(ctx, address, true)
	if err != nil {
		return false
	}
	defer conn.Close()
	peek := &firstByte{Conn: conn}
	//nolint:gosec // Only whether it answers counts: nothing is sent and nothing is trusted.
	_ = tls.Client(peek, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}).HandshakeContext(ctx)
	return peek.b == tlsHandshake || peek.b == tlsAlert
}

// firstByte remembers the first byte that was read.
type firstByte struct {
	net.Conn
	b byte
}

func (f *firstByte) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if n > 0 && f.b == 0 {
		f.b = b[0]
	}
	return n, err
}

// listener keeps the first bytes that arrive.
type listener struct {
	net.Conn
	link *link
}

// sample is how many bytes of an answer tell what kind of server it is.
const sample = 16

func (c *listener) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.link.mu.Lock()
		if had := len(c.link.first); had < sample {
			c.link.first = append(c.link.first, b[:min(n, sample-had)]...)
		}
		c.link.mu.Unlock()
	}
	return n, err
}

// witness notes why a TLS handshake failed.
type witness struct {
	credentials.TransportCredentials
	link *link
}

func (w *witness) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil && (ctx.Err() == nil || isTimeout(ctx.Err())) {
		w.link.breaks(handshakeFailure(err, w.link.client.opts.Timeout))
	}
	return conn, info, err
}

func (w *witness) Clone() credentials.TransportCredentials {
	return &witness{w.TransportCredentials.Clone(), w.link}
}

// rawCodec hands messages through as bytes: they are decoded, kept or measured elsewhere.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("marshal %T: want bytes", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("unmarshal to %T: want bytes", v)
	}
	*b = data.Materialize()
	return nil
}

func (rawCodec) Name() string { return "proto" }

// call makes one gRPC call as a session of node. The answer's own status is not read here.
func (l *link) call(ctx context.Context, node model.NodeID, method string, request []byte) (response []byte, took time.Duration, err error) {
	start := time.Now()
	err = l.conn.Invoke(l.metadata(ctx, node), method, request, &response)
	took = time.Since(start)
	if err == nil {
		return response, took, nil
	}
	if ctx.Err() != nil {
		return nil, took, l.whyLate(ctx)
	}
	if broken, _, _ := l.state(); broken != nil && status.Code(err) == codes.Unavailable {
		return nil, took, broken // the connection was lost, and could not be made again
	}
	return nil, took, callFailure(err, l.client.opts.Timeout, l.client.opts.MaxAnswer)
}

// metadata is what Milvus's own clients send along: which cluster and which node are
// meant (pkg/util/interceptor), and who asks (internal/proxy/authentication_interceptor.go).
func (l *link) metadata(ctx context.Context, node model.NodeID) context.Context {
	pairs := []string{"ServerID", strconv.FormatInt(int64(node), 10)}
	if l.cluster != "" {
		pairs = append(pairs, "Cluster", l.cluster)
	}
	if o := &l.client.opts; o.Token != "" || o.User != "" {
		pairs = append(pairs, "authorization", o.authorization())
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}
