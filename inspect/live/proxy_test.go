package live_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// fakeProxy is a proxy, SOCKS5 or CONNECT.
type fakeProxy struct {
	address        string
	user, password string
	names          map[string]string // host names that it resolves

	mu   sync.Mutex
	seen []string
}

func (m *fakeProxy) targets() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// join connects to a target and copies in both directions.
func (m *fakeProxy) join(conn net.Conn, in io.Reader, target string, began func(error) error) {
	m.mu.Lock()
	m.seen = append(m.seen, target)
	m.mu.Unlock()
	host, port, _ := net.SplitHostPort(target)
	if known := m.names[host]; known != "" {
		target = net.JoinHostPort(known, port)
	}
	out, err := net.DialTimeout("tcp", target, time.Second)
	if err := began(err); err != nil || out == nil {
		return
	}
	defer out.Close()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(conn, out)
}

func newSOCKS(t *testing.T, user, password string) *fakeProxy {
	t.Helper()
	m := &fakeProxy{user: user, password: password, names: map[string]string{}}
	m.address = livetest.Each(t, func(conn net.Conn) {
		defer conn.Close()
		m.socks(conn)
	})
	return m
}

func (m *fakeProxy) socks(conn net.Conn) {
	in := bufio.NewReader(conn)
	if !m.greet(conn, in) {
		return
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return
	}
	size := map[byte]int{1: 4, 4: 16}[head[3]]
	if head[3] == 3 {
		n, _ := in.ReadByte()
		size = int(n)
	}
	rest := make([]byte, size+2)
	if _, err := io.ReadFull(in, rest); err != nil {
		return
	}
	host := string(rest[:size])
	if head[3] != 3 {
		host = net.IP(rest[:size]).String()
	}
	port := strconv.Itoa(int(rest[size])<<8 | int(rest[size+1]))
	m.join(conn, in, net.JoinHostPort(host, port), func(err error) error {
		code := byte(0)
		if err != nil {
			code = 5
		}
		_, err = conn.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	})
}

// greet negotiates a method and checks the login.
func (m *fakeProxy) greet(conn net.Conn, in *bufio.Reader) bool {
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil {
		return false
	}
	if m.user == "" {
		_, err := conn.Write([]byte{5, 0})
		return err == nil
	}
	if !slices.Contains(methods, 2) {
		_, _ = conn.Write([]byte{5, 255})
		return false
	}
	_, _ = conn.Write([]byte{5, 2})
	text := func() string {
		n, _ := in.ReadByte()
		b := make([]byte, n)
		_, _ = io.ReadFull(in, b)
		return string(b)
	}
	_, _ = in.ReadByte()
	if text() != m.user || text() != m.password {
		_, _ = conn.Write([]byte{1, 1})
		return false
	}
	_, err := conn.Write([]byte{1, 0})
	return err == nil
}

func newCONNECT(t *testing.T, user, password string) *fakeProxy {
	t.Helper()
	m := &fakeProxy{user: user, password: password, names: map[string]string{}}
	m.address = livetest.Each(t, func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		request, err := http.ReadRequest(in)
		if err != nil || request.Method != http.MethodConnect {
			return
		}
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte(m.user+":"+m.password))
		if m.user != "" && request.Header.Get("Proxy-Authorization") != want {
			_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		m.join(conn, in, request.Host, func(err error) error {
			answer := "HTTP/1.1 200 Connection established\r\n\r\n"
			if err != nil {
				answer = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
			}
			_, err = io.WriteString(conn, answer)
			return err
		})
	})
	return m
}

// TestProxy checks that all connections use the proxy, that it resolves the names, and that its own errors are
// distinguished from those of the processes.
func TestProxy(t *testing.T) {
	for _, kind := range []string{"socks5", "http"} {
		for name, test := range map[string]struct{ user, password, as string }{
			"open":           {"", "", ""},
			"login":          {"ann", "s3cr3t-proxy", "ann:s3cr3t-proxy@"},
			"wrong password": {"ann", "s3cr3t-proxy", "ann:s3cr3t-guess@"},
			"no login":       {"ann", "s3cr3t-proxy", ""},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				p := newSOCKS(t, test.user, test.password)
				if kind == "http" {
					p = newCONNECT(t, test.user, test.password)
				}
				p.names["milvus.internal"] = "127.0.0.1"
				c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
				c = livetest.WithAddresses(c, func(s *model.Session) string { // names in the remote network
					_, port, _ := net.SplitHostPort(s.Address)
					return "milvus.internal:" + port
				})
				c = livetest.Replace(c, map[string]string{"querynode-101": livetest.Refused(t)})
				r := ask(t, c, live.Options{Proxy: kind + "://" + test.as + p.address, Timeout: unhurried})
				if strings.Contains(fmt.Sprintf("%+v", *r), "s3cr3t-proxy") ||
					strings.Contains(fmt.Sprintf("%+v", *r), "s3cr3t-guess") {
					t.Error("the proxy's password is shown")
				}
				if test.as == "" && test.user != "" || strings.Contains(test.as, "guess") {
					for _, n := range r.Nodes {
						wantOutcome(t, r, n.Role, n.Node, model.Denied, "proxy")
					}
					return
				}
				wantOutcome(t, r, "querynode", 100, model.Answered, "")
				if r.LiveNode("querynode", 100).Process == nil {
					t.Error("HTTP does not go through the proxy")
				}
				gone := model.Refused
				if kind == "http" {
					gone = model.Unreachable // the proxy reports only 502
				}
				wantOutcome(t, r, "querynode", 101, gone, "proxy")
			})
		}
	}
}

func TestProxyTrouble(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	for name, test := range map[string]struct {
		proxy  string
		reason string
	}{
		"refused":      {"socks5://" + livetest.Refused(t), "refused"},
		"no such host": {"socks5://no-such-proxy.invalid", "no such host"},
		"silent socks": {"socks5://" + livetest.Silent(t), "within 500ms"},
		"silent http":  {"http://" + livetest.Silent(t), "within 500ms"},
		"no socks": {
			"socks5://" + livetest.Garbage(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "not a SOCKS5 server",
		},
		// it may still become a line
		"no http": {"http://" + livetest.Garbage(t, "\x05\x00\x05\x00"), "within 500ms"},
		"no http, a line": {
			"http://" + livetest.Garbage(t, "220 mail.example ESMTP\r\n"), "not an HTTP response",
		},
		"a header without an end": {
			"http://" + livetest.Garbage(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("y", 1<<20)), "",
		},
		"hangs up, http":  {"http://" + livetest.HangsUp(t), ""},
		"hangs up, socks": {"socks5://" + livetest.HangsUp(t), ""},
	} {
		t.Run(name, func(t *testing.T) {
			patience := unhurried
			if strings.Contains(test.reason, "within 500ms") {
				patience = 500 * time.Millisecond
			}
			punctual := livetest.Punctual(t)
			before, start := runtime.NumGoroutine(), time.Now()
			r := ask(t, c, live.Options{Proxy: test.proxy, Timeout: patience})
			defer wantGoroutines(t, before)
			if took := time.Since(start); took > min(unhurried/2, patience+time.Second) &&
				(patience == unhurried || punctual()) {
				t.Errorf("took %v", took)
			}
			for _, n := range r.Nodes {
				wantOutcome(t, r, n.Role, n.Node, model.Unreachable, test.reason)
				wantOutcome(t, r, n.Role, n.Node, model.Unreachable, "proxy") // not the process
			}
		})
	}
}

func TestMap(t *testing.T) {
	c := livetest.Cluster(livetest.Spec{QueryNodes: 2, Collections: 1, Segments: 4})
	served := livetest.Serve(t, c, livetest.Responses(c, livetest.Options{}), recorded.Options{})
	to := map[string]string{}
	for i, s := range served.Sessions {
		to[c.Sessions[i].Address] = s.Address
	}
	r := ask(t, c, live.Options{Map: to, Timeout: unhurried})
	for _, n := range r.Nodes {
		wantOutcome(t, r, n.Role, n.Node, model.Answered, "")
		if !strings.HasPrefix(n.Address, "10.1.") {
			t.Errorf("%s is shown at %s, not at its own address", n.Name(), n.Address)
		}
	}
	// A host without a port keeps ports, and also applies to the HTTP port.
	hosts := map[string]string{}
	for _, s := range c.Sessions {
		host, _, _ := net.SplitHostPort(s.Address)
		hosts[host] = "127.0.0.1"
	}
	byHost := livetest.WithAddresses(c, func(s *model.Session) string {
		host, _, _ := net.SplitHostPort(s.Address)
		_, port, _ := net.SplitHostPort(to[s.Address])
		return net.JoinHostPort(host, port)
	})
	r = ask(t, byHost, live.Options{Map: hosts, Timeout: unhurried})
	for _, n := range r.QueryNodes() {
		wantOutcome(t, r, n.Role, n.Node, model.Answered, "")
		if n.Process == nil || n.Process.Metrics == nil {
			t.Errorf("%s: HTTP was not led along", n.Name())
		}
	}
	// A host that is mapped to one port has no other.
	one := map[string]string{}
	for _, s := range c.Sessions {
		host, _, _ := net.SplitHostPort(s.Address)
		one[host] = to[s.Address]
	}
	r = ask(t, c, live.Options{Map: one, Timeout: unhurried})
	for _, n := range r.QueryNodes() {
		wantOutcome(t, r, n.Role, n.Node, model.Answered, "")
		if n.Process == nil || n.Process.Outcome != model.NotAsked ||
			!strings.Contains(n.Process.Reason, "address map") {
			t.Errorf("%s: process %+v: its HTTP port is not known", n.Name(), n.Process)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, opts := range map[string]live.Options{
		"kind of proxy":    {Proxy: "ftp://10.0.0.1:21"},
		"proxy":            {Proxy: "socks5://"},
		"proxy, no URL":    {Proxy: "socks5://ann:s3cr3t\x7f@host:1"},
		"map":              {Map: map[string]string{"10.2.0.7:x": "localhost"}},
		"map to nothing":   {Map: map[string]string{"10.2.0.7": ""}},
		"map to port 0":    {Map: map[string]string{"10.2.0.7": "localhost:0"}},
		"negative timeout": {Timeout: -1},
		"port":             {MetricsPort: 70000},
	} {
		if _, err := live.Open(opts); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
