package clusters

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render"
)

// manyRows is a number of rows that all processors share in writing.
const manyRows = 16 * 512

// TestManyRowsStayInOrder checks the order of more rows than one goroutine handles.
func TestManyRowsStayInOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 5*manyRows + 17
	env := view.NewEnv(modeltest.Large(n), modeltest.Now)
	var doc struct {
		Items []struct{ ID string }
	}
	if err := json.Unmarshal(list(t, env, "segments", render.Options{Format: format(t, "json")}), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Items) != n {
		t.Fatalf("%d items, want %d", len(doc.Items), n)
	}
	lines := strings.Split(strings.TrimSuffix(string(list(t, env, "segments",
		render.Options{Format: format(t, "jsonl")})), "\n"), "\n")
	table := strings.Split(strings.TrimSuffix(string(list(t, env, "segments", render.Options{NoHeader: true})), "\n"),
		"\n")
	records, err := csv.NewReader(bytes.NewReader(
		list(t, env, "segments", render.Options{Format: format(t, "csv")}),
	)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := strconv.Itoa(470590570000000000 + i)
		if doc.Items[i].ID != id || !strings.HasPrefix(lines[i], `{"id":"`+id+`"`) ||
			!strings.HasPrefix(table[i], id) || records[i+1][0] != id {
			t.Fatalf("row %d is not %s", i, id)
		}
	}
	if len(lines) != n || len(table) != n || len(records) != n+1 {
		t.Errorf("%d lines, %d rows, %d records", len(lines), len(table), len(records))
	}
}

func TestManyRowsUnknown(t *testing.T) {
	p := modeltest.LargeParts(2 * manyRows)
	p.Loaded = model.PartCatalog | model.PartSegments
	out := list(t, view.NewEnv(model.Build(p), modeltest.Now), "segments", render.Options{Format: format(t, "json")})
	if !bytes.Contains(out[len(out)-300:], []byte(`"unknown": ["deleted_rows"`)) {
		t.Errorf("the end is %s", out[len(out)-300:])
	}
}

// brokenPipe is a writer that fails after left bytes.
type brokenPipe struct{ left int }

var errBroken = errors.New("broken pipe")

func (w *brokenPipe) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestClosedPipe(t *testing.T) {
	defer goleak.VerifyNone(t)
	env := view.NewEnv(modeltest.Large(4*manyRows), modeltest.Now)
	for _, word := range []string{"json", "csv", "table", "yaml"} {
		for _, left := range []int{200_000} {
			g, err := view.Select(resource(t, "segments").Table(env), view.Query{Limit: 3 * manyRows})
			if err != nil {
				t.Fatal(err)
			}
			if err := Grid(&brokenPipe{left}, g, render.Options{Format: format(t, word)}); !errors.Is(err, errBroken) {
				t.Errorf("%s after %d bytes: %v", word, left, err)
			}
		}
	}
}

// TestNotRead checks that items that were not read are unknown, not empty.
func TestNotRead(t *testing.T) {
	env := view.NewEnv(model.Build(model.Parts{Loaded: model.PartAll &^ model.PartConfig}), modeltest.Now)
	for word, want := range map[string]string{
		"json": "\"items\": [],\n  \"unknown\": [\"items\"]\n",
		"yaml": "items: []\nunknown:\n  - items\n",
	} {
		if out := string(list(t, env, "config", render.Options{Format: format(t, word)})); !strings.Contains(out,
			want) {
			t.Errorf("%s: %q lacks %q", word, out, want)
		}
	}
	if out := list(t, env, "users", render.Options{Format: format(t, "json")}); bytes.Contains(out, []byte("unknown")) {
		t.Errorf("users were read, and there are none: %s", out)
	}
}
