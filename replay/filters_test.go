package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/expr"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// filtered loads the collection truth_small of a real Milvus 2.3.5. Row i has the tag 't' followed by i%17 and the
// score i/2.
func filtered(t *testing.T, filter *log.Filter) (*replay.Loaded, []*load.Request, error) {
	t.Helper()
	store := openStore(t, "2.3.5")
	all := recorded(t, "2.3.5")
	c := &all[slices.IndexFunc(all, func(c recordedCollection) bool {
		return strings.HasSuffix(c.Name, "truth_small")
	})]
	l := layoutOf(t, store, c)
	l.Collection.Filter = expr.Schema{Release: expr.Release{Major: 2, Minor: 3}, Fields: []expr.Field{
		{ID: 100, Name: "id", Type: binlog.Int64},
		{ID: 101, Name: "tag", Type: binlog.VarChar},
		{ID: 102, Name: "score", Type: binlog.Float},
	}}
	loaded := loadOf(t, store, l, nil)
	v, err := engine.View(l.Collection.Element, c.Dim, len(c.Hits), len(c.Queries)/len(c.Hits), c.Queries)
	if err != nil {
		t.Fatal(err)
	}
	q := &log.Log{
		Name: "recorded", Vectors: v,
		Requests: []log.Request{{NQ: 3, Filter: filter}, {First: 3, NQ: 2}, {First: 1, NQ: 4, Filter: filter}},
	}
	if err := loaded.ReadFilters(t.Context(), store, q, 0); err != nil {
		return nil, nil, err
	}
	requests, err := replay.Requests(q, &l.Collection, replay.RequestParams{K: 12})
	if err != nil {
		t.Fatal(err)
	}
	return loaded, requests, nil
}

// TestExpressionsAreListsOfKeys checks that an expression and the list of matching ids give the same answers, in
// the engine and in exact search.
func TestExpressionsAreListsOfKeys(t *testing.T) {
	passes := func(id int) bool { return (id%17 == 3 || id%17 == 16) && id < 601 && id != 3 }
	var keys []engine.Key
	for id := range 1200 {
		if passes(id) {
			keys = append(keys, engine.NumberKey(int64(id)))
		}
	}
	var answers []string
	for _, f := range []*log.Filter{{Keys: keys}, {Expr: `tag in ["t3", "t16"] and score <= 300 and not (id == 3)`}} {
		loaded, requests, err := filtered(t, f)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		target, err := replay.NewTarget(loaded, replay.TargetOptions{Options: replay.OptionsFor("2.3.5")})
		if err != nil {
			t.Fatal(err)
		}
		s, err := target.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			a, err := s.Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for _, hits := range a.Hits {
				for _, h := range hits {
					if filter := r.Keys != nil || r.Expr != ""; filter && !passes(int(h.Key.Number)) {
						t.Errorf("%d was answered, which does not pass", h.Key.Number)
					}
				}
			}
			fmt.Fprintln(&text, a.Hits)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		exact, err := replay.Exact(t.Context(), loaded, requests, replay.OptionsFor("2.3.5"), 2)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, exact.Hits)
		answers = append(answers, text.String())
	}
	if answers[0] != answers[1] {
		t.Errorf("by keys\n%s\nby an expression\n%s", answers[0], answers[1])
	}
}

// TestInvalidExpressions checks that the error names the request and the position in the expression.
func TestInvalidExpressions(t *testing.T) {
	_, _, err := filtered(t, &log.Filter{Expr: "tag == \"t1\" and colour == 3"})
	e, ok := errors.AsType[*replay.FilterError](err)
	if !ok || e.Request != 0 ||
		!strings.Contains(err.Error(), `request 0: filter, column 17: no field "colour" in the collection`) {
		t.Errorf("%v", err)
	}
	if x, ok := errors.AsType[*expr.Error](err); !ok || x.Hint != "fields: id, score, tag" {
		t.Errorf("hint of %v", err)
	}
	loaded, requests, err := filtered(t, &log.Filter{Expr: "score < 3"})
	if err != nil {
		t.Fatal(err)
	}
	other := *requests[0]
	other.Expr = "score < 4"
	if _, err := replay.Exact(t.Context(), loaded, []*load.Request{&other}, replay.OptionsFor("2.3.5"), 1); err ==
		nil || !strings.Contains(err.Error(), "were not read") {
		t.Errorf("an expression of no log: %v", err)
	}
}

// TestFiltersMemoryLimit checks that the columns count toward the memory limit of the load, once each.
func TestFiltersMemoryLimit(t *testing.T) {
	store := openStore(t, "2.3.5")
	all := recorded(t, "2.3.5")
	c := &all[slices.IndexFunc(all, func(c recordedCollection) bool {
		return strings.HasSuffix(c.Name, "truth_small")
	})]
	l := layoutOf(t, store, c)
	l.Collection.Filter = expr.Schema{Fields: []expr.Field{{ID: 100, Name: "id", Type: binlog.Int64}}}
	q := &log.Log{Name: "recorded", Requests: []log.Request{{NQ: 1, Filter: &log.Filter{Expr: "id > 7"}}}}
	segments := loadOf(t, store, l, nil).Coverage.Memory
	for _, more := range []int64{1 << 20, 1} {
		loaded, err := replay.Load(t.Context(), store, l, replay.LoadOptions{MemoryLimit: segments + more})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(loaded.Release)
		err = loaded.ReadFilters(t.Context(), store, q, 1)
		columns := loaded.Coverage.Memory - segments
		var full *replay.MemoryError
		switch {
		case more > 1 && (err != nil || columns < 8*loaded.Coverage.Covered):
			t.Errorf("with room: %v, %d bytes of columns for %d rows", err, columns, loaded.Coverage.Covered)
		case more == 1 && (!errors.As(err, &full) || full.Need != segments+columns || full.Read != 1):
			t.Errorf("without room: %v", err)
		}
	}
}
