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

// relay is a proxy into the cluster's network, for users outside of that network. The proxy resolves host
// names, because the names are valid only in its network.
type relay struct {
	address string // host:port
	// socks speaks SOCKS5; nil means HTTP CONNECT.
	socks proxy.ContextDialer
	// authorization is the header of CONNECT, or "" for none.
	authorization string
	// connect connects to the proxy itself; nil means TCP.
	connect func(context.Context) (net.Conn, error)
}

// parseProxy parses socks5://[user:pass@]host:port or http://[user:pass@]host:port.
func parseProxy(text string) (*relay, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of Parse repeats the address, with its credentials.
		return nil, errors.New("read the proxy's address: expected socks5://host:port or http://host:port")
	}
	port := map[string]string{"socks5": "1080", "socks5h": "1080", "http": "80"}[u.Scheme]
	switch {
	case port == "":
		return nil, fmt.Errorf("proxy of kind %q: expected socks5://host:port or http://host:port", u.Scheme)
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
			return nil, errors.New("read the proxy's address: " +
				"SOCKS5 needs a user of 1 to 255 bytes and a password of at most 255")
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

// dial connects to target through the proxy. Errors of the proxy itself name it, to distinguish them from
// errors of the target.
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

// Dial is DialContext without a context. proxy.SOCKS5 requires both.
func (r *relay) Dial(network, address string) (net.Conn, error) {
	return r.DialContext(context.Background(), network, address)
}

// DialContext connects to the proxy itself and ignores the address.
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
		return nil, newFailure(model.Unreachable, "the proxy %s: %s (%s)", r.address, f.outcome, f.reason)
	}
	return conn, err
}

// socksFailure distinguishes refusals by the proxy from those by the target. x/net returns the proxy's reply
// only as text, from RFC 1928, section 6 (golang.org/x/net/internal/socks: Reply.String,
// UsernamePassword.Authenticate); a test checks these texts.
func (r *relay) socksFailure(err error) error {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // the outer error repeats the two addresses
	}
	for _, known := range []struct {
		sign, says string
		outcome    model.Outcome
	}{
		{"connection refused", "connection refused", model.Refused},
		{"not allowed by ruleset", "it does not allow this connection", model.Denied},
		{"network unreachable", "no route to the network", model.Unreachable},
		{"host unreachable", "no route to the host", model.Unreachable},
		{"TTL expired", "no connection in time", model.Unreachable},
		{"general SOCKS server failure", "it could not connect", model.Unreachable},
		{"username/password", "it rejects the user or the password", model.Denied},
		{"authentication method", "it requires other credentials", model.Denied},
		{"protocol version", "not a SOCKS5 server", model.Unreachable},
	} {
		if strings.Contains(err.Error(), known.sign) {
			return newFailure(known.outcome, "the proxy %s: %s", r.address, known.says)
		}
	}
	return r.failure(err)
}

// failure returns an error of the proxy itself. It returns timeouts and cancellation unchanged, for the caller
// to explain.
func (r *relay) failure(err error) error {
	switch {
	case isTimeout(err), errors.Is(err, context.Canceled):
		return err
	case isCut(err):
		return newFailure(model.Unreachable, "the proxy %s: it closed the connection", r.address)
	}
	return newFailure(model.Unreachable, "the proxy %s: %v", r.address, err)
}

// dialHTTP connects with CONNECT (RFC 9110, section 9.3.6), which x/net does not support.
func (r *relay) dialHTTP(ctx context.Context, target string) (net.Conn, error) {
	conn, err := r.DialContext(ctx, "tcp", r.address)
	if err != nil {
		return nil, err
	}
	// The handshake has no context: the end of ctx sets a past deadline, which ends the reading.
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

// maxProxyHeader bounds the response to CONNECT, in bytes.
const maxProxyHeader = 64 << 10

func (r *relay) handshake(conn net.Conn, target string) (net.Conn, error) {
	request := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target,
		Header: http.Header{"User-Agent": {"kitescope"}},
	}
	if r.authorization != "" {
		request.Header.Set("Proxy-Authorization", r.authorization)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	in := bufio.NewReader(&io.LimitedReader{R: conn, N: maxProxyHeader})
	response, err := http.ReadResponse(in, request) //nolint:bodyclose // the tunnel follows
	if err != nil {
		return nil, fmt.Errorf("not an HTTP response: %w", err)
	}
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		begun, _ := in.Peek(in.Buffered()) // of the tunnel: servers may send first
		return &tunnel{conn, io.MultiReader(bytes.NewReader(slices.Clone(begun)), conn)}, nil
	case code == http.StatusProxyAuthRequired, code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, newFailure(model.Denied, "the proxy %s: %s", r.address, response.Status)
	default:
		return nil, newFailure(model.Unreachable, "the proxy %s: %s", r.address, response.Status)
	}
}

// tunnel is a connection whose first bytes are already read.
type tunnel struct {
	net.Conn
	in io.Reader
}

func (t *tunnel) Read(b []byte) (int, error) { return t.in.Read(b) }
