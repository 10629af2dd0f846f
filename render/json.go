package render

import (
	"cmp"
	"io"

	"kitescope/internal/encode"
	"kitescope/internal/table"
)

var (
	jsonWriter = documents("json", "one JSON object with source and items, one item per line (docs/reference/json.md)",
		encode.JSON)
	jsonlWriter = documents("jsonl", "one JSON object per line and item, without an envelope",
		func(w io.Writer, _ int) *encode.Encoder { return encode.JSON(w, 0) })
	yamlWriter = documents("yaml", "same as json, in YAML", func(w io.Writer, _ int) *encode.Encoder {
		return encode.YAML(w)
	})
)

// documents returns the writer of a format with an Encoder.
func documents(name, doc string, encoder func(w io.Writer, open int) *encode.Encoder) *writer {
	w := &writer{name: name, doc: doc, show: table.Hidden, appendable: name == "jsonl"}
	w.structured = func(w io.Writer, d Document, spread int, _ *Options) error {
		e := encoder(w, spread)
		d(e)
		return e.Flush()
	}
	w.sheet = func(to io.Writer, s *Sheet) error {
		if name == "jsonl" {
			return s.lines(to)
		}
		return w.structured(to, s.Document, cmp.Or(s.Open, []int{ItemsOnly, Everything}[BoolInt(s.SingleItem)]),
			&s.Options.Options)
	}
	return w
}

// jsonLine is an item on its own line.
type jsonLine struct{ *items }

func (l *jsonLine) appendRow(dst []byte, i int) []byte {
	return append(l.items.appendRow(dst, i), '\n')
}

// jsonItem is an item in a list with an item per line.
type jsonItem struct {
	*items
	indent string
}

func (l *jsonItem) appendRow(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return l.items.appendRow(append(dst, l.indent...), i)
}
