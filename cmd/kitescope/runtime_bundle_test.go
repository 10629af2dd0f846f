package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/model"
	"kitescope/inspect/source/sourcetest"
	"kitescope/inspect/view"
)

// saveLive saves a bundle of the fakes with their responses and returns its path.
func saveLive(t *testing.T, f *fakes) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.kite")
	e := f.run(t, "snapshot", "save", path, "--live", "--window", "0", "--strict", "--from", f.from)
	if e.code != cli.ExitOK {
		t.Fatalf("exit %d: %s", e.code, e.err)
	}
	containsAll(t, e.err, "node answers", "secrets redacted")
	return path
}

// compareBundle saves a bundle with the responses of the processes, and compares the output of every command on
// the bundle with its output on the live cluster.
func compareBundle(t *testing.T, f *fakes) {
	t.Helper()
	compare(t, f, []string{"--live", "--window", "0", "--from", f.from}, []string{"--from", saveLive(t, f)})
}

// compare checks that every document about the fakes is the same with the flags in live and in bundle.
func compare(t *testing.T, f *fakes, live, bundle []string) {
	t.Helper()
	compared := 0
	once := terminal{now: f.now, once: &readOnce{}}
	for _, line := range everyDocument(t, f, once) {
		want := once.run(t.Context(), t, append(line, live...)...)
		got := once.run(t.Context(), t, append(line, bundle...)...)
		if want.code != got.code || want.code != cli.ExitOK && want.code != cli.ExitFindings {
			t.Errorf("%s: exit %d live, %d from the bundle\n%s%s", strings.Join(line, " "), want.code, got.code,
				want.err, got.err)
			continue
		}
		same(t, strings.Join(line, " "), withoutOrigin(t, got.stdout), withoutOrigin(t, want.stdout))
		compared++
	}
	t.Logf("%d documents are the same", compared)
}

// everyDocument returns command lines that together show all data of a cluster as JSON.
func everyDocument(t *testing.T, f *fakes, tt terminal) [][]string {
	t.Helper()
	lines := [][]string{
		{"overview", "-o", "json"},
		{"balance", "--plan", "-o", "json"},
		{"balance", "--by", "memory", "-o", "json"},
		{"diagnose", "--all", "-o", "json"},
	}
	for _, c := range f.cluster.Collections {
		if c.State == "Created" {
			lines = append(lines, []string{"tree", c.ID.String(), "--all", "-o", "json"})
		}
	}
	for _, r := range view.Resources {
		lines = append(lines, []string{"get", r.Name, "-o", "json"})
		for _, name := range tt.namesOf(t, f.from, r, 3) {
			lines = append(lines, []string{"describe", r.Name, name, "-o", "json"})
		}
	}
	return lines
}

// namesOf returns the ids of the first objects of a resource. The parameter most is the maximum number.
func (tt terminal) namesOf(t *testing.T, from string, r *view.Resource, most int) []string {
	t.Helper()
	var names []string
	for i, word := range strings.Fields(tt.mustRun(t, cli.ExitOK, "get", r.Name, "-o", "name", "-q", "--live",
		"--window", "0", "--from", from).stdout) {
		if i == most {
			break
		}
		_, name, _ := strings.Cut(word, "/")
		names = append(names, name)
	}
	return names
}

// withoutOrigin decodes a document and removes its origin and the response times, which differ between sources.
func withoutOrigin(t *testing.T, text string) any {
	t.Helper()
	var document any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&document); err != nil {
		t.Fatalf("%v:\n%s", err, head(text))
	}
	cutOrigin(document)
	return document
}

// isExtraMetricsCall reports whether item is a GetMetrics call for an additional type. A process occasionally gets
// three such calls, and a bundle needs other types than a command (inspect/session tests the content of a
// bundle).
func isExtraMetricsCall(item any) bool {
	call, ok := item.(map[string]any)
	return ok && call["method"] == "GetMetrics" && call["about"] != "" && call["about"] != nil
}

func cutOrigin(node any) {
	switch node := node.(type) {
	case map[string]any:
		if runtime, ok := node["runtime"].(map[string]any); ok {
			for _, key := range []string{"kind", "location", "from", "to"} {
				delete(runtime, key)
			}
		}
		delete(node, "source")
		delete(node, "took_seconds")
		if text, ok := node["message"].(string); ok { // the clock's owner differs
			node["message"] = strings.ReplaceAll(text, "the clock of the machine that saved the bundle",
				"this machine's clock")
		}
		for _, key := range []string{"db_size_bytes", "db_in_use_bytes"} { // etcd's sizes change between requests
			delete(node, key)
		}
		for key, child := range node {
			if list, ok := child.([]any); ok {
				node[key] = slices.DeleteFunc(list, isExtraMetricsCall)
			}
			cutOrigin(child)
		}
	case []any:
		for _, child := range node {
			cutOrigin(child)
		}
	}
}

// TestBundleOfACapture checks that the captured cluster t7, queried over loopback, gives the same output as
// its bundle and as a bundle made from that bundle.
func TestBundleOfACapture(t *testing.T) {
	f := capturedT7(t, nil)
	first := saveLive(t, f)
	second := filepath.Join(t.TempDir(), "second.kite")
	kitescope(t, cli.ExitOK, "snapshot", "save", second, "--strict", "--from", first)
	live := []string{"--live", "--window", "0", "--from", f.from}
	compare(t, f, live, []string{"--from", first})
	for _, line := range [][]string{
		{"diagnose", "-o", "json"},
		{"balance", "-o", "json"},
		{"get", "calls", "-o", "json"},
		{"overview", "-o", "json"},
	} {
		want := f.run(t, append(line, "--from", first)...)
		got := f.run(t, append(line, "--from", second)...)
		same(t, strings.Join(line, " "), withoutOrigin(t, got.stdout), withoutOrigin(t, want.stdout))
	}
	// Compare text output without the lines that name the source. Markdown escapes the address so that it is not
	// a link.
	inMarkdown := strings.ReplaceAll(f.from, "://", "&#58;//")
	for _, line := range [][]string{
		{"get", "nodes", "-o", "wide"},
		{"get", "nodes", "-o", "csv"},
		{"get", "replicas"},
		{"describe", "node", "querynode-13"},
		{"balance", "--plan"},
		{"balance", "-o", "csv"},
		{"diagnose", "-o", "wide"},
		{"diagnose", "-o", "csv"},
		{"diagnose", "-o", "markdown"},
		{"tree", "docs_hnsw_cos"},
	} {
		want := f.run(t, append(line, live...)...)
		got := f.run(t, append(line, "--from", first)...)
		same(t, strings.Join(line, " "), linesWithout(got.stdout, first, "(bundle)"),
			linesWithout(want.stdout, f.from, inMarkdown, "0s old"))
	}
}

// linesWithout returns the text without the lines that contain one of the words.
func linesWithout(text string, words ...string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestRates checks that CPU usage is known if there is time between two scrapes, and that a bundle keeps both
// scrapes.
func TestRates(t *testing.T) {
	t.Parallel() // it spends most of its time waiting
	records, opts := recordingOf(t, "cluster-2.3.5-healthy-load")
	opts.Recorded = t7Time()
	f := startFakes(t, sourcetest.ReadDump(t, capture("cluster-2.3.5-healthy-load")).WithPrefix("by-dev/"),
		func(*model.Cluster) []live.Record {
			return records
		}, opts)
	path := filepath.Join(t.TempDir(), "live.kite")
	clock := terminal{now: time.Now}
	for _, line := range [][]string{
		{"get", "nodes", "role=querynode", "-o", "json", "--live", "--window", "1s", "--from", f.from},
		{"snapshot", "save", path, "--live", "--window", "1s", "--from", f.from},
		{"get", "nodes", "role=querynode", "-o", "json", "--from", path},
	} {
		e := clock.run(t.Context(), t, line...)
		if e.code != cli.ExitOK {
			t.Fatalf("%v: exit %d: %s", line, e.code, e.err)
		}
		if line[0] == "snapshot" {
			continue
		}
		var list struct{ Items []map[string]any }
		decodeJSON(t, e.stdout, &list)
		for _, n := range list.Items {
			if cpu, err := n["cpu_percent"].(json.Number).Float64(); err != nil || cpu <= 0 || cpu > 400 {
				t.Errorf("%v: CPU of %v is %v", line, n["name"], n["cpu_percent"])
			}
		}
	}
}

// TestContextKeepsNodeSettings checks that every command uses the node settings of a context, and that a flag overrides
// them.
func TestContextKeepsNodeSettings(t *testing.T) {
	f := startFakesOf(t, "2.6", livetest.Options{})
	var way []string
	for _, s := range f.cluster.Sessions { // back to the addresses of their own network, which is unreachable
		host, _, _ := strings.Cut(s.Address, ":")
		to, _ := f.servers.Address(s.Address)
		way = append(way, "--map", s.Address+"="+to, "--map", host+"=127.0.0.1")
		f.move(t, s.Name(), s.Address)
	}
	env := map[string]string{
		"KITESCOPE_CONFIG": filepath.Join(t.TempDir(), "config.yaml"), "LAB_PW": "sesame-of-milvus",
	}
	tt := terminal{env: env}
	add := append([]string{
		"context", "add", "lab", "--from", f.from, "--milvus-user", "root", "--milvus-password-env", "LAB_PW",
	}, way...)
	if e := tt.run(t.Context(), t, add...); e.code != cli.ExitOK {
		t.Fatal(e.err)
	}
	text, err := os.ReadFile(env["KITESCOPE_CONFIG"])
	if err != nil {
		t.Fatal(err)
	}
	containsAll(t, string(text), "nodes:", "map:", "password_env: LAB_PW")
	if strings.Contains(string(text), "sesame") {
		t.Errorf("the file holds a password:\n%s", text)
	}
	for _, line := range [][]string{
		{"get", "nodes", "--live", "--strict", "--window", "0"},
		{"balance", "--strict", "--context", "lab", "--window", "0"},
		{"snapshot", "save", filepath.Join(t.TempDir(), "x.kite"), "--live", "--strict", "--window", "0"},
		{"get", "calls", "method=GET_/metrics", "--window", "0"},
	} {
		if e := tt.run(t.Context(), t, line...); e.code != cli.ExitOK || strings.Contains(e.err, "incomplete") {
			t.Errorf("%v: exit %d: %s", line, e.code, e.err)
		}
	}
	// The --map flag has another target and replaces the map of the context.
	e := tt.run(t.Context(), t, "get", "nodes", "--live", "--node-timeout", "1s", "--window", "0", "--map",
		"10.0.0.4="+strings.TrimSuffix(livetest.Refused(t), "x"), "--strict")
	if e.code != cli.ExitIncomplete {
		t.Errorf("exit %d: %s", e.code, e.err)
	}
	containsAll(t, e.err, "querynode-4: refused")
}

// TestCopiedCommand checks that the command line copied from the UI shows the same data of the processes as the UI.
func TestCopiedCommand(t *testing.T) {
	t.Parallel() // it spends most of its time waiting
	f := startFakesOf(t, "2.5", livetest.Options{})
	recording := capture("cluster-2.3.5-t7", "runtime.jsonl.gz")
	for name, test := range map[string]struct {
		from  string
		nodes cli.NodeFlags
		says  string
		lacks string
	}{
		"live": {
			f.from,
			cli.NodeFlags{
				Live:     true,
				NodeSpec: cli.NodeSpec{Map: []string{"10.9.9.9=127.0.0.1"}, Proxy: "socks5://me:s3cr3t@h:1"},
			},
			`"answer":"answered"`, "s3cr3t",
		},
		"left alone": {f.from, cli.NodeFlags{Live: false}, `"name":"querynode-4"`, `"answer":"answered"`},
		"a recording": {
			capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"),
			cli.NodeFlags{Live: true, Recordings: []string{recording}},
			`"sealed_segments":3`, "--live",
		},
		"a file": {
			capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"),
			cli.NodeFlags{Live: true},
			`"name":"querynode-19"`,
			`"answer":`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &cli.App{Streams: &cli.Streams{}}
			c := cli.Connection{ContextSpec: cli.ContextSpec{From: test.from}}
			words := strings.Fields(strings.TrimPrefix(a.CommandFor(c), cli.ProgramName()) + " " +
				test.nodes.CommandFor(c))
			e := kitescope(t, cli.ExitOK, slices.Concat(words, []string{"get", "nodes", "-o", "json"})...)
			containsAll(t, e.stdout, test.says)
			if strings.Contains(strings.Join(words, " ")+e.stdout, test.lacks) {
				t.Errorf("%v has %q:\n%s", words, test.lacks, head(e.stdout))
			}
		})
	}
}
