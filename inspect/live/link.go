package live

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// link is the connection to one gRPC server, which may hold several sessions.
type link struct {
	client      *Client
	address     string
	cluster     string // the cluster name sent with each call; "" is not sent
	conn        *grpc.ClientConn
	reservation *reservation

	mu sync.Mutex
	// broken is the first reason why the connection could not be made.
	broken *failure
	// dialed is set after the network connection is made; later failures are the server's. took is how long it
	// took.
	dialed bool
	took   time.Duration
	// resolving is the host name that is being resolved, or "".
	resolving string
	first     []byte // the first bytes from the server, after the handshake if there was one
}

// maxHeaders bounds the header and trailer of a response, in bytes: mostly error texts.
const maxHeaders = 64 << 10

// connect prepares the link; it does not connect before the first call.
func (c *Client) connect(address, cluster string) (*link, error) {
	l := &link{client: c, address: address, cluster: cluster}
	l.reservation = c.budget.newReservation()
	creds := insecure.NewCredentials()
	if c.opts.TLS != nil {
		creds = l.tlsCredentials()
	}
	conn, err := grpc.NewClient("passthrough:///"+url.PathEscape(address),
		grpc.WithTransportCredentials(&handshakeRecorder{creds, l}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.dial(ctx) }),
		// Nothing comes from the environment: no proxy, no service config from DNS, no hidden retries.
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
		grpc.WithUserAgent("kitescope"),
		// Otherwise grpc gives up on a silent server after its own 20 s and reports that the server hung up.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.DefaultConfig, MinConnectTimeout: c.opts.Timeout + time.Second,
		}),
		grpc.WithMaxHeaderListSize(maxHeaders),
		// Unbuffered, so that each piece of a response is counted, however small.
		grpc.WithReadBufferSize(0),
		// Else any package of the binary that registers gzip enables it.
		grpc.WithDecompressor(gzipRejecter{}), //nolint:staticcheck // SA1019: kept throughout grpc 1
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(RawCodec{}), grpc.MaxCallRecvMsgSize(int(c.opts.MaxResponse))),
	)
	if err != nil {
		l.reservation.releaseAll()
		return nil, newFailure(model.Unreachable, "%q is not an address: %v", redact.Address(address), err)
	}
	l.conn = conn
	return l, nil
}

func (l *link) tlsCredentials() credentials.TransportCredentials {
	config := l.client.opts.TLS.Clone()
	if config.ServerName == "" {
		// The certificate is for the address in the cluster, even if the map redirects it.
		if host, _, err := net.SplitHostPort(l.address); err == nil {
			config.ServerName = host
		}
	}
	return credentials.NewTLS(config)
}

func (l *link) close() {
	l.reservation.releaseAll()
	_ = l.conn.Close()
}

// dial makes the connection for grpc. It stores the error, because grpc keeps only its text.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	if gone := l.reservation.exceeded(); gone != nil {
		return nil, gone
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(info httptrace.DNSStartInfo) { l.setResolving(info.Host) },
		DNSDone:  func(httptrace.DNSDoneInfo) { l.setResolving("") },
	})
	begun := time.Now()
	conn, err := l.client.dialer.dial(ctx, l.address, true)
	if err != nil {
		if f, ok := errors.AsType[*failure](err); ok {
			l.setBroken(f)
		}
		return nil, err
	}
	l.mu.Lock()
	l.dialed, l.took = true, time.Since(begun)
	l.mu.Unlock()
	return conn, nil
}

// dialTook returns how long the network connection took, or 0 if it may not have gone to the process's host
// directly.
func (l *link) dialTook() time.Duration {
	d := l.client.dialer
	if to, err := d.routes.target(l.address, true); err != nil || to != l.address || d.relay != nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.took
}

func (l *link) setResolving(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resolving = host
}

func (l *link) setBroken(f *failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = cmp.Or(l.broken, f)
}

// state returns why the link is broken, or nil if it is not known to be, whether it was dialed, and the first
// bytes received.
func (l *link) state() (broken *failure, dialed bool, first []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken, l.dialed, slices.Clone(l.first)
}

// ready connects and waits until calls can be made. It returns an error if none can be.
func (l *link) ready(ctx context.Context) error {
	l.conn.Connect()
	for {
		state := l.conn.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return l.connectFailure(ctx)
		default:
		}
		if !l.conn.WaitForStateChange(ctx, state) {
			return l.timeoutFailure(ctx)
		}
	}
}

// timeoutFailure returns the failure for a deadline: no connection, or no response over it.
func (l *link) timeoutFailure(ctx context.Context) error {
	if cause := context.Cause(ctx); !isTimeout(cause) {
		return cause
	}
	broken, dialed, first := l.state()
	gone := l.reservation.exceeded()
	l.mu.Lock()
	resolving := l.resolving
	l.mu.Unlock()
	patience := l.client.opts.Timeout
	switch {
	case gone != nil:
		return gone
	case broken != nil:
		return broken
	case len(first) > 0 && !isSettings(first):
		return l.garbledFailure(first)
	case dialed:
		return newFailure(model.TimedOut, "connected, but no response within %s", patience)
	case resolving != "":
		return unresolved(resolving, patience)
	}
	return l.client.dialer.timeoutFailure()
}

// connectFailure returns the failure for a connection that was not made or not understood.
func (l *link) connectFailure(ctx context.Context) error {
	broken, dialed, first := l.state()
	if broken != nil {
		return broken
	}
	if !dialed {
		return l.timeoutFailure(ctx)
	}
	if len(first) > 0 && !isSettings(first) {
		return l.garbledFailure(first)
	}
	if l.client.opts.TLS == nil && l.client.dialer.wantsTLS(ctx, l.address) {
		return newFailure(model.Denied, "the server requires TLS")
	}
	if l.client.opts.TLS != nil && len(first) == 0 { // its alert may be lost with the connection
		return newFailure(model.Denied,
			"the server closed the connection after the TLS handshake: it may require another certificate")
	}
	return newFailure(model.CutOff, "the server closed the connection at once")
}

const (
	tlsAlert     = 0x15
	tlsHandshake = 0x16
)

func (l *link) garbledFailure(first []byte) *failure {
	if first[0] == tlsAlert || first[0] == tlsHandshake {
		return newFailure(model.Denied, "the server requires TLS")
	}
	return newFailure(model.Garbled, "not a gRPC server: it starts with %q", first)
}

// isSettings reports whether bytes begin like those of an HTTP/2 server: with a frame of type SETTINGS on
// stream 0 (RFC 9113, sections 3.4 and 4.1).
func isSettings(b []byte) bool {
	const typeAt, streamAt, head = 3, 5, 9
	if len(b) < head {
		return len(b) <= typeAt || b[typeAt] == 4
	}
	return b[typeAt] == 4 && b[streamAt]|b[streamAt+1]|b[streamAt+2]|b[streamAt+3] == 0
}

// wantsTLS tries a TLS handshake, because a TLS server in Go just closes a plaintext connection.
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

// firstByte stores the first byte read from a connection.
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

// sniffConn stores the first bytes that arrive, and the reason if the server refuses the client after the
// handshake: TLS 1.3 checks client certificates only then.
type sniffConn struct {
	net.Conn
	link *link
}

// sniffBytes is the number of bytes of a response that identify the kind of server.
const sniffBytes = 16

func (c *sniffConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.link.mu.Lock()
		if had := len(c.link.first); had < sniffBytes {
			c.link.first = append(c.link.first, b[:min(n, sniffBytes-had)]...)
		}
		c.link.mu.Unlock()
	}
	if err != nil && isAlert(err) {
		c.link.setBroken(handshakeFailure(err, c.link.client.opts.Timeout))
	}
	return n, err
}

// handshakeRecorder stores why a TLS handshake failed, and counts the bytes after it.
type handshakeRecorder struct {
	credentials.TransportCredentials
	link *link
}

func (w *handshakeRecorder) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil && (ctx.Err() == nil || isTimeout(ctx.Err())) {
		w.link.setBroken(handshakeFailure(err, w.link.client.opts.Timeout))
	}
	if err != nil {
		return nil, nil, err
	}
	return &countedConn{&sniffConn{conn, w.link}, w.link.reservation}, info, nil
}

func (w *handshakeRecorder) Clone() credentials.TransportCredentials {
	return &handshakeRecorder{w.TransportCredentials.Clone(), w.link}
}
