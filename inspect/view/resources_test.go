package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

func smallEnv() *Env { return NewEnv(modeltest.Small(), modeltest.Now) }

func TestResourcesAreWellFormed(t *testing.T) {
	words := map[string]string{}
	claim := func(r *Resource, word string) {
		if other, taken := words[word]; taken && other != r.Name {
			t.Errorf("%q means %s and %s", word, other, r.Name)
		}
		words[word] = r.Name
	}
	for _, r := range Resources {
		claim(r, r.Name)
		claim(r, r.Singular)
		for _, a := range r.Aliases {
			claim(r, a)
		}
		if r.Doc == "" || r.Kind == "" || r.Needs == 0 || !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("%s: doc, kind or needs are missing", r.Name)
		}
		for _, name := range append([]string{r.Handle}, r.Names...) {
			if r.Column(name) < 0 {
				t.Errorf("%s: no column %q", r.Name, name)
			}
		}
		checkColumns(t, r)
	}
}

func checkColumns(t *testing.T, r *Resource) {
	t.Helper()
	seen := map[string]bool{}
	shown := 0
	for _, c := range r.Columns {
		if seen[c.Name] {
			t.Errorf("%s: two columns %s", r.Name, c.Name)
		}
		seen[c.Name] = true
		if c.Title == "" || !strings.HasSuffix(c.Doc, ".") || c.Title != strings.ToUpper(c.Title) ||
			c.Name != strings.ToLower(c.Name) {
			t.Errorf("%s.%s: bad title %q, name or doc %q", r.Name, c.Name, c.Title, c.Doc)
		}
		if c.Show == table.Always && c.Priority == 0 {
			shown++
		}
		if c.IDColumn != "" && r.Column(c.IDColumn) < 0 {
			t.Errorf("%s.%s: no column %s", r.Name, c.Name, c.IDColumn)
		}
	}
	if shown == 0 {
		t.Errorf("%s: a narrow terminal would show nothing", r.Name)
	}
}

func TestIssueKeys(t *testing.T) {
	want := map[string]string{
		"segments": "id collection_id collection partition_id partition vchannel state level rows deleted_rows " +
			"size_bytes index_state compacted_from created_at",
		"collections": "id name database rows shards partitions segments load_state aliases",
		"vchannels":   "name pchannel collection checkpoint_at checkpoint_age_seconds watcher",
		"nodes":       "id role address version state",
		"undecoded":   "key reason",
	}
	for name, columns := range want {
		r, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for column := range strings.FieldsSeq(columns) {
			i := r.Column(column)
			if i < 0 || r.Columns[i].Name != column {
				t.Errorf("%s has no column %s", name, column)
			} else if r.Columns[i].Show > table.Hidden {
				t.Errorf("%s.%s is not in JSON", name, column)
			}
		}
	}
}

// TestEveryObject checks every cell, reference, link and section of a cluster that has at least one object of
// each resource.
func TestEveryObject(t *testing.T) {
	env := NewEnv(modeltest.Served(), modeltest.Now).WithJudgement(NewJudgement(nil))
	for _, r := range Resources {
		rows := r.Table(env)
		if rows.Len() == 0 {
			t.Errorf("%s: the small cluster has none", r.Name)
		}
		ids := map[string]bool{}
		for row := range rows.Len() {
			ref := rows.Ref(row)
			if ref.ID == "" || ref.Resource != r.Name || ids[ref.ID] {
				t.Errorf("%s: bad or repeated ref %+v", r.Name, ref)
			}
			ids[ref.ID] = true
			if RowOf(rows, ref.ID) != row {
				t.Errorf("%s: RowOf(%q) is not %d", r.Name, ref.ID, row)
			}
			for col := range r.Columns {
				if unknownInKafka(env, r.Name+"."+r.Columns[col].Name, ref.ID) {
					continue
				}
				silent := r.Name == "impact" || strings.Contains(ref.ID, "querynode-12") ||
					len(env.Cluster.Runtime.WithoutDistribution()) > 0 && r.NeedsOf(col).Has(model.PartRuntime)
				if c := rows.Cell(row, col); c.Absent == table.Unknown && !silent {
					t.Errorf("%s.%s is unknown in a cluster that was read whole", r.Name, r.Columns[col].Name)
				}
			}
			checkLinks(t, env, rows, row)
			checkDescription(t, rows, row)
		}
	}
}

// unknownInKafka reports whether a cell is unknown because the cluster's queue is Kafka: bytes of its topics,
// times of their ends, and positions of checkpoints that have only a time.
func unknownInKafka(e *Env, column, id string) bool {
	switch column {
	case "queue-topics.kept_bytes", "wal.behind_bytes":
		return true
	case "wal.at", "wal.age_seconds":
		return strings.HasSuffix(id, "/Written") || strings.HasSuffix(id, "/OldestKept")
	case "wal.position", "wal.behind_messages":
		name, stage, _ := strings.Cut(id, "/")
		if _, vchannel, ok := strings.Cut(stage, "/"); ok {
			return len(e.Cluster.VChannel(vchannel).Checkpoint.Message) == 0
		}
		return stage == walRecovered && len(e.Cluster.PChannel(name).Checkpoint.Message) == 0
	}
	return false
}

func checkLinks(t *testing.T, env *Env, table Table, row int) {
	t.Helper()
	for _, l := range table.Links(row) {
		to, err := Find(l.Resource)
		if err != nil {
			t.Errorf("%s: link to %v", table.Resource().Name, err)
			continue
		}
		s, err := ParseSelection(to, l.Where)
		if err != nil {
			t.Errorf("%s: link %q: %v", table.Resource().Name, l.Title, err)
			continue
		}
		s.Rows(to.Table(env))
	}
	if ref, ok := table.Owner(row); ok {
		if _, err := Find(ref.Resource); err != nil || ref.ID == "" {
			t.Errorf("%s: bad owner %+v", table.Resource().Name, ref)
		}
	}
}

func checkDescription(t *testing.T, rows Table, row int) {
	t.Helper()
	d := rows.Describe(row)
	told := 0 // descriptions omit columns of table.People and findings
	for i, c := range rows.Resource().Columns {
		if c.For != table.People && rows.Resource().NeedsOf(i) != PartFindings {
			told++
		}
	}
	if len(d.Fields) != told || d.Ref != rows.Ref(row) {
		t.Errorf("%s: description of another object", rows.Resource().Name)
	}
	titles := map[string]bool{}
	for _, s := range d.Sections {
		if titles[s.Title] || s.Title != strings.ToLower(s.Title) {
			t.Errorf("%s: bad or repeated section %q", rows.Resource().Name, s.Title)
		}
		titles[s.Title] = true
		if slices.Contains(s.Grid.Columns, -1) {
			t.Fatalf("%s: section %q names a column that does not exist", rows.Resource().Name, s.Title)
		}
		for i := range s.Grid.Len() {
			for j := range s.Grid.Columns {
				s.Grid.Cell(i, j)
			}
		}
	}
}

func TestUnreadPartsUnknown(t *testing.T) {
	p := modeltest.SmallParts()
	p.Loaded = model.PartCatalog | model.PartSegments
	env := NewEnv(model.Build(p), modeltest.Now)
	rows := segments.Table(env)
	for name, want := range map[string]table.Absence{
		"size_bytes": table.Unknown, "deleted_rows": table.Unknown, "index_state": table.Unknown, "rows": table.Present,
	} {
		if got := rows.Cell(0, segments.Column(name)).Absent; got != want {
			t.Errorf("%s: absence %d, want %d", name, got, want)
		}
	}
	s, err := ParseSelection(segments, []string{"size>1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Select(rows, Query{Where: s}); err == nil {
		t.Error("a selection by what was not read must not answer")
	}
	d := rows.Describe(1)
	if !d.Sections[0].Unknown || !d.Sections[1].Unknown {
		t.Errorf("sections of parts that were not read are not marked: %+v", d.Sections)
	}
	o := NewOverview(env)
	if o.Bytes.Absent != table.Unknown || o.Indexed.Absent != table.Unknown || o.VChannels.Absent != table.Unknown ||
		o.Rows.Absent != table.Present {
		t.Errorf("overview knows what was not read: %+v", o)
	}
	if o := NewOverview(&Env{Cluster: model.Build(model.Parts{})}); o.Keys.Absent != table.Unknown {
		t.Errorf("of a cluster of which nothing was read, %v keys are known", o.Keys)
	}
}

func TestNeedsOfDefaultSegments(t *testing.T) {
	needs, err := Query{}.Needs(segments)
	if err != nil {
		t.Fatal(err)
	}
	want := model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments | model.PartLogs |
		model.PartSegmentIndexes
	if needs != want {
		t.Errorf("needs %b, want %b", needs, want)
	}
	needs, err = Query{Columns: []string{"id", "rows"}, Sort: []string{"-size"}}.Needs(segments)
	if err != nil {
		t.Fatal(err)
	}
	if want = model.PartObjects | model.PartSegments | model.PartLogs; needs != want {
		t.Errorf("needs %b, want %b", needs, want)
	}
}

func TestFind(t *testing.T) {
	for _, word := range []string{"segments", "segment", "seg", "SEG", "rg", "vchannel", "si", "nodes"} {
		if _, err := Find(word); err != nil {
			t.Errorf("Find(%q): %v", word, err)
		}
	}
	for word, want := range map[string]string{
		"segmnts":    `unknown resource "segmnts"; did you mean segments?`,
		"colections": `unknown resource "colections"; did you mean collections?`,
	} {
		_, err := Find(word)
		if err == nil || err.Error() != want {
			t.Errorf("Find(%q): %v, want %s", word, err, want)
		}
	}
	if _, err := Find("xyzzy"); err == nil || !strings.Contains(err.Error(), "available: databases, collections") {
		t.Errorf("an unlike word must list what exists: %v", err)
	}
}

func TestParseColumns(t *testing.T) {
	names := func(columns []int) (list []string) {
		for _, i := range columns {
			list = append(list, roles.Columns[i].Name)
		}
		return list
	}
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{nil, []string{"name", "users", "grants"}},
		{[]string{"grants,name"}, []string{"grants", "name"}},
		{[]string{"grants", "GRANTS", "user"}, []string{"grants", "users"}},
		{[]string{"+name"}, []string{"name", "users", "grants"}},
	} {
		got, err := roles.ParseColumns(c.words, table.Always, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, names(got)); diff != "" {
			t.Errorf("%q: %s", c.words, diff)
		}
	}
	_, err := segments.ParseColumns([]string{"id,sise_bytes"}, table.Always, 0)
	if err == nil || err.Error() != `unknown column of segments "sise_bytes"; did you mean size_bytes?` {
		t.Errorf("got %v", err)
	}
}

func TestAgesInFiles(t *testing.T) {
	p := modeltest.SmallParts()
	p.Origin.Kind = "bundle"
	if env := NewEnv(model.Build(p), modeltest.Now.Add(time.Hour)); !env.Now.Equal(p.Origin.Taken) {
		t.Errorf("now is %s", env.Now)
	}
	if env := NewEnv(modeltest.Small(), modeltest.Now); !env.Now.Equal(modeltest.Now) {
		t.Errorf("a live source has its own now: %s", env.Now)
	}
}
