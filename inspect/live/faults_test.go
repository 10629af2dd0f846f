package live_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	_ "google.golang.org/grpc/encoding/gzip" // as in the etcd client: grpc would decompress

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

const tls13Alert = "\x15\x03\x03\x00\x02\x02\x28" // handshake_failure

// TestFaults replaces one query node by each kind of faulty server.
func TestFaults(t *testing.T) {
	const timeout = 4 * time.Second
	trusted := livetest.NewAuthority(t)
	faults := map[string]struct {
		address string
		outcome model.Outcome
		reason  string
		quick   bool // well before the deadline
	}{
		"refused":      {livetest.Refused(t), model.Refused, "refused", true},
		"blackhole":    {livetest.Blackhole(t), model.Unreachable, "no connection within 4s", false},
		"no such host": {"no-such-host.invalid:21123", model.Unreachable, "", true},
		"no address":   {"nonsense", model.Unreachable, "host:port", true},
		"silent":       {livetest.Silent(t), model.TimedOut, "no response within 4s", false},
		"garbage":      {livetest.Garbage(t, "SSH-2.0-OpenSSH_9.6\r\n"), model.Garbled, "SSH-2.0", true},
		"an HTTP/1 server": {
			livetest.Garbage(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), model.Garbled, "HTTP/1.1", true,
		},
		"a TLS alert":           {livetest.Garbage(t, tls13Alert), model.Denied, "TLS", false},
		"a web server":          {livetest.NotGRPC(t), model.Garbled, "not a gRPC server", true},
		"bytes that say naught": {livetest.NoMessage(t), model.Garbled, "", true},
		"packed, unasked": {
			livetest.Compressed(t), model.Garbled, "the answer is packed, but packing was not requested", true,
		},
		"no port":               {"10.1.2.3", model.Unreachable, "expected host:port", true},
		"no host":               {":21123", model.Unreachable, "no host", true},
		"IPv6 without brackets": {"fd00::7:21123", model.Unreachable, "has brackets", true},
		"a zone":                {"[fe80::1%nowhere]:21123", model.Unreachable, "", true},
		"another protocol":      {"a\r\nHost:b:1", model.Unreachable, "is not an address", true},
		"hangs up":              {livetest.HangsUp(t), model.CutOff, "closed the connection", true},
		"cut off":               {livetest.CutOff(t), model.CutOff, "", true},
		"TLS only": {
			livetest.TLSOnly(t, trusted.Server(t, nil, "127.0.0.1")), model.Denied, "requires TLS", true,
		},
	}
	served := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	before := runtime.NumGoroutine()
	t.Run("side by side", func(t *testing.T) {
		for name, fault := range faults {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := livetest.Replace(served, map[string]string{"querynode-101": fault.address})
				patience := timeout
				if fault.quick {
					patience = unhurried // the deadline is not tested here
				}
				punctual := livetest.Punctual(t)
				start := time.Now()
				r := ask(t, c, live.Options{Timeout: patience})
				took := time.Since(start)
				wantOutcome(t, r, "querynode", 101, fault.outcome, fault.reason)
				if n := r.LiveNode("querynode", 101); n.Distribution != nil || n.Config != nil {
					t.Error("a node that answered nothing is known")
				}
				for _, id := range []model.NodeID{100, 102} {
					if n := r.LiveNode("querynode", id); n.Distribution == nil || n.Config == nil || n.Process == nil {
						t.Errorf("%s: %s (%s): not asked as before", n.Name(), n.Outcome, n.Reason)
					}
				}
				if fault.quick && took > patience/2 ||
					!fault.quick && took > patience+1500*time.Millisecond && punctual() {
					t.Errorf("took %v", took)
				}
			})
		}
	})
	wantGoroutines(t, before)
}

// TestTooLarge checks that a response over the limit is not read, and that the limit is named.
func TestTooLarge(t *testing.T) {
	address, sent := livetest.Huge(t, 512<<20)
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	c = livetest.Replace(c, map[string]string{"querynode-101": address})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := ask(t, c, live.Options{MaxResponse: 8 << 20})
	runtime.ReadMemStats(&after)
	wantOutcome(t, r, "querynode", 101, model.TooLarge, "has 512 MiB, the limit is 8 MiB")
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d MiB were allocated", grown>>20)
	}
	if n := sent(); n > 32<<20 {
		t.Errorf("%d MiB were sent", n>>20)
	}
}

// TestMetricsFaults checks that a faulty HTTP server affects only its own data.
func TestMetricsFaults(t *testing.T) {
	t.Parallel()
	huge, _ := livetest.Huge(t, 512<<20)
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	was := ask(t, c, live.Options{}).LiveNode("querynode", 101).Process.Address
	for name, fault := range map[string]struct {
		address string
		outcome model.Outcome
		reason  string
	}{
		"refused": {livetest.Refused(t), model.Refused, ""},
		"silent":  {livetest.Silent(t), model.TimedOut, "no response within 4s"},
		"garbage": {livetest.Garbage(t, "\x00\x01\x02 what\r\n\r\n"), model.Garbled, ""},
		"a page":  {livetest.NotGRPC(t), model.Garbled, ""},
		"cut off": {livetest.CutOff(t), model.CutOff, "closed"},
		"huge":    {huge, model.TooLarge, "limit is 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := unhurried
			if fault.outcome == model.TimedOut {
				patience = 4 * time.Second
			}
			// The address map maps the process's HTTP port to another address.
			r := ask(t, c, live.Options{
				Timeout: patience, MaxResponse: 1 << 20, Map: map[string]string{was: fault.address},
			})
			wantOutcome(t, r, "querynode", 101, model.Answered, "")
			p := r.LiveNode("querynode", 101).Process
			if p == nil {
				t.Fatal("the process is not told of")
			}
			if p.Outcome != fault.outcome || p.Metrics != nil {
				t.Errorf("process: %s (%s), want %s", p.Outcome, p.Reason, fault.outcome)
			}
		})
	}
}

func TestStaleAndOtherCluster(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Cluster: "by-dev"})
	other := livetest.Cluster(livetest.Spec{QueryNodes: 3, Collections: 1, Segments: 9})
	other = livetest.Serve(t, other, livetest.Responses(other, livetest.Options{}),
		recorded.Options{Cluster: "their-prod"})
	addresses := map[string]string{}
	for _, s := range c.Sessions {
		if s.Name() == "querynode-100" {
			addresses["querynode-101"] = s.Address // its address was reassigned to another node
		}
	}
	for _, s := range other.Sessions {
		if s.Name() == "querynode-102" {
			addresses["querynode-102"] = s.Address // the same ServerID, in another cluster
		}
	}
	r := ask(t, livetest.Replace(c, addresses), live.Options{})
	wantOutcome(t, r, "querynode", 100, model.Answered, "")
	wantOutcome(t, r, "querynode", 101, model.Stale, "node not match")
	wantOutcome(t, r, "querynode", 102, model.OtherCluster, "cross cluster routing")
	for _, id := range []model.NodeID{101, 102} {
		if n := r.LiveNode("querynode", id); n.Distribution != nil || n.Config != nil || n.System != nil ||
			n.Process != nil {
			t.Errorf("%s: what another process says is taken for its own", n.Name())
		}
	}
}

func TestHalfDead(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	c := livetest.Cluster(livetest.Spec{QueryNodes: 40, Collections: 4, Segments: 400})
	c = livetest.Serve(t, c, livetest.Responses(c, livetest.Options{}), recorded.Options{})
	addresses, silent, hole := map[string]string{}, livetest.Silent(t), livetest.Blackhole(t)
	for i := range 20 {
		addresses["querynode-"+livetest.QueryNode(2*i).String()] = []string{silent, hole, livetest.Refused(t)}[i%3]
	}
	punctual := livetest.Punctual(t)
	start := time.Now()
	r := ask(t, livetest.Replace(c, addresses), live.Options{Timeout: timeout})
	if took := time.Since(start); took > timeout+1500*time.Millisecond && punctual() {
		t.Errorf("took %v", took)
	}
	if blind := len(r.WithoutDistribution()); blind != 20 {
		t.Errorf("%d nodes are unknown, want 20", blind)
	}
	for _, n := range r.WithoutDistribution() {
		if n.Outcome == model.Answered || n.Outcome == model.NotAsked || n.Reason == "" {
			t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
		}
	}
}

func TestTLS(t *testing.T) {
	ours, theirs := livetest.NewAuthority(t), livetest.NewAuthority(t)
	for name, test := range map[string]struct {
		server, client *tls.Config
		outcome        model.Outcome
		reason         string
	}{
		"good":       {ours.Server(t, nil, "127.0.0.1"), ours.Client(t, nil), model.Answered, ""},
		"both sides": {ours.Server(t, ours, "127.0.0.1"), ours.Client(t, ours), model.Answered, ""},
		"unknown authority": {
			theirs.Server(t, nil, "127.0.0.1"), ours.Client(t, nil), model.Denied, "certificate",
		},
		"certificate of another host": {
			ours.Server(t, nil, "10.9.9.9"), ours.Client(t, nil), model.Denied, "certificate",
		},
		"plaintext to TLS": {ours.Server(t, nil, "127.0.0.1"), nil, model.Denied, "requires TLS"},
		"TLS to plaintext": {nil, ours.Client(t, nil), model.Denied, "does not speak TLS"},
		"no certificate of our own": {
			ours.Server(t, ours, "127.0.0.1"), ours.Client(t, nil), model.Denied, "TLS handshake",
		},
		"one of another authority": {
			ours.Server(t, ours, "127.0.0.1"), ours.Client(t, theirs), model.Denied, "TLS handshake",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{TLS: test.server})
			start := time.Now()
			r := ask(t, c, live.Options{TLS: test.client, Timeout: unhurried})
			for _, s := range c.Sessions {
				wantOutcome(t, r, s.Role, s.Node, test.outcome, test.reason)
			}
			if took := time.Since(start); took > unhurried/2 {
				t.Errorf("took %v: the deadline was waited for", took)
			}
		})
	}
}

// TestTLSOfASlowServer checks that a server that is late after the handshake is reported as late, not as one
// with another protocol.
func TestTLSOfASlowServer(t *testing.T) {
	t.Parallel()
	ours := livetest.NewAuthority(t)
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{TLS: ours.Server(t, nil, "127.0.0.1")})
	over := make(chan struct{})
	defer close(over)
	moved := livetest.WithAddresses(c, func(s *model.Session) string {
		if s.Name() != "querynode-101" {
			return ""
		}
		var pieces atomic.Int32
		return livetest.Gate(t, s.Address, func() {
			if pieces.Add(1) > 1 { // after the client's hello
				<-over
			}
		})
	})
	r := ask(t, moved, live.Options{TLS: ours.Client(t, nil), Timeout: 4 * time.Second})
	wantOutcome(t, r, "querynode", 101, model.TimedOut, "connected, but no response within 4s")
	wantOutcome(t, r, "querynode", 100, model.Answered, "")
}

func TestCredentials(t *testing.T) {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, test := range map[string]struct {
		server string
		opts   live.Options
		want   model.Outcome
	}{
		"user":           {encode("root:Milvus"), live.Options{User: "root", Password: "Milvus"}, model.Answered},
		"token":          {encode("key-123"), live.Options{Token: "key-123"}, model.Answered},
		"none":           {encode("root:Milvus"), live.Options{}, model.Denied},
		"wrong password": {encode("root:Milvus"), live.Options{User: "root", Password: "sesame"}, model.Denied},
		"not asked for":  {"", live.Options{User: "root", Password: "Milvus"}, model.Answered},
	} {
		t.Run(name, func(t *testing.T) {
			c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Authorization: test.server})
			r := ask(t, c, test.opts)
			for _, s := range c.Sessions {
				wantOutcome(t, r, s.Role, s.Node, test.want, "")
			}
			if text := fmt.Sprint(r); test.opts.Password != "" && len(text) > 0 {
				for _, n := range r.Nodes {
					if n.Reason != "" && n.Reason == test.opts.Password {
						t.Error("a password is shown")
					}
				}
			}
		})
	}
}
