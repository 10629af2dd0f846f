package rows

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/tui/tuitest"
)

// A filter that is typed on while its predecessors are still on their way must end
// with the rows that it would have found alone, in the same order.
func TestFilterTypedOn(t *testing.T) {
	env := view.NewEnv(tuitest.ManySegments(3000), tuitest.Epoch())
	r := resourceNamed(t, "segments")
	rows := r.Table(env)
	sorted, err := r.ParseSort([]string{"-rows"})
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string][]int32{"all rows": nil, "sorted": table.Sort(rows, nil, sorted)}
	for name, order := range orders {
		for pause := range 4 { // pieces that each text gets before the next key
			t.Run(fmt.Sprintf("%s, %d pieces a key", name, pause), func(t *testing.T) {
				var newest atomic.Int64
				now := tuitest.Epoch()
				start := Matching{
					Newest: &newest, Table: rows, Columns: r.ColumnsFor(table.Always, 0), Order: order, Total: rows.Len(), Screen: 10,
					Now: func() time.Time { now = now.Add(time.Hour); return now }, // every piece is one stride
				}
				var last Matching
				for i, text := range []string{"g", "gr", "growing", "growing c", "growing collection_0", "growing collection_09"} {
					j := start
					if j.Filter, err = ParseFilter(r, text); err != nil {
						t.Fatal(err)
					}
					if i > 0 {
						j = j.Within(&last)
					}
					for range pause {
						j = j.Step()
					}
					last = j
				}
				for !last.Done() {
					last = last.Step()
				}
				alone := start
				alone.Filter = last.Filter
				for !alone.Done() {
					alone = alone.Step()
				}
				if len(alone.Found) == 0 {
					t.Fatal("nothing found")
				}
				if diff := cmp.Diff(alone.Found, last.Found); diff != "" {
					t.Errorf("(-alone +typed on):\n%s", diff)
				}
			})
		}
	}
}

// The command that is copied selects the same rows as the filter.
func TestFilterAsSelector(t *testing.T) {
	r := resourceNamed(t, "segments")
	table := r.Table(view.NewEnv(tuitest.Fixture(), tuitest.Epoch()))
	for _, text := range []string{"state=growing", "!state=growing", "!state!=growing", "!rows>3000", "!rows>=3000", "!rows<3000", "!rows<=3000", "!partition~def*", "!coll=docs_hnsw_cos"} {
		f, err := ParseFilter(r, text)
		if err != nil {
			t.Fatal(err)
		}
		word, ok := f.terms[0].selector()
		if !ok {
			t.Errorf("%s has no selector", text)
			continue
		}
		where, err := view.ParseSelection(r, []string{word})
		if err != nil {
			t.Errorf("%s as %s: %v", text, word, err)
			continue
		}
		x := newMatcher(&f, table, nil)
		kept := 0
		for row := range table.Len() {
			if x.match(row) != where.Match(table, row) {
				t.Errorf("%s and %s differ about %s", text, word, table.Ref(row).ID)
			}
			if x.match(row) {
				kept++
			}
		}
		if kept == 0 || kept == table.Len() {
			t.Errorf("%s keeps %d of %d rows: it decides nothing", text, kept, table.Len())
		}
	}
}

func TestFilterAsGrep(t *testing.T) {
	r := resourceNamed(t, "segments")
	for text, want := range map[string]string{
		"docs":           "grep -iF docs",
		"!docs":          "grep -ivF docs",
		"re:^docs":       "grep -iE '(^| )docs'",
		"!re:shed$":      "grep -ivE 'shed( |$)'",
		`re:\d{18}`:      `grep -iP '\d{18}'`,
		`re:US\$`:        `grep -iP 'US\$'`,
		`"two words"`:    "grep -iF 'two words'",
		"re:^(a|b)c.*d$": "grep -iE '(^| )(a|b)c.*d( |$)'",
	} {
		f, err := ParseFilter(r, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.terms[0].grep().String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func resourceNamed(t *testing.T, name string) *view.Resource {
	t.Helper()
	for _, r := range view.Resources {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no resource %s", name)
	return nil
}
