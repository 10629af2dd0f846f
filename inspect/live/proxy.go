package live

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// proxy is a server that connects on our behalf, for people outside the cluster's network.
type proxy struct {
	address        string // host:port
	socks          bool   // SOCKS5, else CONNECT of HTTP
	user, password string
	hasUser        bool
}

// parseProxy reads socks5://[user:pass@]host:port or http://host:port.
func parseProxy(text string) (*proxy, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of Parse repeats the address, credentials included.
		return nil, errors.New("read the proxy's address: want socks5://host:port or http://host:port")
	}
	p := &proxy{address: u.Host}
	var port string
	switch u.Scheme {
	case "socks5", "socks5h":
		p.socks, port = true, "1080"
	case "http":
		port = "80"
	default:
		return nil, fmt.Errorf("proxy of kind %q: want socks5://host:port or http://host:port", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, errors.New("read the proxy's address: no host in it")
	}
	if u.Port() == "" {
		p.address = net.JoinHostPort(u.Hostname(), port)
	}
	if u.User != nil {
		p.user, p.hasUser = u.User.Username(), true
		p.password, _ = u.User.Password()
	}
	if p.socks && (len(p.user) > 255 || len(p.password) > 255) {
		return nil, errors.New("read the proxy's address: SOCKS5 allows 255 bytes of user and of password")
	}
	return p, nil
}

// dial connects to target through the proxy. Names are resolved by the proxy, which is
// in the network where they mean something.
func (p *proxy) dial(ctx context.Context, target string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		f := dialFailure(err, 0)
		return nil, failed(model.Unreachable, "the proxy %s: %s", p.address, f.outcome)
	}
	// The handshake has no context of its own: its end, in time or not, closes the connection.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	tunnel := conn
	if p.socks {
		err = p.socksConnect(conn, target)
	} else {
		tunnel, err = p.httpConnect(conn, target)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return tunnel, nil
	}
	_ = conn.Close()
	var known *failure
	if ctx.Err() != nil || errors.As(err, &known) {
		return nil, errors.Join(ctx.Err(), err)
	}
	return nil, failed(model.Unreachable, "the proxy %s: %v", p.address, err)
}

// SOCKS5: RFC 1928, and RFC 1929 for user and password.
const (
	socksVersion    = 5
	socksNoAuth     = 0
	socksUserPass   = 2
	socksConnectCmd = 1
	socksIPv4       = 1
	socksDomain     = 3
	socksIPv6       = 4
)

func (p *proxy) socksConnect(conn net.Conn, target string) error {
	methods := []byte{socksVersion, 1, socksNoAuth}
	if p.hasUser {
		methods = []byte{socksVersion, 2, socksNoAuth, socksUserPass}
	}
	if _, err := conn.Write(methods); err != nil {
		return err
	}
	var chosen [2]byte
	if _, err := io.ReadFull(conn, chosen[:]); err != nil {
		return err
	}
	switch {
	case chosen[0] != socksVersion:
		return errors.New("this is no SOCKS5 server")
	case chosen[1] == socksUserPass && p.hasUser:
		if err := p.socksLogin(conn); err != nil {
			return err
		}
	case chosen[1] != socksNoAuth:
		return failed(model.Denied, "the proxy %s wants other credentials", p.address)
	}
	request, err := socksRequest(target)
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	return p.socksReply(conn)
}

func (p *proxy) socksLogin(conn net.Conn) error {
	login := append([]byte{1, byte(len(p.user))}, p.user...)
	login = append(append(login, byte(len(p.password))), p.password...)
	if _, err := conn.Write(login); err != nil {
		return err
	}
	var reply [2]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	if reply[1] != 0 {
		return failed(model.Denied, "the proxy %s refuses the user or the password", p.address)
	}
	return nil
}

func socksRequest(target string) ([]byte, error) {
	host, portText, err := net.SplitHostPort(target)
	if err != nil {
		return nil, failed(model.Unreachable, "%v", err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, failed(model.Unreachable, "port %q of %s is no port", portText, target)
	}
	request := []byte{socksVersion, socksConnectCmd, 0}
	switch ip, err := netip.ParseAddr(host); {
	case err == nil && ip.Unmap().Is4():
		request = append(append(request, socksIPv4), ip.Unmap().AsSlice()...)
	case err == nil:
		request = append(append(request, socksIPv6), ip.AsSlice()...)
	case len(host) > 255:
		return nil, failed(model.Unreachable, "host name of %d bytes", len(host))
	default:
		request = append(append(request, socksDomain, byte(len(host))), host...)
	}
	return append(request, byte(port>>8), byte(port)), nil
}

// socksReply reads the proxy's verdict: byte 1 of RFC 1928, section 6.
func (p *proxy) socksReply(conn net.Conn) error {
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	switch head[1] {
	case 0:
	case 2:
		return failed(model.Denied, "the proxy %s does not allow this connection", p.address)
	case 3, 4:
		return failed(model.Unreachable, "the proxy %s: no route to the host", p.address)
	case 5:
		return failed(model.Refused, "the proxy %s: connection refused", p.address)
	case 6:
		return failed(model.Unreachable, "the proxy %s: no connection in its time", p.address)
	default:
		return failed(model.Unreachable, "the proxy %s fails with SOCKS code %d", p.address, head[1])
	}
	rest := 2
	switch head[3] {
	case socksIPv4:
		rest += net.IPv4len
	case socksIPv6:
		rest += net.IPv6len
	case socksDomain:
		var size [1]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return err
		}
		rest += int(size[0])
	default:
		return errors.New("this is no SOCKS5 server")
	}
	_, err := io.CopyN(io.Discard, conn, int64(rest))
	return err
}

// maxProxyHeader bounds the answer to CONNECT.
const maxProxyHeader = 64 << 10

func (p *proxy) httpConnect(conn net.Conn, target string) (net.Conn, error) {
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if p.hasUser {
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(p.user+":"+p.password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return nil, err
	}
	// What follows the header belongs to the tunnel, and may already be in the buffer.
	buffered := bufio.NewReader(conn)
	limited := bufio.NewReader(io.LimitReader(&headerReader{buffered, 0}, maxProxyHeader))
	response, err := http.ReadResponse(limited, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("no answer of HTTP: %w", err)
	}
	_ = response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return &tunnel{conn, buffered}, nil
	case http.StatusProxyAuthRequired, http.StatusUnauthorized, http.StatusForbidden:
		return nil, failed(model.Denied, "the proxy %s: %s", p.address, response.Status)
	default:
		return nil, failed(model.Unreachable, "the proxy %s: %s", p.address, response.Status)
	}
}

// headerReader hands out bytes up to the empty line that ends a header and not one more.
type headerReader struct {
	r    *bufio.Reader
	tail uint32 // the last four bytes
}

func (h *headerReader) Read(b []byte) (int, error) {
	const end = '\r'<<24 | '\n'<<16 | '\r'<<8 | '\n'
	if len(b) == 0 {
		return 0, nil
	}
	if h.tail == end {
		return 0, io.EOF
	}
	c, err := h.r.ReadByte()
	if err != nil {
		return 0, err
	}
	h.tail = h.tail<<8 | uint32(c)
	b[0] = c
	return 1, nil
}

// tunnel is a connection of which some bytes are already read.
type tunnel struct {
	net.Conn
	r *bufio.Reader
}

func (t *tunnel) Read(b []byte) (int, error) { return t.r.Read(b) }
