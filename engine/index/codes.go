package index

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/prefilter"
)

// Minimum rows, dimensions and searches for which codes pay, by kind of index.
const (
	minCodeRows = 4096

	flatDim, flatSearches   = 32, 100
	graphDim, graphSearches = 128, 5000
	listDim, listSearches   = 64, 2000
)

// releaseCodes releases the codes, if any.
func releaseCodes(c **prefilter.Codes) {
	if *c != nil {
		(*c).Release()
		*c = nil
	}
}

// codeBytes returns the size of the codes in bytes, or the estimate for rows like v if there are none.
func codeBytes(
	c *prefilter.Codes, v *engine.Vectors, m engine.Metric, estimate func(dim, rows int) int,
) (bytes int, have bool) {
	switch {
	case c != nil:
		return c.Bytes(), true
	case prefilter.Fits(v, m) != nil:
		return 0, false
	}
	return estimate(v.Dim, v.Rows), false
}

// codes adds the size of the codes.
func (d *Description) codes(s Searchable) {
	bytes, have := s.CodeBytes()
	text := fmt.Sprintf("%d bytes", bytes)
	switch {
	case bytes == 0:
		return
	case !have:
		text += " more, for many searches"
	}
	d.Facts = append(d.Facts, Fact{
		Name: "8-bit codes", Text: text, Key: "code_bytes", Number: float64(bytes), IsCount: true,
	})
}
