package view

import (
	"testing"
)

// FuzzParseSelection checks that any word gives an error or a selection that can be applied, never a panic.
func FuzzParseSelection(f *testing.F) {
	for _, word := range []string{
		"coll=docs", "rows>1e6", "size>=1GiB", "age>5m", "created_at<2026-11-01", "name~^a", "state!=Flushed,x",
		"compacted_from=*1", "index_states.a=b", "docs/_default", "!x*", `name="a,b"`, "created_at>-3h",
		"created_at=now", "x=", "sorted=yes", "a~(",
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
