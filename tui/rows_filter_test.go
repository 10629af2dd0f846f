package tui

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/tui/draw"
	"kitescope/tui/tuitest"
)

// TestFilterSearchesAllColumns checks for every resource that a filter selects the same rows as a search in the
// formatted cells, for texts that occur, in any case, and for texts that do not.
func TestFilterSearchesAllColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	env := view.NewEnv(tuitest.Fixture(), tuitest.Epoch())
	kept := 0
	for _, r := range view.Resources {
		rows := r.Table(env)
		columns := r.ColumnsFor(table.Hidden, 0)
		texts := make([][]string, rows.Len())
		for row := range texts {
			for _, c := range columns {
				texts[row] = append(texts[row], strings.ToLower(draw.CellText(&r.Columns[c], rows.Cell(row, c))))
			}
		}
		for range 60 {
			word := strconv.Itoa(rng.IntN(1000))
			if rows.Len() > 0 && rng.IntN(8) > 0 {
				text := texts[rng.IntN(len(texts))][rng.IntN(len(columns))]
				from := rng.IntN(len(text) + 1)
				word = text[from : from+rng.IntN(len(text)-from+1)]
			}
			if word == "" || !utf8.ValidString(word) || strings.ContainsAny(word, `'"\`) {
				continue
			}
			f := rowFilter{terms: []term{{text: []byte(word), number: []byte(word), negate: rng.IntN(4) == 0}}}
			x := newMatcher(&f, rows, columns)
			for range rows.Len() {
				row := rng.IntN(rows.Len())
				there := slices.ContainsFunc(texts[row], func(s string) bool { return strings.Contains(s, word) })
				if got, want := x.match(row), there != f.terms[0].negate; got != want {
					t.Fatalf("%s %d, %+v: %v, want %v of %q", r.Name, row, f.terms[0], got, want, texts[row])
				}
				if there {
					kept++
				}
			}
		}
	}
	if kept < 1000 {
		t.Errorf("only %d hits: hardly anything was tried", kept)
	}
}

// TestFilterAsSelector checks that the copied command selects the same rows as the filter.
func TestFilterAsSelector(t *testing.T) {
	r := resourceNamed(t, "segments")
	table := r.Table(view.NewEnv(tuitest.Fixture(), tuitest.Epoch()))
	for _, text := range []string{
		"state=growing", "!state=growing", "!state!=growing", "!rows>3000", "!rows>=3000", "!rows<3000", "!rows<=3000",
		"!partition~def*", "!coll=docs_hnsw_cos",
	} {
		f, err := parseRowFilter(r, text)
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

// TestFilterOfCounts checks that a count is found both with and without thousands separators.
func TestFilterOfCounts(t *testing.T) {
	r := resourceNamed(t, "segments")
	rows := r.Table(view.NewEnv(tuitest.ManySegments(3000), tuitest.Epoch()))
	columns := []int{r.Column("rows")}
	found := func(text string) (n int) {
		f, err := parseRowFilter(r, text)
		if err != nil {
			t.Fatal(err)
		}
		x := newMatcher(&f, rows, columns)
		for row := range rows.Len() {
			if x.match(row) {
				n++
			}
		}
		return n
	}
	if plain, shown := found("7920"), found("7,920"); plain == 0 || plain != shown {
		t.Errorf("7920 finds %d rows, 7,920 finds %d", plain, shown)
	}
	if n := found(","); n != 0 {
		t.Errorf("a comma finds %d counts", n)
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
		f, err := parseRowFilter(r, text)
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

// TestFilterMatchesShownText checks that a filter accepts text as displayed, headers with blanks and sizes with
// units, and that an unknown column is an error.
func TestFilterMatchesShownText(t *testing.T) {
	r := resourceNamed(t, "segments")
	for _, c := range []struct{ text, words, err string }{
		{"served by=querynode-7", "served_by=querynode-7", ""},
		{"flushed served by=7 deletes>0", "flushed served_by=7 deletes>0", ""},
		{"size>1.2 MiB", "size>1.2 MiB", ""},
		{"rows=2,006", "rows=2,006", ""},
		{"2,006", "2,006", ""},
		{"a/b=c", "a/b=c", ""},
		{"sate=growing", "", `selector "sate=growing": unknown column of segments "sate"; did you mean state?`},
		{"foo>0", "", `selector "foo>0": unknown column of segments "foo"`},
	} {
		f, err := parseRowFilter(r, c.text)
		if (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v", c.text, err)
		}
		var got []string
		for i := range f.terms {
			got = append(got, cmp.Or(f.terms[i].word, string(f.terms[i].text)))
		}
		if strings.Join(got, " ") != c.words {
			t.Errorf("%s is read as %q, want %q", c.text, got, c.words)
		}
	}
}
