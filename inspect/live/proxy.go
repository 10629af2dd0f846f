package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"kitescope/inspect/model"
)

// relay is a proxy: a server that connects on our behalf, for people outside the cluster's
// network. Names are resolved by it, as it is in the network where they mean something.
type relay struct {
	address string // host:port
	// socks speaks SOCKS5; nil: the proxy is asked with HTTP's CONNECT.
	socks proxy.ContextDialer
	// authorization is the header of CONNECT, "" for none.
	authorization string
	// connect reaches the proxy itself; nil: TCP.
	connect func(context.Context) (net.Conn, error)
}

// parseProxy reads socks5://[user:pass@]host:port or http://[user:pass@]host:port.
func parseProxy(text string) (*relay, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of Parse repeats the address, credentials included.
		return nil, errors.New("read the proxy's address: want socks5://host:port or http://host:port")
	}
	port := map[string]string{"socks5": "1080", "socks5h": "1080", "http": "80"}[u.Scheme]
	switch {
	case port == "":
		return nil, fmt.Errorf("proxy of kind %q: want socks5://host:port or http://host:port", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("read the proxy's address: no host in it")
	case u.Port() != "":
		port = u.Port()
	}
	r := &relay{address: net.JoinHostPort(u.Hostname(), port)}
	if _, _, err := splitAddress(r.address); err != nil {
		return nil, fmt.Errorf("read the proxy's address: %w", err)
	}
	password, _ := u.User.Password()
	if u.Scheme == "http" {
		if u.User != nil {
			r.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		}
		return r, nil
	}
	var auth *proxy.Auth
	if u.User != nil {
		auth = &proxy.Auth{User: u.User.Username(), Password: password}
		if len(auth.User) == 0 || len(auth.User) > 255 || len(auth.Password) > 255 {
			return nil, errors.New("read the proxy's address: SOCKS5 wants a user of 1 to 255 bytes and a password of at most 255")
		}
	}
	d, err := proxy.SOCKS5("tcp", r.address, auth, r)
	if err != nil {
		return nil, fmt.Errorf("read the proxy's address: %w", err)
	}
	var ok bool
	if r.socks, ok = d.(proxy.ContextDialer); !ok {
		return nil, fmt.Errorf("read the proxy's address: %T heeds no deadline", d)
	}
	return r, nil
}

// dial connects to target through the proxy. The proxy's own troubles name the proxy, so
// that they are not taken for those of the target.
func (r *relay) dial(ctx context.Context, target string) (net.Conn, error) {
	if r.socks == nil {
		return r.dialHTTP(ctx, target)
	}
	conn, err := r.socks.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, r.socksFailure(err)
	}
	return conn, nil
}

// Dial is DialContext for whoever has no context: proxy.SOCKS5 wants both.
func (r *relay) Dial(network, address string) (net.Conn, error) {
	return r.DialContext(context.Background(), network, address)
}

// DialContext connects to the proxy itself, whatever the address.
func (r *relay) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	connect := r.connect
	if connect == nil {
		connect = func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, r.address)
		}
	}
	conn, err := connect(ctx)
	if err != nil && ctx.Err() == nil {
		f := dialFailure(err, 0)
		return nil, failed(model.Unreachable, "the proxy %s: %s (%s)", r.address, f.outcome, f.reason)
	}
	return conn, err
}

// socksFailure tells apart who refused: the proxy, or the target. x/net hands the proxy's reply
// on in words only, those of RFC 1928, section 6 (golang.org/x/net/internal/socks: Reply.String,
// UsernamePassword.Authenticate); a test holds it to them.
func (r *relay) socksFailure(err error) error {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // around it are the two addresses, once more
	}
	for _, known := range []struct {
		sign, says string
		outcome    model.Outcome
	}{
		{"connection refused", "connection refused", model.Refused},
		{"not allowed by ruleset", "it does not allow this connection", model.Denied},
		{"network unreachable", "no route to the network", model.Unreachable},
		{"host unreachable", "no route to the host", model.Unreachable},
		{"TTL expired", "no connection in its time", model.Unreachable},
		{"general SOCKS server failure", "it could not connect", model.Unreachable},
		{"username/password", "it refuses the user or the password", model.Denied},
		{"authentication method", "it wants other credentials", model.Denied},
		{"protocol version", "not a SOCKS5 server", model.Unreachable},
	} {
		if strings.Contains(err.Error(), known.sign) {
			return failed(known.outcome, "the proxy %s: %s", r.address, known.says)
		}
	}
	return r.failure(err)
}

// failure is about the proxy itself. What the context ended is for the caller to explain.
func (r *relay) failure(err error) error {
	switch {
	case isTimeout(err), errors.Is(err, context.Canceled):
		return err
	case isCut(err):
		return failed(model.Unreachable, "the proxy %s: it closed the connection", r.address)
	}
	return failed(model.Unreachable, "the proxy %s: %v", r.address, err)
}

// dialHTTP asks with CONNECT (RFC 9110, section 9.3.6), for which x/net has nothing.
func (r *relay) dialHTTP(ctx context.Context, target string) (net.Conn, error) {
	conn, err := r.DialContext(ctx, "tcp", r.address)
	if err != nil {
		return nil, err
	}
	// The handshake has no context of its own: its end, in time or not, ends the reading.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	through, err := r.handshake(conn, target)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err == nil {
		return through, nil
	}
	_ = conn.Close()
	if known, ok := errors.AsType[*failure](err); ok {
		return nil, known
	}
	return nil, r.failure(err)
}

// maxProxyHeader bounds the answer to CONNECT.
const maxProxyHeader = 64 << 10

func (r *relay) handshake(conn net.Conn, target string) (net.Conn, error) {
	request := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{"User-Agent": {"kitescope"}},
	}
	if r.authorization != "" {
		request.Header.Set("Proxy-Authorization", r.authorization)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	in := bufio.NewReader(&io.LimitedReader{R: conn, N: maxProxyHeader})
	response, err := http.ReadResponse(in, request) //nolint:bodyclose // what follows the header is the tunnel, not a body
	if err != nil {
		return nil, fmt.Errorf("no answer of HTTP: %w", err)
	}
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		begun, _ := in.Peek(in.Buffered()) // of the tunnel: servers may speak first
		return &tunnel{conn, io.MultiReader(bytes.NewReader(slices.Clone(begun)), conn)}, nil
	case code == http.StatusProxyAuthRequired, code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, failed(model.Denied, "the proxy %s: %s", r.address, response.Status)
	default:
		return nil, failed(model.Unreachable, "the proxy %s: %s", r.address, response.Status)
	}
}

// tunnel is a connection of which some bytes are already read.
type tunnel struct {
	net.Conn
	in io.Reader
}

func (t *tunnel) Read(b []byte) (int, error) { return t.in.Read(b) }
