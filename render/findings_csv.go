package render

import (
	"io"

	"kitescope/doc"
	"kitescope/inspect/check"
)

// findingColumns are the columns of CSV, named as in JSON.
var findingColumns = [...]string{
	"change", "severity", "check", "resource", "id", "name", "message", "impact", "hint", "cost", "cause",
}

// writeFindingsCSV writes one finding a line, what is no longer found last.
func writeFindingsCSV(w io.Writer, d *Diagnosis, o *Options) error {
	out := doc.NewOutput(w, doc.Pieces)
	if !o.NoHeader {
		for i, name := range findingColumns {
			if i > 0 {
				out.Buf = append(out.Buf, ',')
			}
			out.Buf = append(out.Buf, name...)
		}
		out.Buf = append(out.Buf, '\n')
	}
	for _, f := range d.Report.Findings {
		change := ""
		if c := d.Since.Of(f); c != nil {
			change = c.Kind.String()
		}
		appendFinding(&out, f, change)
	}
	for _, c := range d.gone() {
		appendFinding(&out, c.Before, c.Kind.String())
	}
	return out.Flush()
}

func appendFinding(out *doc.Output, f *check.Finding, change string) {
	cost := ""
	if f.Cost > 0 {
		cost = string(doc.AppendNumber(nil, f.Cost))
	}
	for i, field := range [...]string{
		change, f.Severity.String(), f.Check, f.Object.Resource, f.Object.ID, f.Object.Name, f.Message, f.Impact, string(f.Hint), cost, f.Cause,
	} {
		if i > 0 {
			out.Buf = append(out.Buf, ',')
		}
		out.Buf = appendField(out.Buf, []byte(Harmless(field)))
	}
	out.Buf = append(out.Buf, '\n')
	out.Drain()
}
