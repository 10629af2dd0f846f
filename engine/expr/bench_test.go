package expr

import (
	"fmt"
	"testing"

	"kitescope/engine/binlog"
)

// BenchmarkLeft evaluates expressions over a million rows, on one core.
func BenchmarkLeft(b *testing.B) {
	const rows = 1_000_000
	c := &Columns{Rows: rows, Fields: map[int64]*binlog.Column{}}
	ints, floats, texts, docs := make([]int64, rows), make([]float64, rows), make([]string, rows), make([]string, rows)
	state := uint64(1)
	for i := range rows {
		state = state*6364136223846793005 + 1442695040888963407
		ints[i], floats[i] = int64(state>>33)%1000, float64(state>>40)/1e5
		texts[i] = fmt.Sprintf("word-%d", state>>50)
		docs[i] = fmt.Sprintf(`{"title":"%s","k":%d}`, texts[i], ints[i])
	}
	c.Fields[100] = &binlog.Column{Rows: rows, Int64s: ints}
	c.Fields[105] = &binlog.Column{Rows: rows, Floats: floats}
	c.Fields[106] = &binlog.Column{Rows: rows, Strings: texts}
	c.Fields[107] = &binlog.Column{Rows: rows, Strings: docs}
	for _, text := range []string{
		"id < 500", "id == 7", "id != 7", "d >= 50.5", "100 <= id < 200", "id in [1, 2, 3]", "id in [1, 2, 3, 5, 8, 13, 21, 34, 55]", "id % 7 == 0",
		`s == "word-77"`, `s like "word-1%"`, `s in ["word-1", "word-2", "word-3"]`, `id < 500 and d > 50 or s == "word-5"`, `j["k"] < 500`,
	} {
		p, err := Parse(text, testSchema())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Left(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
