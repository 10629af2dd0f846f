package replays

import (
	"io"

	"kitescope/doc"
	"kitescope/render"
)

// writeSaved writes a report whose document another package defines, as it reads it again: that as JSON or YAML, and the sheet in all
// other formats.
func writeSaved(w io.Writer, format render.ReportFormat, s *render.Sheet, tell func(e *doc.Encoder) error) error {
	switch format.Name() {
	case "json":
		return tell(doc.JSON(w, render.ItemsOnly))
	case "yaml":
		return tell(doc.YAML(w))
	}
	return s.Write(w, format)
}
