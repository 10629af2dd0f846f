package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

func TestRoutes(t *testing.T) {
	r, err := parseRoutes(map[string]string{
		"10.2.0.7": "localhost", "10.2.0.8:21123": "localhost:30007", "10.2.0.9": "localhost:30009",
		"10.2.0.9:9091":  "localhost:31009",
		"Node-1.Cluster": "127.0.0.1", "fd00::7": "::1", "[fd00::8]:21123": "[::1]:30008",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		address string
		fixed   bool
		want    string
	}{
		{"10.2.0.7:21123", true, "localhost:21123"},
		{"10.2.0.7:9091", false, "localhost:9091"},
		{"10.2.0.8:21123", true, "localhost:30007"},
		{"10.2.0.8:9091", false, "10.2.0.8:9091"}, // only that port is mapped
		{"10.2.0.9:21123", true, "localhost:30009"},
		{"10.2.0.9:9091", false, "localhost:31009"},
		{"10.2.0.9:9092", false, ""}, // the host is mapped to one port
		{"node-1.cluster:53100", true, "127.0.0.1:53100"},
		{"[fd00::7]:21123", true, "[::1]:21123"},
		{"[fd00::8]:21123", true, "[::1]:30008"},
		{"elsewhere:1", true, "elsewhere:1"},
		{"no address", true, ""},
		{":21123", true, ""}, // would be this machine
		{"10.2.0.1", true, ""},
		{"10.2.0.1:0", true, ""},
		{"10.2.0.1:grpc", true, ""},
		{"fd00::9:21123", true, ""},
		{"a b:1", true, ""},
		{"a\r\nHost: b:1", true, ""},
	} {
		got, err := r.target(test.address, test.fixed)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", test.address, got, err, test.want)
		}
	}
}

// TestOnlyReads checks that no call changes anything.
func TestOnlyReads(t *testing.T) {
	p := &plan{loaded: []model.CollectionID{1}, groups: []string{"g"}, segments: []model.SegmentID{2}}
	reads := []string{
		"GetComponentStates", "ShowConfigurations", "GetMetrics", "GetProxyMetrics", "GetDataDistribution",
		"GetRecoveryInfoV2", "GetSegmentInfo", "ShowCollections", "ShowLoadCollections", "GetReplicas",
		"GetShardLeaders", "ListResourceGroups", "DescribeResourceGroup", "ListCheckers", "CheckBalanceStatus",
		"ListQueryNode",
	}
	asked := map[string]bool{}
	for _, role := range []string{
		"rootcoord", "datacoord", "querycoord", "indexcoord", "mixcoord", "querynode", "datanode", "indexnode",
		"streamingnode", "proxy",
	} {
		inquiries := p.inquiries(&model.Session{Role: role, Node: 7, Version: "2.6.3"})
		if len(inquiries) == 0 {
			t.Errorf("%s is asked nothing", role)
		}
		for _, q := range inquiries {
			for _, method := range append(q.others, q.method) {
				asked[lastPart(method)] = true
				if !slices.Contains(reads, lastPart(method)) {
					t.Errorf("%s is asked %s", role, method)
				}
			}
		}
	}
	if len(asked) != len(reads) {
		t.Errorf("asked %d methods of %d that are known", len(asked), len(reads))
	}
	if got := p.inquiries(&model.Session{Role: "whatever", Node: 7}); got != nil {
		t.Errorf("a role that nobody knows is asked %v", got)
	}
}

func TestClusterKey(t *testing.T) {
	for name, test := range map[string]struct {
		pchannels []string
		want      string
	}{
		"usual":           {[]string{"by-dev-rootcoord-dml_0", "by-dev-rootcoord-dml_15"}, "by-dev"},
		"one disagrees":   {[]string{"by-dev-rootcoord-dml_0", "old-rootcoord-dml_1"}, ""},
		"named otherwise": {[]string{"by-dev-rootcoord-dml_0", "topic-7"}, ""},
		"none":            {nil, ""},
		"not printable":   {[]string{"größe-rootcoord-dml_0"}, ""},
	} {
		parts := model.Parts{}
		for _, name := range test.pchannels {
			parts.PChannels = append(parts.PChannels, &model.PChannel{Name: name})
		}
		if got := clusterKey(model.Build(parts)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestCallFailure(t *testing.T) {
	for name, test := range map[string]struct {
		code    codes.Code
		message string
		want    model.Outcome
		reason  string
	}{
		"deadline": {codes.DeadlineExceeded, "context deadline exceeded", model.TimedOut, "within 5s"},
		"unimplemented": {
			codes.Unimplemented, "unknown method X for service Y", model.Unimplemented, "unknown method X",
		},
		"no grpc": {
			codes.Unimplemented, "unexpected HTTP status code received from server: 404 (Not Found)", model.Garbled,
			"not a gRPC server",
		},
		"gateway": {
			codes.Unavailable, "unexpected HTTP status code received from server: 502 (Bad Gateway)", model.Garbled,
			"not a gRPC server",
		},
		"login":      {codes.Unauthenticated, "auth check failure", model.Denied, "auth"},
		"permission": {codes.PermissionDenied, "permission deny", model.Denied, ""},
		"too large": {
			codes.ResourceExhausted, "grpc: received message larger than max (5242880 vs. 4194304)", model.TooLarge,
			"has 5 MiB, the limit is 4 MiB",
		},
		"exhausted": {codes.ResourceExhausted, "rate limit", model.Failed, "rate limit"},
		"cut":       {codes.Unavailable, "error reading from server: EOF", model.CutOff, ""},
		"reset": {
			codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR", model.CutOff, "",
		},
		"compressed":    {codes.Internal, "grpc: Decompressor is not installed for grpc-encoding", model.Garbled, ""},
		"stale":         {codes.Unknown, "node not match[expectedNodeID=77][actualNodeID=1]", model.Stale, "77"},
		"stale, in 2.2": {codes.Unknown, "expected=1, actual=2: server ID mismatch", model.Stale, ""},
		"other cluster": {
			codes.Unknown, "cross cluster routing[expectedCluster=by-dev][actualCluster=nope]", model.OtherCluster,
			"nope",
		},
		"its own":         {codes.Unknown, "panic: boom", model.Failed, "Unknown: panic: boom"},
		"with a password": {codes.Unknown, "dial http://u:s3cr3t@h", model.Failed, "<redacted>"},
	} {
		f := callFailure(status.Error(test.code, test.message), 5*time.Second, 4<<20)
		if f.outcome != test.want || !strings.Contains(f.reason, test.reason) || strings.Contains(f.reason, "s3cr3t") {
			t.Errorf("%s: %s (%s), want %s (%s)", name, f.outcome, f.reason, test.want, test.reason)
		}
	}
}

// TestSlowResolver checks that a silent name server delays nothing beyond the deadline, whether it respects the
// context or not.
func TestSlowResolver(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	held := make(chan struct{})
	defer close(held)
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"silent": func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() },
		"stuck": func(context.Context, string, string) (net.Conn, error) {
			<-held
			return nil,
				errors.New("too late")
		},
	} {
		client, err := Open(Options{Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		client.dialer.resolver = &net.Resolver{PreferGo: true, Dial: dial}
		start := time.Now()
		r, err := client.Ask(t.Context(), model.Build(model.Parts{
			Loaded:   model.PartAll,
			Sessions: []*model.Session{{Role: "querynode", Node: 5, Address: "milvus.internal.:21123"}},
		}))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > timeout+5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if n := r.LiveNode("querynode", 5); n.Outcome != model.Unreachable ||
			!strings.Contains(n.Reason, "milvus.internal. was not resolved within 300ms") {
			t.Errorf("%s: %s (%s)", name, n.Outcome, n.Reason)
		}
		// The same for other connections: HTTP servers and brokers.
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		_, err = client.dialer.dial(ctx, "milvus.internal.:9091", false)
		cancel()
		if f, ok := errors.AsType[*failure](err); !ok || f.outcome != model.Unreachable ||
			!strings.Contains(f.reason, "was not resolved") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongTexts checks that long texts from processes take bounded time and are truncated.
func TestLongTexts(t *testing.T) {
	start := time.Now()
	for _, word := range []string{
		"password=x ", "a:", "http://u:p@h ", "token: \"", "=", "{\"a\":\"password=x&", "[channel=1]",
	} {
		text := strings.Repeat(word, (2<<20)/len(word))
		if got := oneLine(text); len(got) > maxReason+3 || strings.Contains(got, "=x") || strings.Contains(got, "u:p") {
			t.Errorf("%q: %q", word, got)
		}
		for _, got := range []string{safeText(text), safePair("name", text), redact.Text(text)} {
			if strings.Contains(got, "=x") || strings.Contains(got, "u:p@") {
				t.Errorf("%q: %.100q", word, got)
			}
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	// A secret at the point of truncation is not shown in part.
	if got, want := oneLine("no\x1b]0;x\x07 pass\u00adword=sesame\u202e, \xff"),
		"no?]0;x? password="+redact.Redacted+", ?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := oneLine(strings.Repeat("x", maxProse-12) + " http://u:sesame@h"); strings.Contains(got, "ses") {
		t.Errorf("%q", got)
	}
	// JSON may be large.
	json := `{"list":[` + strings.Repeat(`{"name":"a:b=c","password":"x"},`, 50_000) + `{}]}`
	if got := safeText(json); strings.Contains(got, `"x"`) || strings.Count(got, `"a:b=c"`) != 50_000 {
		t.Errorf("large JSON: %.100s", got)
	}
}

// TestConceal checks that credentials are removed if a server returns them.
func TestConceal(t *testing.T) {
	for _, o := range []Options{{User: "root", Password: "s3cr3t-x"}, {Token: "s3cr3t-x"}} {
		text := "no user for " + o.authorization() + " (s3cr3t-x)"
		if got := o.conceal(text); got != "no user for <redacted> (<redacted>)" {
			t.Errorf("%q", got)
		}
	}
	if got := new(Options).conceal("as it is"); got != "as it is" {
		t.Errorf("%q", got)
	}
	o := Options{User: "root", Password: "s3cr3t-x"}
	answer := []byte("\x0a\x0dno s3cr3t-x or " + o.authorization())
	got := o.concealBytes(answer)
	if len(got) != len(answer) || bytes.Contains(got, []byte("s3cr3t")) ||
		bytes.Contains(got, []byte(o.authorization())) || !bytes.HasPrefix(got, []byte("\x0a\x0dno ***")) {
		t.Errorf("%q", got)
	}
	if short := (&Options{User: "root", Password: "\x0a\x0d"}); !bytes.Equal(short.concealBytes(answer), answer) {
		t.Error("bytes of an answer are taken for a password")
	}
}

// served returns a connection whose peer sends answer and closes.
func served(answer []byte) net.Conn {
	ours, theirs := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	go func() {
		_, _ = theirs.Write(answer)
		_ = theirs.Close()
	}()
	return ours
}

// through returns a relay to a proxy that sends answer and closes.
func through(t testing.TB, proxy string, answer []byte) *relay {
	t.Helper()
	r, err := parseProxy(proxy)
	if err != nil {
		t.Fatal(err)
	}
	r.connect = func(context.Context) (net.Conn, error) { return served(answer), nil }
	return r
}

// TestSOCKSReplies checks that the texts of x/net lead to the right outcomes: refused by the proxy or by the
// target.
func TestSOCKSReplies(t *testing.T) {
	for answer, want := range map[string]failure{
		"\x05\x00\x05\x01\x00\x01": {model.Unreachable, "the proxy proxy:1: it could not connect"},
		"\x05\x00\x05\x02\x00\x01": {model.Denied, "the proxy proxy:1: it does not allow this connection"},
		"\x05\x00\x05\x03\x00\x01": {model.Unreachable, "the proxy proxy:1: no route to the network"},
		"\x05\x00\x05\x04\x00\x01": {model.Unreachable, "the proxy proxy:1: no route to the host"},
		"\x05\x00\x05\x05\x00\x01": {model.Refused, "the proxy proxy:1: connection refused"},
		"\x05\x00\x05\x06\x00\x01": {model.Unreachable, "the proxy proxy:1: no connection in time"},
		"\x05\x00\x05\x08\x00\x01": {
			model.Unreachable, "the proxy proxy:1: unknown error address type not supported",
		},
		"\x05\xff":                     {model.Denied, "the proxy proxy:1: it requires other credentials"},
		"\x05\x01":                     {model.Denied, "the proxy proxy:1: it requires other credentials"},
		"\x05\x02\x01\x01":             {model.Denied, "the proxy proxy:1: it rejects the user or the password"},
		"HTTP/1.1 400 Bad Request\r\n": {model.Unreachable, "the proxy proxy:1: not a SOCKS5 server"},
		"":                             {model.Unreachable, "the proxy proxy:1: it closed the connection"},
	} {
		_, err := through(t, "socks5://ann:s3cr3t@proxy:1", []byte(answer)).dial(t.Context(), "10.0.0.1:80")
		if f, ok := errors.AsType[*failure](err); !ok || *f != want {
			t.Errorf("%q: %v, want %v", answer, err, want)
		}
	}
}
