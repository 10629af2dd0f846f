package choose_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/choose"
	"kitescope/profile/pgo"
	"kitescope/profile/pull"
)

var testdata = filepath.Join("..", "..", "testdata", "profiles")

// chooser returns a Chooser that takes .kite files for bundles with the profiles of t3, and pulls the same
// profiles.
func chooser(t *testing.T) *choose.Chooser {
	t.Helper()
	return &choose.Chooser{
		Kind: pull.CPU,
		Stdin: func(context.Context) (io.Reader, error) {
			return os.Open(filepath.Join(testdata, "milvus-flat.folded"))
		},
		Bundle: func(_ context.Context, path string) (*pull.Record, bool, error) {
			if filepath.Ext(path) != ".kite" {
				return nil, false, nil
			}
			record, err := pull.Read(filepath.Join(testdata, "t3"))
			return record, true, err
		},
		Pull: func(_ context.Context, urls []string, dir string) (string, error) {
			if slices.Contains(urls, "http://away") {
				return "", errors.New("nobody listens")
			}
			return "pulled " + strings.Join(urls, " "), os.CopyFS(dir, os.DirFS(filepath.Join(testdata, "t3")))
		},
	}
}

// bundleFile returns the path of a file that the chooser takes for a bundle.
func bundleFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "case.kite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChoose checks which profiles are selected by words, and which arguments select each profile.
func TestChoose(t *testing.T) {
	t3, one, bundle := filepath.Join(testdata, "t3"), filepath.Join(testdata, "milvus-cpu-flat.pb.gz"), bundleFile(t)
	for _, test := range []struct {
		name  string
		words []string
		count int
		first string // words of the first profile
		named string
	}{
		{"a file", []string{one}, 1, one, one},
		{"standard input", []string{"-"}, 1, "", "-"},
		{"a folder", []string{t3}, 10, filepath.ToSlash(t3) + "/datacoord.cpu.pb.gz", t3},
		{"a file and a folder", []string{one, t3}, 11, one, one + ", " + t3},
		{"a bundle", []string{bundle}, 10, bundle + " --kind cpu --node datacoord", bundle},
		{"services", []string{"http://ann:pa55@a", "http://b"}, 10, "", "http://a, http://b"},
		{"a cluster", nil, 10, "", ""},
		{"a service after a file", []string{"http://b", one}, 11, one, "http://b, " + one},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := chooser(t).Choose(t.Context(), test.words)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := strings.Join(c.List[0].Words, " "); len(c.List) != test.count || got != test.first ||
				c.Name != test.named {
				t.Errorf("%d profiles of %q, the first is %q", len(c.List), c.Name, got)
			}
			for i := range c.List {
				if p, err := c.List[i].Read(t.Context()); err != nil || p.Origin.Name != c.List[i].Name ||
					p.Len() == 0 {
					t.Errorf("%s: %v", c.List[i].Name, err)
				}
			}
		})
	}
}

// TestChooseNothing checks the error and the hint for words without a profile, and that they contain no
// credentials.
func TestChooseNothing(t *testing.T) {
	t3 := filepath.Join(testdata, "t3")
	for _, test := range []struct {
		name, word, want, hint string
		kind                   pull.Kind
		nodes                  []string
	}{
		{name: "no such file", word: "nothing.pb.gz", want: "read nothing.pb.gz: no such file"},
		{
			name: "an address", word: "10.0.0.1:6060", want: "no such file",
			hint: "if it is a service: http://10.0.0.1:6060",
		},
		{name: "an address with a password", word: "ann:pa55@10.0.0.1:6060", want: "read 10.0.0.1:6060: no such file"},
		{name: "another kind", word: t3, kind: pull.Heap, want: "no heap profile in it", hint: "it has: --kind cpu"},
		{
			name: "another node", word: t3, kind: pull.CPU, nodes: []string{"querynode9"},
			want: `no profile of node "querynode9"`, hint: "available: datacoord, datanode",
		},
		{name: "nobody there", word: "http://away", want: "nobody listens"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := chooser(t)
			f.Kind, f.Nodes = test.kind, test.nodes
			_, err := f.Choose(t.Context(), []string{test.word})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(hints.Of(err), test.hint) {
				t.Errorf("%v; hint %q", err, hints.Of(err))
			}
			if all := err.Error() + hints.Of(err); strings.Contains(all, "pa55") {
				t.Errorf("a password in %q", all)
			}
		})
	}
}

// TestClose checks that pulled profiles are removed.
func TestClose(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c, err := chooser(t).Choose(t.Context(), []string{"http://here"})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "kitescope-*")); len(left) != 1 {
		t.Errorf("pulled into %q", left)
	}
	c.Close()
	_, _ = chooser(t).Choose(t.Context(), []string{"http://away"})
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "kitescope-*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// TestMissing checks that missing profiles are reported only if they are wanted.
func TestMissing(t *testing.T) {
	record, err := pull.Read(filepath.Join(testdata, "t3"))
	if err != nil {
		t.Fatal(err)
	}
	record.Rounds = []pull.RecordRound{{Manifest: &pull.Manifest{Profiles: []pull.Entry{
		{Node: "querynode1", Kind: pull.CPU, Outcome: pull.OK},
		{Node: "querynode2", Kind: pull.CPU, Outcome: pull.Refused, Error: "refused"},
		{Node: "querynode3", Kind: pull.CPU, Outcome: pull.Refused, Error: "refused"},
		{Node: "querynode3", Kind: pull.Heap, Outcome: pull.Refused, Error: "refused"},
	}}}}
	for _, test := range []struct {
		nodes []string
		want  string
	}{
		{nil, "there: no cpu profile of querynode2 and 1 others: refused: refused"},
		{[]string{"querynode3"}, "there: no cpu profile of querynode3: refused: refused"},
		{[]string{"querynode1"}, ""},
	} {
		f, got := chooser(t), []string(nil)
		f.Nodes = test.nodes
		f.Missing = func(m choose.Missing) {
			for _, x := range m.Failures {
				got = append(got, m.Path+": "+x.String())
			}
		}
		if _, err := f.Record(record, "there"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("nodes %q: %q, want %q", test.nodes, got, test.want)
		}
	}
}

// labelled returns the path of a file with samples of two nodes, as merging produces it.
func labelled(t *testing.T) string {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for node, value := range map[string]int64{"querynode1": 3, "querynode3": 4} {
		if err := b.Sample([]uint32{b.Frame("main.work", profile.NoMapping)}, []int64{value}, profile.Label{
			Key: profile.NodeLabel, Str: node,
		}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "all.pb.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Profile().Encode(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNodes checks that profiles are selected by node if it is known, and otherwise by the node labels of
// their samples. It covers profiles that are read alone, merged, added up and judged.
func TestNodes(t *testing.T) {
	for word, want := range map[string]int64{filepath.Join(testdata, "t3"): 404, labelled(t): 4} {
		f := chooser(t)
		f.Nodes = []string{"querynode3"}
		c, err := f.Choose(t.Context(), []string{word})
		if err != nil {
			t.Fatal(err)
		}
		count := func(what string, p *profile.Profile, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			sum := int64(0)
			for i := range p.Len() {
				sum += p.Values[i*len(p.Types)]
			}
			if sum != want {
				t.Errorf("%s, %s: %d samples, want %d", word, what, sum, want)
			}
		}
		p, err := c.Merge(t.Context(), false)
		count("merged", p, err)
		p, err = c.Merge(t.Context(), true)
		count("added up", p, err)
		inputs, err := c.Inputs(t.Context())
		count("judged", inputs[0].Profile, errors.Join(err, inputs[0].Err))
		if inputs[0].SHA256 == "" {
			t.Error("a file without a hash")
		}
	}
}

// TestMerge checks that a merge of several profiles is named after the words, and that nodes stay separate by
// their label.
func TestMerge(t *testing.T) {
	c, err := chooser(t).Choose(t.Context(), []string{filepath.Join(testdata, "t3")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Merge(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(testdata, "t3") + " (10 profiles)"; p.Origin.Name != want {
		t.Errorf("called %q, want %q", p.Origin.Name, want)
	}
	one := p.Filter(&profile.Filter{Nodes: []string{"querynode3"}})
	if one.Len() == 0 || one.Len() == p.Len() {
		t.Errorf("%d samples, %d of one node", p.Len(), one.Len())
	}
}

// TestInputs checks that a profile that cannot be judged becomes an input with its error.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	words := []string{
		filepath.Join(dir, "pre"), filepath.Join(dir, "nonsense"), filepath.Join(testdata, "milvus-cpu-flat.pb.gz"),
	}
	for path, text := range map[string]string{words[0]: "GO PREPROFILE V1\n", words[1]: "nonsense"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := chooser(t).Choose(t.Context(), words)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := c.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(inputs[0].Err, pgo.ErrPreprofile) || inputs[1].Err == nil || inputs[2].Err != nil {
		t.Errorf("errors: %v, %v, %v", inputs[0].Err, inputs[1].Err, inputs[2].Err)
	}
	if inputs[2].BuildID == "" || inputs[2].Profile == nil {
		t.Errorf("build id %q", inputs[2].BuildID)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Inputs(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
