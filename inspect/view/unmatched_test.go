package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStrays checks that UnmatchedValues returns the values of a selection that match nothing, and no others.
func TestStrays(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct {
		resource, word string
		want           []string
	}{
		{"segments", "state=growing", nil},
		{"segments", "state!=dropped", nil},
		{"segments", "state=gro*", nil},
		{"segments", "state=", nil},
		{
			"segments", "state=flushd,growing",
			[]string{`no segment has state "flushd"; available: Dropped, Flushed, Growing`},
		},
		{"segments", "coll=docs", nil},
		{"segments", "coll!=dcos", []string{`no collection "dcos"; did you mean docs?`}},
		{"segments", "coll=docs,470590569931111111", nil},
		{"segments", "rows=123456", nil},
		{"indexes", "type=hnsw", nil},
		{
			"nodes", "role=querynod",
			[]string{`no node has role "querynod"; available: datanode, proxy, querynode, rootcoord`},
		},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSelection(r, []string{c.word})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, s.UnmatchedValues(r.Table(env))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.resource, c.word, diff)
		}
	}
}

// TestVocabulary checks that selections match values of Milvus in any case, but names only in their own case.
func TestVocabulary(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct{ resource, word, same string }{
		{"nodes", "role=QueryNode", "role=querynode"},
		{"indexes", "type=hnsw", "type=HNSW"},
		{"segments", "level=l1", "level=L1"},
	} {
		got, want := selectIDs(t, env, c.resource, c.word), selectIDs(t, env, c.resource, c.same)
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s %s (-want +got):\n%s", c.resource, c.word, diff)
		}
	}
	if got := selectIDs(t, env, "collections", "name=DOCS"); len(got) > 0 {
		t.Errorf("names have a case: %q", got)
	}
}
