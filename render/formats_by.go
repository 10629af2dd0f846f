package render

import "kitescope/internal/table"

// Writers of formats that cannot represent tables. Kinds that support such a format write it themselves
// (FormatsBy).
var (
	svgWriter    = &writer{name: "svg", doc: "a picture with names as text", show: table.Hidden}
	pngWriter    = &writer{name: "png", doc: "a picture", show: table.Hidden, binary: true}
	foldedWriter = &writer{
		name: "folded", doc: "one stack per line with its value; for a difference, with both", show: table.Hidden,
	}
	speedscopeWriter = &writer{name: "speedscope", doc: "for speedscope.app", show: table.Hidden}
)

// FormatsBy returns the formats that have an entry in writes, for documents that are not tables.
func FormatsBy[W any](writes map[string]W) Formats {
	var list Formats
	for _, w := range writers {
		if _, has := writes[w.name]; has {
			list = append(list, Form{w.name, w.doc})
		}
	}
	return list
}
