package check

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

const docs = "470590569932652633"

func TestObjectKey(t *testing.T) {
	c := modeltest.Small()
	for _, x := range []struct{ resource, id, want string }{
		{"nodes", "querynode-6", "nodes/querynode@10.0.0.6:21123"},
		{"nodes", "querynode-99", "nodes/querynode-99"},
		{"nodes", "nonsense", "nodes/nonsense"},
		{"collections", docs, "collections/default/docs"},
		{"collections", "12", "collections/12"},
		{"load-states", docs, "load-states/default/docs"},
		{"databases", "2", "databases/tenant_a"},
		{"partitions", "470590569932652700", "partitions/default/docs/2026"},
		{"indexes", "470590569932652801", "indexes/default/docs/vec_hnsw"},
		{"replicas", "470590570311974920", "replicas/default/docs/rg_a"},
		{"replicas", "7", "replicas/7"},
		{"segments", "470590569932852667", "segments/470590569932852667"},
		{"config", "queryCoord.autoBalance", "config/queryCoord.autoBalance"},
		{"", "", "cluster"},
	} {
		if got := ObjectKey(c, model.Ref{Resource: x.resource, ID: x.id}); got != x.want {
			t.Errorf("%s %s is called %q, want %q", x.resource, x.id, got, x.want)
		}
	}
}

func TestReadBaseline(t *testing.T) {
	const text = `# known

{"check":"a","object":"collections/default/docs","until":"2027-01-31","note":"# 12"}
  {"check":"b","object":"cluster"}`
	b, err := ReadBaseline(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{"a", "collections/default/docs", "2027-01-31", "# 12"}, {Check: "b", Object: "cluster"}}
	if diff := cmp.Diff(want, b.Entries); diff != "" {
		t.Error(diff)
	}
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := ReadBaseline(&out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, again); diff != "" {
		t.Errorf("written and read again:\n%s", diff)
	}
}

func TestBadBaselines(t *testing.T) {
	for text, want := range map[string]string{
		"{\"check\":\"a\",\"object\":\"b\"}\n{":           "line 2",
		`{"check":"a","object":"b","untli":"2027-01-01"}`: "untli",
		`{"check":"a","object":"b","until":"soon"}`:       "2027-01-31",
		`{"check":"a"}`: "required",
		`{"check":"a","object":"b"} {"check":"a","object":"c"}`: "more than one",
		`- check: a`:                           "invalid character",
		strings.Repeat("#\n", maxBaseline/2+1): "not a baseline",
	} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one with %q", text, err, want)
		}
	}
}

func FuzzReadBaseline(f *testing.F) {
	f.Add([]byte("# x\n{\"check\":\"a\",\"object\":\"b\",\"until\":\"2027-01-31\"}\n"))
	f.Add([]byte("{\"check\":\"\xff\",\"object\":\"\\u0000\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ReadBaseline(bytes.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := b.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := ReadBaseline(&out)
		if err != nil {
			t.Fatalf("what was read from %q and written cannot be read: %v", text, err)
		}
		if diff := cmp.Diff(b, again); diff != "" {
			t.Error(diff)
		}
	})
}

func TestApply(t *testing.T) {
	segment := about(Error, "segments", "470590569932852667") // compacted from ...601
	r := judge(
		t, modeltest.Small(),
		fake("one", about(Warning, "collections", docs), about(Warning, "nodes", "querynode-6"), segment),
		fake("quiet"), blind("blind", about(Info, "nodes", "querynode-3")), unable("unable"), broken("broken"),
	)
	entry := func(check, object string) Entry { return Entry{Check: check, Object: object} }
	for _, x := range []struct {
		name     string
		entries  []Entry
		accepted int
		stale    []string
	}{
		{name: "nothing"},
		{"by the name that stays", []Entry{entry("one", "collections/default/docs")}, 1, nil},
		{"by id", []Entry{entry("one", "collections/"+docs)}, 1, nil},
		{"by address", []Entry{entry("one", "nodes/querynode@10.0.0.6:21123")}, 1, nil},
		{"by a segment that was compacted since", []Entry{entry("one", "segments/470590569932852601")}, 1, nil},
		{"of another check", []Entry{entry("quiet", "collections/"+docs)}, 0, []string{"no longer found"}},
		{"of another object", []Entry{entry("one", "collections/default/other")}, 0, []string{"no longer found"}},
		{
			"of a check that could not look",
			[]Entry{
				entry("unable", "collections/x"), entry("broken", "collections/x"), entry("blind", "nodes/querynode-7"),
			},
			0, nil,
		},
		{"of a check that did not run", []Entry{entry("elsewhere", "cluster")}, 0, []string{"no such check"}},
		{"until today", []Entry{{Check: "one", Object: "collections/default/docs", Until: "2026-11-20"}}, 1, nil},
		{
			"until yesterday",
			[]Entry{{Check: "one", Object: "collections/default/docs", Until: "2026-11-19"}},
			0,
			[]string{"was accepted until 2026-11-19"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			next, stale := (&Baseline{x.entries}).Apply(r, nil)
			if len(next.Accepted) != x.accepted || len(next.Findings)+len(next.Accepted) != len(r.Findings) {
				t.Errorf("%d are accepted, %d are left of %d", len(next.Accepted), len(next.Findings), len(r.Findings))
			}
			var reasons []string
			for _, s := range stale {
				reasons = append(reasons, s.Reason)
			}
			if diff := cmp.Diff(x.stale, reasons); diff != "" {
				t.Error(diff)
			}
			if len(r.Accepted) != 0 || len(r.Findings) != 4 {
				t.Error("the report that was given has changed")
			}
		})
	}
}

// TestApplyRanks checks that an effect is ranked as a root once its cause is accepted.
func TestApplyRanks(t *testing.T) {
	cause := fake("cause", about(Error, "config", "x"))
	effect := fake("effect", about(Info, "collections", docs))
	effect.FollowsFrom = []Cause{{Check: "cause"}}
	r := judge(t, modeltest.Small(), effect, cause, fake("other", about(Warning, "nodes", "querynode-3")))
	if diff := cmp.Diff([]string{"cause config/x", "effect collections/" + docs, "other nodes/querynode-3"},
		keysOf(r.Findings)); diff != "" {
		t.Fatal(diff)
	}
	next, _ := (&Baseline{[]Entry{{Check: "cause", Object: "config/x"}}}).Apply(r, nil)
	if diff := cmp.Diff([]string{"other nodes/querynode-3", "effect collections/" + docs},
		keysOf(next.Findings)); diff != "" {
		t.Error(diff)
	}
	if next.Findings[1].Cause != "cause config/x" {
		t.Error("the cause is forgotten")
	}
}

func TestNewBaseline(t *testing.T) {
	r := judge(t, modeltest.Small(),
		fake("one", about(Warning, "collections", docs), about(Warning, "nodes", "querynode-6")), unable("unable"),
		fake("quiet"))
	old := &Baseline{[]Entry{
		{Check: "unable", Object: "nodes/x", Note: "could not look"},
		{Check: "quiet", Object: "nodes/x", Note: "gone"},
		{Check: "one", Object: "collections/" + docs, Note: "kept", Until: "2027-01-01"},
		{Check: "one", Object: "nodes/querynode-6", Note: "expired", Until: "2020-01-01"},
	}}
	b := NewBaseline(r, old)
	want := []Entry{
		{Check: "one", Object: "collections/" + docs, Note: "kept", Until: "2027-01-01"},
		{Check: "one", Object: "nodes/querynode@10.0.0.6:21123"},
		{Check: "unable", Object: "nodes/x", Note: "could not look"},
	}
	if diff := cmp.Diff(want, b.Entries); diff != "" {
		t.Error(diff)
	}
	next, stale := b.Apply(r, nil)
	if len(next.Findings) != 0 || len(stale) != 0 {
		t.Errorf("%v are left, %v stale", keysOf(next.Findings), stale)
	}
	if late := (&Report{
		Cluster: r.Cluster, Now: time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), Results: r.Results, Findings: r.Findings,
	}); true {
		if next, _ := b.Apply(late, nil); len(next.Findings) != 1 {
			t.Error("an entry accepts after its last day")
		}
	}
}
