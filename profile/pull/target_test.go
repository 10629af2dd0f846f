package pull_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/pull"
)

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		word, node, url string
		only            pull.Kind
		fails           string
	}{
		{"host:6060", "host:6060", "http://host:6060/debug/pprof", "", ""},
		{"http://host", "host", "http://host/debug/pprof", "", ""},
		{"http://host/", "host", "http://host/debug/pprof", "", ""},
		{"[::1]:6060", "[::1]:6060", "http://[::1]:6060/debug/pprof", "", ""},
		{"https://host/api/debug/pprof/", "host", "https://host/api/debug/pprof", "", ""},
		{"http://host/profiles/", "host", "http://host/profiles", "", ""},
		{"http://host/debug/pprof/profile", "host", "http://host/debug/pprof/profile", "cpu", ""},
		{"http://host/debug/pprof/profile?seconds=3", "host", "http://host/debug/pprof/profile?seconds=3", "cpu", ""},
		{"http://host/debug/pprof/heap?seconds=3", "host", "http://host/debug/pprof/heap?seconds=3", "heap-delta", ""},
		{"http://host/debug/fgprof#x", "host", "http://host/debug/fgprof", "fgprof", ""},
		{"a-1=http://u:p@host/x/mutex", "a-1", "http://host/x/mutex", "mutex", ""},
		{"host:1/a=b", "host:1", "http://host:1/a=b", "a_b", ""},
		{"http://u:p@host:1/%zz", "", "", "", "http://host:1"},
		{"ftp://host", "", "", "", "expected http"},
		{"http://", "", "", "", "no host"},
		{"http:///debug", "", "", "", "no host"},
		{"http://host/debug/pprof?seconds=3", "", "", "", "folder of profiles"},
		{"http://host/debug/pprof/heap?debug=1", "", "", "", "debug="},
		{"", "", "", "", "no host"},
		{"before", "", "", "", "no port"}, // usually the name of a folder, not of a host
		{"./out/before", "", "", "", "no port"},
		{"/tmp/before", "", "", "", "no port"},
		{"case.kite", "", "", "", "no port"},
		{"proxy=host/debug/pprof", "", "", "", "no port"},
		{"http://host/heap?seconds=1.5", "", "", "", "whole number"},
		{"http://host/heap?seconds=-1", "", "", "", "whole number"},
		{"http://u:1/p@host/heap", "", "", "", "%2F"},
		{"http://host/a%40b/heap", "host", "http://host/a%40b/heap", "heap", ""},
	} {
		got, err := pull.ParseTarget(c.word, "")
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "u:p") {
				t.Errorf("%q: error %v, want %q", c.word, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.word, err)
			continue
		}
		if got.Node != c.node || got.URL.String() != c.url || got.Only != c.only {
			t.Errorf("%q: %s %s %q, want %s %s %q", c.word, got.Node, got.URL, got.Only, c.node, c.url, c.only)
		}
	}
}

func TestWantsPassword(t *testing.T) {
	for word, want := range map[string]bool{
		"host:1": false, "ann@host:1": true, "http://ann@host/x": true, "http://ann:x@host": false,
		"http://ann:@host": false, "n=http://ann@host": true,
	} {
		if got := pull.WantsPassword(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

func TestRedactWord(t *testing.T) {
	for word, want := range map[string]string{
		"http://host/x":              "http://host/x",
		"http://a:b@host/x":          "http://host/x",
		"http://a:b/c@host/x":        "http://host/x",
		"n=https://a:b@host:1/x?k=v": "n=https://host:1/x",
		"a:b@host:1":                 "host:1",
		"etcd://a:b@h1,h2/root":      "etcd://h1,h2/root",
		"http://a:b@c@host":          "http://host",
		"http://a:b?c@host/x":        "http://<redacted>",
		"http://a:b#c@host/x":        "http://<redacted>",
		"http://a:b@/c@host/x":       "http://host/x",
		"a:b://c@host/x":             "host/x",
		"http://host/x?k=a@b":        "http://<redacted>",
		"host/x?token":               "host/x",
		"http://host/x#token":        "http://host/x",
		"n=a:b@host:1":               "host:1",
	} {
		if got := pull.RedactWord(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestParseKinds(t *testing.T) {
	got, err := pull.ParseKinds("cpu, HEAP,allocs-delta,profile,trace")
	if diff := cmp.Diff([]pull.Kind{"cpu", "heap", "allocs-delta", "trace"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, list := range []string{"", "cpu,", "cpu-delta", "trace-delta", "-delta", "everything"} {
		if _, err := pull.ParseKinds(list); err == nil || !strings.Contains(err.Error(), "expected some of cpu") {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// TestNamesClash checks that processes with the same name get distinct names, and that a repeated route is taken once.
func TestNamesClash(t *testing.T) {
	s := start(t, realServer(""))
	word := strings.TrimPrefix(s.URL, "http://")
	twin := start(t, realServer(""))
	named := func(name, url string) pull.Target {
		got := target(t, url)
		got.Node = name
		return got
	}
	dir := t.TempDir()
	m, err := pull.Run(t.Context(), []pull.Target{
		named("q", s.URL), named("q", twin.URL), target(t, s.URL), named("Q", s.URL+"/debug/pprof/heap"),
		target(t, word+"/debug/pprof/heap?gc=1"), named("../../etc", s.URL+"/debug/pprof/heap?gc=0"),
	}, pull.Options{Kinds: []pull.Kind{pull.Heap}}, dir)
	if err != nil || m.Failed() > 0 {
		t.Fatalf("%v: %+v", err, m)
	}
	nodes, files := map[string]bool{}, map[string]bool{}
	for _, e := range m.Profiles {
		nodes[e.Node], files[strings.ToLower(e.File)] = true, true
	}
	if len(m.Profiles) != 5 || len(nodes) != 5 || len(files) != 5 {
		t.Errorf("nodes %v, files %v: want five of each (one URL was named twice)", nodes, files)
	}
	noLeftovers(t, dir, m)
}
