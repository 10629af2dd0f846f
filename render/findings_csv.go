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
	out := newOutput(w)
	if !o.NoHeader {
		for i, name := range findingColumns {
			if i > 0 {
				out.buf = append(out.buf, ',')
			}
			out.buf = append(out.buf, name...)
		}
		out.buf = append(out.buf, '\n')
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
	return out.flush()
}

func appendFinding(out *output, f *check.Finding, change string) {
	cost := ""
	if f.Cost > 0 {
		cost = string(doc.AppendNumber(nil, f.Cost))
	}
	for i, field := range [...]string{
		change, f.Severity.String(), f.Check, f.Object.Resource, f.Object.ID, f.Object.Name, f.Message, f.Impact, string(f.Hint), cost, f.Cause,
	} {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		out.buf = appendField(out.buf, []byte(Harmless(field)))
	}
	out.buf = append(out.buf, '\n')
	out.drain()
}
