package main

import (
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// nodeTimeout is the timeout of requests to processes in these tests. margin is the time that a command may take in
// addition: half a second, plus three seconds for a busy machine.
const (
	nodeTimeout = 2 * time.Second
	margin      = 500*time.Millisecond + 3*time.Second
)

// closedAddress is an address at which nothing listens. A port that was free earlier could be in use by now.
const closedAddress = "127.0.0.1:1"

// liveFlags returns the flags for commands on the fakes. They set a short node timeout and disable the window.
func (f *fakes) liveFlags() []string {
	return []string{"--node-timeout", nodeTimeout.String(), "--window", "0", "--from", f.from}
}

// servedSegments returns the number of sealed segments by query node that get nodes and balance show for t7.
func servedSegments() map[string]string {
	return map[string]string{"querynode-10": "10", "querynode-13": "10", "querynode-14": "10", "querynode-19": "3"}
}

// wantUnknownNodes runs the commands that query processes on the fakes of t7. It checks that the query nodes in blind
// are unknown for the reason in outcome ("refused", or "refused: dial ..."), that all others are known, and that
// the commands end in time.
func wantUnknownNodes(t *testing.T, f *fakes, outcome string, blind ...string) {
	t.Helper()
	before := runtime.NumGoroutine()
	want := servedSegments()
	word, _, _ := strings.Cut(outcome, ":")
	for _, name := range blind {
		want[name] = "<nil> " + word
	}
	ends := f.runConcurrently(t,
		commandRun{cli.ExitOK, []string{"get", "nodes", "role=querynode", "-o", "json", "--live"}},
		commandRun{cli.ExitIncomplete, []string{"balance", "-o", "json", "--strict"}},
		commandRun{cli.ExitIncomplete, []string{"diagnose", "-o", "json", "--strict", "--fail-on", "never"}})
	for i, e := range ends {
		if e.took > nodeTimeout+margin {
			t.Errorf("line %d took %v", i, e.took)
		}
		for _, name := range blind {
			containsAll(t, e.err, "incomplete: "+name+": "+outcome)
		}
	}
	var nodes struct{ Items []map[string]any }
	decodeJSON(t, ends[0].stdout, &nodes)
	got := map[string]string{}
	for _, n := range nodes.Items {
		got[str(n["name"])] = strings.TrimSuffix(str(n["sealed_segments"]), " ")
		if n["answer"] != "answered" {
			got[str(n["name"])] = "<nil> " + str(n["answer"])
			if n["sealed_segments"] != nil || n["leads"] != nil || str(n["answer_reason"]) == "" {
				t.Errorf("%s did not answer, and is known: %v", n["name"], n)
			}
		}
	}
	same(t, "sealed segments by node", got, want)
	var b struct {
		UnknownNodes []map[string]any `json:"unknown_nodes"`
		Nodes        []map[string]any
	}
	decodeJSON(t, ends[1].stdout, &b)
	var unknown []string
	for _, n := range b.UnknownNodes {
		unknown = append(unknown, "querynode-"+str(n["node"]))
	}
	slices.Sort(unknown)
	same(t, "unknown nodes of the balance", unknown, blind)
	d := &diagnosis1{}
	decodeJSON(t, ends[2].stdout, d)
	for _, name := range blind {
		told := slices.ContainsFunc(d.Items, func(x finding1) bool {
			return (x.Check == "node-unreachable" || x.Check == "stale-session") && x.names(name)
		})
		if !told {
			t.Errorf("no finding about %s:\n%s", name, strings.Join(messages(d), "\n"))
		}
	}
	for _, c := range d.Checks {
		if c.Status == "failed" {
			t.Errorf("%s failed: %s", c.Check, c.Reason)
		}
	}
	wantNoGoroutine(t, before)
}

// commandRun is a command line that runs concurrently with others, and its expected exit code.
type commandRun struct {
	code int
	args []string
}

// runConcurrently runs command lines on the fakes concurrently, because each waits for the same timeout.
func (f *fakes) runConcurrently(t *testing.T, lines ...commandRun) []cmdResult {
	t.Helper()
	ends := make([]cmdResult, len(lines))
	var running sync.WaitGroup
	for i, line := range lines {
		running.Go(func() { ends[i] = terminal{}.run(t.Context(), t, append(line.args, f.liveFlags()...)...) })
	}
	running.Wait()
	for i, e := range ends {
		if e.code != lines[i].code {
			t.Fatalf("kitescope %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(lines[i].args, " "), e.code,
				lines[i].code, head(e.stdout), e.err)
		}
	}
	return ends
}

// wantNoGoroutine waits until at most before goroutines are left. The test fails after 10 s.
func wantNoGoroutine(t *testing.T, before int) {
	t.Helper()
	for begun := time.Now(); runtime.NumGoroutine() > before; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, and there were %d:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestBadNodes replaces one query node of t7 by a faulty server and checks the output.
func TestBadNodes(t *testing.T) { // not parallel, because it counts goroutines
	f := capturedT7(t, nil)
	good := map[string]string{}
	for _, s := range clusterOf(t, f.from).Sessions {
		good[s.Name()] = s.Address
	}
	huge, sent := livetest.Huge(t, 512<<20)
	for _, fault := range []struct{ name, address, outcome string }{
		{"never answers", livetest.Silent(t), "timed out"},
		{"takes no connection", livetest.Blackhole(t), "unreachable"},
		{"refuses", closedAddress, "refused"},
		{"garbage", livetest.Garbage(t, "SSH-2.0-OpenSSH_9.6\r\n"), "garbled"},
		{"no message", livetest.NoMessage(t), "garbled"},
		{"a web server", livetest.NotGRPC(t), "garbled"},
		{"512 MB", huge, "too large: the answer has 512 MiB, the limit is "},
		{"closes at once", livetest.HangsUp(t), "cut off"},
		{"closes in the middle", livetest.CutOff(t), "cut off"},
		{"another node answers", good["querynode-10"], "stale"},
		{"another cluster answers", otherCluster(t), "other cluster"},
		{"TLS only", livetest.TLSOnly(t, livetest.NewAuthority(t).Server(t, nil, "127.0.0.1")), "denied"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			f.move(t, "querynode-13", fault.address)
			wantUnknownNodes(t, f, fault.outcome, "querynode-13")
		})
	}
	if n := sent(); n > 64<<20 {
		t.Errorf("%d MiB of the huge answers were taken", n>>20)
	}
	t.Run("half are dead", func(t *testing.T) {
		f.move(t, "querynode-13", closedAddress)
		f.move(t, "querynode-19", closedAddress)
		f.move(t, "indexnode-15", livetest.Silent(t))
		f.move(t, "proxy-18", livetest.Silent(t))
		f.move(t, "datacoord-11", livetest.Silent(t))
		wantUnknownNodes(t, f, "refused", "querynode-13", "querynode-19")
	})
	t.Run("all are dead", func(t *testing.T) {
		for name := range good {
			f.move(t, name, closedAddress)
		}
		e := kitescope(t, cli.ExitOK, append([]string{"get", "nodes", "--live"}, f.liveFlags()...)...)
		containsAll(t, e.err, "datacoord-11: refused", "and 6 more sessions")
		containsAll(t, e.stdout, "refused")
		e = kitescope(t, cli.ExitIncomplete,
			append([]string{"diagnose", "--all", "--strict", "--fail-on", "never"}, f.liveFlags()...)...)
		containsAll(t, e.stdout, "0 of 11 sessions responded", "could not run: no query node reported what it serves")
	})
}

// otherCluster starts another cluster with the same ServerIDs and returns the address of its querynode-13.
func otherCluster(t *testing.T) string {
	t.Helper()
	records, opts := recordingOf(t, "cluster-2.3.5-t7")
	opts.Cluster = "their-prod"
	servers, err := recorded.Start(records, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	at := slices.IndexFunc(records, func(r live.Record) bool {
		return r.Role == "querynode" && r.Node == 13 && r.Address != ""
	})
	address, _ := servers.Address(records[at].Address)
	return address
}

// TestWrongCertificate checks processes that use TLS with a valid certificate, an untrusted one, or one for
// another name.
func TestWrongCertificate(t *testing.T) {
	ours, theirs := livetest.NewAuthority(t), livetest.NewAuthority(t)
	f := capturedT7(t, func(o *recorded.Options) { o.TLS = ours.Server(t, nil, "127.0.0.1") })
	for _, test := range []struct {
		name  string
		flags []string
		code  int
		says  string
	}{
		{"right", []string{"--milvus-ca", ours.File(t)}, cli.ExitOK, ""},
		{"not verified", []string{"--milvus-insecure"}, cli.ExitOK, ""},
		{
			"not trusted",
			[]string{"--milvus-ca", theirs.File(t)},
			cli.ExitIncomplete,
			"incomplete: datacoord-11: denied: ",
		},
		{
			"another name",
			[]string{"--milvus-ca", ours.File(t), "--milvus-server-name", "milvus.prod"},
			cli.ExitIncomplete, "milvus.prod",
		},
		{"plaintext", nil, cli.ExitIncomplete, "incomplete: datacoord-11: denied: the server requires TLS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			line := append([]string{"get", "nodes", "role=querynode", "--live", "--strict", "-o", "json"},
				test.flags...)
			e := kitescope(t, test.code, append(line, "--node-timeout", "20s", "--window", "0", "--from", f.from)...)
			containsAll(t, e.err, test.says)
			if known := strings.Contains(e.stdout, `"sealed_segments":10`); known != (test.code == cli.ExitOK) {
				t.Errorf("known %v:\n%s", known, head(e.stdout))
			}
			if e.took > 20*time.Second {
				t.Errorf("took %v: the deadline was waited for", e.took)
			}
		})
	}
}

// TestEtcdStopsDuringCommand checks commands while etcd stops after the metadata were read, during the requests to the
// processes. A bundle that cannot be completed leaves no file.
func TestEtcdStopsDuringCommand(t *testing.T) { //nolint:tparallel // not beside others: how long it takes is bounded
	files := newFiles(t)
	t.Cleanup(func() { files.wantNone(t) })
	for name, line := range map[string][]string{
		"diagnose": {"diagnose", "--all", "-o", "json", "--fail-on", "never"},
		"get":      {"get", "nodes", "-o", "json", "--live"},
		"balance":  {"balance", "-o", "json"},
		"save":     {"snapshot", "save", files.path("x.kite"), "--live", "--timeout", "3s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := capturedT7(t, nil)
			f.stopEtcdOnCall(t)
			e := f.run(t,
				append(line, "--strict", "--node-timeout", nodeTimeout.String(), "--window", "1s", "--from", f.from)...)
			if name == "save" {
				if e.code != cli.ExitFailed {
					t.Errorf("exit %d", e.code)
				}
				containsAll(t, e.err, "kitescope: save ", "x.kite")
				return
			}
			if e.code != cli.ExitIncomplete || e.took > nodeTimeout+time.Second+margin {
				t.Errorf("exit %d after %v", e.code, e.took)
			}
			containsAll(t, e.err, "incomplete: proxy-18: timed out")
			switch name {
			case "diagnose":
				d := &diagnosis1{}
				decodeJSON(t, e.stdout, d)
				same(t, "watch-livelock", d.status("watch-livelock"),
					"skipped not fully checked: write rates of keys other than watch records: etcd was not watched")
				containsAll(t, strings.Join(messages(d), "\n"), "querynode-19 serves 3 of 32 segments", "proxy-18")
			case "get":
				containsAll(t, e.stdout, `"name":"querynode-19"`, `"sealed_segments":3`)
			case "balance":
				containsAll(t, e.stdout, `"asked": true`, `"growing_rows":6974`)
			}
		})
	}
}

// TestSilentEtcd checks that an etcd without a responding member is reported and exits 4 under --strict. A
// refusal counts as a response.
func TestSilentEtcd(t *testing.T) {
	for _, test := range []struct {
		problem string
		code    int
	}{
		{"no response from here: connection refused", cli.ExitIncomplete},
		{"no response from here: etcdserver: permission denied", cli.ExitOK},
		{"", cli.ExitOK},
	} {
		var errs syncBuffer
		a := &cli.App{Streams: &cli.Streams{Err: &errs}, Flags: cli.GlobalFlags{Strict: true}}
		c := model.Build(model.Parts{}).
			WithEtcd(&model.Etcd{Members: []model.EtcdMember{{Endpoint: "http://e:2379", Problem: test.problem}}})
		if code := cli.ExitCode(t.Context(), a.Completeness(c)); code != test.code ||
			(code == cli.ExitIncomplete) != strings.Contains(errs.String(),
				"incomplete: etcd is not responding: connection refused") {
			t.Errorf("%q: exit %d: %s", test.problem, code, &errs)
		}
	}
}

// stopEtcdOnCall replaces the proxy by a server that never responds, and stops etcd on the first call to it.
func (f *fakes) stopEtcdOnCall(t *testing.T) {
	t.Helper()
	f.onCall(t, "proxy-18", f.etcd.Stop)
}

// onCall replaces the process of a session by a server that never responds. The first call to it runs consequence.
func (f *fakes) onCall(t *testing.T, session string, consequence func()) {
	t.Helper()
	first := sync.OnceFunc(func() { go consequence() })
	f.move(t, session, livetest.Each(t, func(conn net.Conn) {
		first()
		_, _ = io.Copy(io.Discard, conn)
	}))
}
