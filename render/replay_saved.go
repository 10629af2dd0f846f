package render

import (
	"io"

	"kitescope/doc"
)

// writeSaved writes a report whose document another package defines, as it reads it again: that as JSON or YAML, and the sheet in all
// other formats.
func writeSaved(w io.Writer, format ReportFormat, s *sheet, tell func(e *doc.Encoder) error) error {
	switch format.Name() {
	case "json":
		return tell(doc.JSON(w, itemsOnly))
	case "yaml":
		return tell(doc.YAML(w))
	}
	return s.write(w, format)
}
