package view

import (
	"testing"

	"kitescope/inspect/model/modeltest"
)

// BenchmarkSelect selects and sorts a million segments.
func BenchmarkSelect(b *testing.B) {
	table := segments.Table(NewEnv(modeltest.Large(1_000_000), modeltest.Now))
	for name, c := range map[string]struct{ where, sort []string }{
		"all":            {},
		"one collection": {where: []string{"coll=collection_7"}},
		"three terms":    {where: []string{"state=flushed", "rows>1e3", "level=L1"}},
		"by rows":        {sort: []string{"-rows"}},
		"by three":       {sort: []string{"collection,state,-rows"}},
		"one id":         {where: []string{"470590570000500000"}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				where, err := ParseSelection(segments, c.where)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Select(table, Query{Where: where, Sort: c.sort}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("row of", func(b *testing.B) {
		for b.Loop() {
			if RowOf(table, "470590570000500000") != 500000 {
				b.Fatal("not found")
			}
		}
	})
}

// FuzzParseSelection reads arbitrary words: an error is fine, a panic or a selection that
// cannot be applied is not.
func FuzzParseSelection(f *testing.F) {
	for _, word := range []string{
		"coll=docs", "rows>1e6", "size>=1GiB", "age>5m", "created_at<2026-11-01", "name~^a", "state!=Flushed,x", "compacted_from=*1",
		"index_states.a=b", "docs/_default", "!x*", `name="a,b"`, "created_at>-3h", "created_at=now", "x=", "sorted=yes", "a~(",
	} {
		f.Add(word)
	}
	env := smallEnv()
	f.Fuzz(func(t *testing.T, word string) {
		for _, r := range Resources {
			s, err := ParseSelection(r, []string{word})
			if err != nil {
				continue
			}
			table := r.Table(env)
			rows := s.Rows(table)
			if len(rows) > table.Len() {
				t.Errorf("%q selects %d of %d rows", word, len(rows), table.Len())
			}
			s.Unmatched(table)
			_ = s.Collection()
			_ = s.Needs()
		}
	})
}
