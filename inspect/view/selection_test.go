package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

func selectIDs(t *testing.T, env *Env, resource string, words ...string) []string {
	t.Helper()
	r, err := Find(resource)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSelection(r, words)
	if err != nil {
		t.Fatal(err)
	}
	table := r.Table(env)
	var ids []string
	for i := range table.Len() {
		if s.Match(table, i) {
			ids = append(ids, table.Ref(i).ID)
		}
	}
	return ids
}

// These are the last digits of the segment ids in the small cluster.
var (
	all     = "2601 2667 2671 2672 2680 2690 3600 0000"
	docsAll = "2601 2667 2671 2672 2680 2690"
)

func TestSelectSegments(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct{ words, want string }{
		{"", all},
		{"coll=docs", docsAll},
		{"coll=articles", docsAll},
		{"coll=default.docs", docsAll},
		{"coll=470590569932652633", docsAll},
		{"collection_id=470590569932652633", docsAll},
		{"coll=tenant_a.orders", "3600"},
		{"coll=orders,docs state=growing", "2690"},
		{"coll=default.orders", ""},
		{"coll=470590569931111111", "0000"},
		{"coll!=docs", "3600 0000"},
		{"coll=d*s", docsAll},
		{"coll=", "0000"},
		{"state=GROWING", "2690"},
		{"state=growing,dropped", "2601 2690"},
		{"state!=Flushed", "2601 2690"},
		{"state~^F", "2667 2671 2672 2680 3600 0000"},
		{"state!~^F", "2601 2690"},
		{"rows>3k", "2601 2667"},
		{"rows>=3000", "2601 2667 2672 3600"},
		{"rows<=12", "2680 0000"},
		{"rows=3e3", "2672 3600"},
		{"rows=3,000", "2672 3600"},
		{"rows>2,999", "2601 2667 2672 3600"},
		{"rows=12,3000", "2672 3600 0000"},
		{"rows!=3_000 coll=docs", "2601 2667 2671 2680 2690"},
		{"size>=9MiB", "2601 2667 2672"},
		{"size<1KiB", "2690 0000"},
		{"age<1h", "2690"},
		{"age>1d", "0000"},
		{"created_at<2026-11-01", "0000"},
		{"created_at=2026-10", "0000"},
		{"created_at>-2h", "2680 2690"},
		{"created_at>2h", "2680 2690"},
		{"created_at>=08:20", "2690"},
		{"created_at=08:20", "2690"},
		{"created_at>=2026-11-20T08:20:00Z", "2690"},
		{"created_at=2026-11-20T08:20", "2690"},
		{"compacted_from=470590569932852601", "2667"},
		{"compacted_from=*602", "2667"},
		{"compacted_from!= coll=docs", "2667"},
		{"index=failed,missing", "2671 2672"},
		{"sorted=true", "2667"},
		{"sorted=no coll=orders", "3600"},
		{"level=L0", "2680"},
		{"partition=_default", "2601 2667 2671 2690 3600"},
		{"partition=2026", "2672"},
		{"part=\"_default\" coll=orders", "3600"},
		{"index_states.vec_hnsw=Failed", "2671"},
		{"index_states=vec_hnsw", "2667 2671"},
		{"index_states=vec_hnsw=Finished", "2667"},
		{"470590569932852667", "2667"},
		{"470590569932852667 470590569932852671", "2667 2671"},
		{"*852667", "2667"},
		{"!470590569932852667 coll=docs rows>3000", "2601"},
		{"id>470590569932852690", "3600 0000"},
		{"id~67$", "2667"},
	} {
		var got []string
		for _, id := range selectIDs(t, env, "segments", strings.Fields(c.words)...) {
			got = append(got, id[len(id)-4:])
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.words, diff)
		}
	}
}

func TestSelectOthers(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct {
		resource, words string
		want            []string
	}{
		{"collections", "docs", []string{"470590569932652633"}},
		{"collections", "prod", []string{"470590569932652633"}},
		{"collections", "tenant_a.orders", []string{"470590569933053506"}},
		{"collections", "aliases=prod", []string{"470590569932652633"}},
		{"collections", "d* o*", []string{"470590569932652633", "470590569933053506"}},
		{"collections", "db=tenant_a", []string{"470590569933053506"}},
		{"collections", "load=notload state=created", []string{"470590569933053506"}},
		{"collections", "indexed<56%", []string{"470590569932652633"}},
		{"collections", "properties.mmap.enabled=true", []string{"470590569932652633"}},
		{"collections", "properties~ttl", []string{"470590569932652633"}},
		{"partitions", "docs/_default", []string{"470590569932652643"}},
		{"partitions", "tenant_a.orders/_default", []string{"470590569933053507"}},
		{"fields", "docs/vec", []string{"470590569932652633/102"}},
		{"fields", "dim>100", []string{"470590569932652633/102"}},
		{"vchannels", "checkpoint_age>5m coll=docs", []string{"by-dev-rootcoord-dml_1_470590569932652633v1"}},
		{
			"vchannels", "watcher=",
			[]string{"by-dev-rootcoord-dml_3_470590569931111111v0", "by-dev-rootcoord-dml_14_470590569933053506v0"},
		},
		{"vchannels", "watcher=4 watch_state=towatch", []string{"by-dev-rootcoord-dml_1_470590569932652633v1"}},
		{"indexes", "params.M=16", []string{"470590569932652801"}},
		{"indexes", "params.M>10", nil},
		{"nodes", "proxy", []string{"proxy-2"}},
		{"nodes", "state=stopping", []string{"querynode-12"}},
		{"replicas", "nodes=6", []string{"470590570311974919"}},
		{"keys", "*session*", []string{"by-dev/meta/session/rootcoord-1"}},
		{"keys", "by-dev/meta/session/rootcoord-1", []string{"by-dev/meta/session/rootcoord-1"}},
		{"grants", "role=read privilege=Search", []string{"read/Collection/default/docs/Search"}},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseSelection(r, strings.Fields(c.words)); err != nil {
			if c.want != nil {
				t.Errorf("%s %s: %v", c.resource, c.words, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, selectIDs(t, env, c.resource, strings.Fields(c.words)...)); diff != "" {
			t.Errorf("%s %s: %s", c.resource, c.words, diff)
		}
	}
}

func TestSelectionErrorsNameTheWord(t *testing.T) {
	for _, c := range []struct{ resource, word, want string }{
		{"segments", "sate=growing", `selector "sate=growing": unknown column of segments "sate"; did you mean state?`},
		{
			"segments", "rows>many",
			`selector "rows>many": rows is a number such as 1500, 10k, 1e6 or 1GiB: "many" is not a number`,
		},
		{
			"segments", "state>growing",
			`selector "state>growing": state cannot be compared with < and >; use =, !=, ~ or !~`,
		},
		{"segments", "docs", `selector "docs": segments have ids, not names; did you mean collection=docs?`},
		{"segments", "id=x", `selector "id=x": id is an id: "x" is not a whole number`},
		{
			"segments", "vchannel~(",
			"selector \"vchannel~(\": bad pattern: error parsing regexp: missing closing ): `(`",
		},
		{
			"segments", "created_at>soon",
			`selector "created_at>soon": created_at: "soon" is not a time: expected one of 10m, 2d, 09:14, 2026-11-24, 2026-11-24T09:14:05Z`,
		},
		{"segments", "rows>", `selector "rows>": no value after the operator`},
		{"segments", "rows.x=1", `selector "rows.x=1": rows has no entries`},
		{
			"segments", "rows>1e30",
			`selector "rows>1e30": rows is a number such as 1500, 10k, 1e6 or 1GiB: "1e30" is too large`,
		},
		{
			"vchannels", "checkpoint_age>5parsecs",
			`selector "checkpoint_age>5parsecs": checkpoint_age_seconds is a duration such as 90s, 5m, 2h30m or 3d: "5parsecs" is not a duration`,
		},
		{"segments", "!", `selector "!": no name after "!"`},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseSelection(r, []string{c.word})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got  %v\nwant %s", c.word, err, c.want)
		}
	}
}

func TestSelectionCollection(t *testing.T) {
	for words, want := range map[string]string{
		"coll=docs state=growing":       "docs",
		"collection_id=4705":            "4705",
		"coll=docs,orders":              "",
		"coll=d*":                       "",
		"coll!=docs":                    "",
		"coll~docs":                     "",
		"state=growing":                 "",
		"coll=tenant_a.orders rows>100": "tenant_a.orders",
	} {
		s, err := ParseSelection(segments, strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Collection(); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	for word, want := range map[string]string{"docs": "docs", "d*": "", "!docs": "", "docs orders": ""} {
		s, err := ParseSelection(collections, strings.Fields(word))
		if err != nil || s.Collection() != want {
			t.Errorf("collections %s: %q, %v", word, s.Collection(), err)
		}
	}
	s, err := ParseSelection(partitions, []string{"docs/_default"})
	if err != nil || s.Collection() != "docs" {
		t.Errorf("docs/_default: %q, %v", s.Collection(), err)
	}
}

func TestUnmatched(t *testing.T) {
	s, err := ParseSelection(collections, []string{"docs", "nope", "x*", "!gone"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"nope"}, s.Unmatched(collections.Table(smallEnv()))); diff != "" {
		t.Error(diff)
	}
}

func TestLinkWordsParse(t *testing.T) {
	for _, name := range []string{"a", "a,b", "a*b"} {
		s, err := ParseSelection(users, []string{"name=" + anyOf([]string{name, "other"})})
		if err != nil {
			t.Fatal(err)
		}
		p := model.Parts{Loaded: model.PartAll, Users: []*model.User{{Name: "axb"}, {Name: name}}}
		table := users.Table(NewEnv(model.Build(p), modeltest.Now))
		for i := range table.Len() {
			if got, want := s.Match(table, i), table.Ref(i).ID == name; got != want {
				t.Errorf("%q: match of %q is %v", name, table.Ref(i).ID, got)
			}
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	table := segments.Table(NewEnv(modeltest.Large(1000), modeltest.Now))
	s, err := ParseSelection(segments, []string{
		"coll=collection_1", "state=flushed,growing", "rows>1e3", "vchannel~v1$", "age>1s",
	})
	if err != nil {
		t.Fatal(err)
	}
	m := s.On(table)
	row := 0
	if n := testing.AllocsPerRun(900, func() { m.Match(row); row++ }); n > 0 {
		t.Errorf("%v allocations for each row", n)
	}
}

func TestSort(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct{ resource, order, want string }{
		{"segments", "-rows,id", "2667 2601 2672 3600 2671 2690 0000 2680"},
		{"segments", "rows,-id", "2680 0000 2690 2671 3600 2672 2601 2667"},
		{"segments", "collection,state,-id", "2601 2680 2672 2671 2667 2690 3600 0000"},
		{"segments", "-collection,id", "3600 2601 2667 2671 2672 2680 2690 0000"},
		{"segments", "created_at,id", "0000 2601 2667 2671 2672 3600 2680 2690"},
		{"vchannels", "-checkpoint_age", "11v0 33v1 33v0 06v0"},
		{"vchannels", "checkpoint_age", "33v0 33v1 11v0 06v0"},
		{"collections", "-indexed,id", "2633 3506 3999"},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Select(r.Table(env), Query{Sort: []string{c.order}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range g.Len() {
			id := g.Table.Ref(g.Row(i)).ID
			got = append(got, id[len(id)-4:])
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s by %s: %s", c.resource, c.order, diff)
		}
	}
	if _, err := segments.ParseSort([]string{"-nope"}); err == nil {
		t.Error("an unknown column must not be ignored")
	}
}

func TestLimit(t *testing.T) {
	table := segments.Table(smallEnv())
	g, err := Select(table, Query{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if g.Len() != 3 || g.Matched != 8 {
		t.Errorf("%d of %d rows", g.Len(), g.Matched)
	}
	g, err = Select(table, Query{Limit: 3, Sort: []string{"-rows"}})
	if err != nil {
		t.Fatal(err)
	}
	if g.Len() != 3 || g.Matched != 8 || g.Cell(0, slices.Index(g.Columns, segments.Column("rows"))).Int != 6000 {
		t.Errorf("%d of %d rows", g.Len(), g.Matched)
	}
}

func TestLookup(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct{ resource, word, want string }{
		{"collections", "docs", "470590569932652633"},
		{"collections", "prod", "470590569932652633"},
		{"collections", "orders", "470590569933053506"},
		{"collections", "470590569933053506", "470590569933053506"},
		{"partitions", "docs/_default", "470590569932652643"},
		{"partitions", "2026", "470590569932652700"},
		{"segments", "470590569932852667", "470590569932852667"},
		{"nodes", "querynode-6", "querynode-6"},
		{"nodes", "10.0.0.6:21123", "querynode-6"},
		{"aliases", "1/prod", "1/prod"},
		{"tasks", "import-job/470590569933100002", "import-job/470590569933100002"},
		{"grants", "public", "public/Global/*/*/ReadGroup"},
		{"grants", "read/Collection/default/docs/Query", "read/Collection/default/docs/Query"},
		{"config", "queryCoord/autoBalance", "queryCoord/autoBalance"},
		{"keys", "by-dev/meta/session/rootcoord-1", "by-dev/meta/session/rootcoord-1"},
		{"segment-indexes", "470590569932900001", "470590569932852667/470590569932652801/470590569932900001"},
		{"fields", "docs/vec", "470590569932652633/102"},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		table := r.Table(env)
		row, err := Lookup(table, c.word)
		if err != nil {
			t.Errorf("%s %s: %v", c.resource, c.word, err)
			continue
		}
		if got := table.Ref(row).ID; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.resource, c.word, got, c.want)
		}
	}
	for _, c := range []struct{ resource, word, want string }{
		{"collections", "doc", `no collection "doc"; did you mean docs?`},
		{
			"partitions", "_default",
			`"_default" means 2 partitions: 470590569932652643 (of docs), 470590569933053507 (of orders)`,
		},
		{"fields", "vec", `"vec" means 2 fields: docs/vec, tenant_a.orders/vec`},
		{"segments", "42", `no segment "42"`},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Lookup(r.Table(env), c.word)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: got %v, want %s", c.resource, c.word, err, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	env := smallEnv()
	for _, c := range []struct{ resource, word, want string }{
		{"collections", "d", "docs database_id= database= deleted_rows= dynamic_field= description="},
		{"collections", "4705905699326", "470590569932652633"},
		{"segments", "state=", "state=Dropped state=Flushed state=Growing"},
		{"segments", "state=growing,d", "state=growing,Dropped"},
		{"segments", "coll=o", "coll=orders"},
		{"segments", "compa", "compacted_from= compacted="},
		{"segments", "nope=x", ""},
		{"collections", "aliases=p", "aliases=prod"},
	} {
		r, err := Find(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		got, again := CompleteSelector(env, r, c.word)
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s %s: %s", c.resource, c.word, diff)
		}
		if wantAgain := strings.Contains(c.want, "= ") || strings.HasSuffix(c.want, "="); again != wantAgain {
			t.Errorf("%s %s: again is %v", c.resource, c.word, again)
		}
	}
	if got, _ := CompleteSelector(nil, segments, "state=F"); fmt.Sprint(got) != "[state=Flushing state=Flushed]" {
		t.Errorf("without a cluster: %v", got)
	}
	if got := table.CompleteColumns(&segments.Schema, "id,-siz"); fmt.Sprint(got) != "[id,-size_bytes]" {
		t.Errorf("columns: %v", got)
	}
}

func TestNamePrefersLiveCollection(t *testing.T) {
	env := NewEnv(model.Build(model.Parts{
		Loaded: model.PartAll,
		Collections: []*model.Collection{
			{ID: 1, Name: "a", State: "Dropping"},
			{ID: 2, Name: "a", State: "Created"},
			{ID: 3, Name: "b", State: "Dropping"},
		},
		Segments: []*model.Segment{{ID: 10, Collection: 1}, {ID: 20, Collection: 2}, {ID: 30, Collection: 3}},
	}), modeltest.Now)
	for _, c := range []struct {
		resource, words string
		want            []string
	}{
		{"segments", "coll=a", []string{"20"}},
		{"segments", "coll=1", []string{"10"}},
		{"segments", "coll=b", []string{"30"}},
		{"collections", "a", []string{"1", "2"}},
		{"collections", "name=a", []string{"1", "2"}},
	} {
		if diff := cmp.Diff(c.want, selectIDs(t, env, c.resource, c.words)); diff != "" {
			t.Errorf("%s %s: %s", c.resource, c.words, diff)
		}
	}
	if row, err := Lookup(collections.Table(env), "a"); err != nil || row != 1 {
		t.Errorf("describe a: row %d, %v", row, err)
	}
	if n, err := NewTree(env, "a", TreeOptions{}); err != nil || n.Ref.ID != "2" {
		t.Errorf("tree a: %v, %v", n, err)
	}
}
