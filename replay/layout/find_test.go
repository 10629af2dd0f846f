package layout_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine/segment"
	"kitescope/inspect/model"
	"kitescope/replay"
	"kitescope/replay/layout"
)

func TestFind(t *testing.T) {
	c := capture(t, "standalone-2.3.5")
	for _, x := range []struct{ word, want string }{
		{"truth_small", "default.truth_small"},
		{"truth_alias", "default.truth_small"},
		{"470590760625897534", "default.truth_small"},
		{"orders", "tenant_a.orders"},
		{"tenant_a.orders", "tenant_a.orders"},
	} {
		l, err := layout.New(c, layout.Options{Collection: x.word})
		if err != nil {
			t.Errorf("%s: %v", x.word, err)
			continue
		}
		if got := l.Collection.Database + "." + l.Collection.Name; got != x.want {
			t.Errorf("%s: %s, want %s", x.word, got, x.want)
		}
	}
	for _, x := range []struct{ word, want string }{
		{"truth_smal", `no collection "truth_smal"; did you mean truth_small?`},
		{"hnsw", `no collection "hnsw"; did you mean hnsw_l2_parts or hnsw_sim?`},
		{"none_of_them", `no collection "none_of_them"; collections: auto_id,`},
		{"dropped_one", `no collection "dropped_one"; collections: auto_id,`},
		{"", "choose a collection: auto_id,"},
	} {
		_, err := layout.New(c, layout.Options{Collection: x.word})
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%q: %v, want %s", x.word, err, x.want)
		}
	}
}

// TestFields checks the choice of the vector field, and the refused fields.
func TestFields(t *testing.T) {
	key := &model.Field{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true}
	vec := &model.Field{ID: 101, Name: "vec", Type: "FloatVector", Dim: 4}
	half := &model.Field{ID: 102, Name: "half", Type: "Float16Vector", Dim: 8}
	sparse := &model.Field{ID: 103, Name: "sparse", Type: "SparseFloatVector"}
	for _, x := range []struct {
		name, field string
		fields      []*model.Field
		want, err   string
	}{
		{"one", "", []*model.Field{key, vec}, "vec", ""},
		{"several, by name", "half", []*model.Field{key, vec, half}, "half", ""},
		{"several, by id", "101", []*model.Field{key, vec, half}, "vec", ""},
		{
			"several, none named", "",
			[]*model.Field{key, vec, half},
			"",
			"collection c: it has several vector fields (vec, half): name one",
		},
		{
			"another", "vek",
			[]*model.Field{key, vec, half},
			"",
			`collection c: no vector field "vek"; vector fields: vec, half`,
		},
		{"none", "", []*model.Field{key}, "", "collection c: it has no vector field"},
		{"sparse", "", []*model.Field{key, sparse}, "sparse", ""},
		{
			"lists", "",
			[]*model.Field{key, {ID: 104, Name: "v", Type: "ArrayOfVector"}},
			"",
			"collection c: field v has vectors of type ArrayOfVector; the engine cannot search them",
		},
		{"no key", "", []*model.Field{vec}, "", "collection c: no primary key among its fields"},
		{
			"no dimensions", "",
			[]*model.Field{key, {ID: 101, Name: "v", Type: "FloatVector"}},
			"",
			"collection c: field v has 0 dimensions, expected 1 to 262144",
		},
	} {
		c := model.Build(model.Parts{
			Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1, Name: "c", Fields: x.fields}},
		})
		l, err := layout.New(c, layout.Options{Collection: "c", Field: x.field})
		switch {
		case x.err != "":
			if err == nil || err.Error() != x.err {
				t.Errorf("%s: %v, want %s", x.name, err, x.err)
			}
		case err != nil:
			t.Errorf("%s: %v", x.name, err)
		case l.Collection.VectorField != x.want || l.Collection.KeyField != "id" ||
			l.Collection.Schema.PrimaryKey != 100:
			t.Errorf("%s: %+v", x.name, l.Collection)
		case len(l.Nodes) != 1 || !l.Assumed:
			t.Errorf("%s: a cluster without nodes gets one: %+v", x.name, l.Nodes)
		}
	}
	if _, err := layout.New(model.Build(model.Parts{}), layout.Options{Collection: "c"}); err == nil {
		t.Error("a cluster of which nothing was read is laid out")
	}
}

// TestLocateKeepsNames checks that a segment keeps its manifest and commit time if it is moved to another
// root.
func TestLocateKeepsNames(t *testing.T) {
	files := &segment.Files{
		Segment: 3, Manifest: "files/insert_log/1/2/3/_metadata/manifest-7.avro",
		Indexes: []string{"files/index_files/9/1/2/3"}, CommitAt: 77,
	}
	l := &replay.Layout{Root: "files", Segments: []replay.Segment{{ID: 3, Files: files}}}
	has := func(_ context.Context, name string) (bool, error) {
		return name == "insert_log/1/2/3/_metadata/manifest-7.avro", nil
	}
	located, found, err := layout.Locate(t.Context(), has, l)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want := &segment.Files{
		Segment: 3, Manifest: "insert_log/1/2/3/_metadata/manifest-7.avro", Indexes: []string{"index_files/9/1/2/3"},
		Delta: []string{}, CommitAt: 77,
	}
	if diff := cmp.Diff(want, located.Segments[0].Files, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if files.Manifest != "files/insert_log/1/2/3/_metadata/manifest-7.avro" {
		t.Errorf("the layout that was given changed: %+v", files)
	}
}
