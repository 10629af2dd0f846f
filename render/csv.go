package render

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

var csvWriter = &writer{
	name: "csv", doc: "comma-separated values as in RFC 4180, columns named as in json", show: table.Hidden,
	appendable: true,
	sheet: func(w io.Writer, s *Sheet) error {
		if s.Flat != nil && len(s.Options.Query.Columns) == 0 {
			return WriteCSV(w, s.Flat, &s.Options.Options)
		}
		return WriteCSV(w, s.Items, &s.Options.Options)
	},
}

// WriteCSV writes a grid as CSV with plain numbers, RFC 3339 times, durations in seconds, and lists separated by
// ";". An empty field is a value that does not exist, and "?" is an unknown value.
func WriteCSV(w io.Writer, g *table.Grid, o *Options) error {
	out := encode.NewOutput(w, encode.Pieces)
	if !o.NoHeader {
		for j := range g.Columns {
			if j > 0 {
				out.Buf = append(out.Buf, ',')
			}
			out.Buf = append(out.Buf, g.Column(j).Name...)
		}
		out.Buf = append(out.Buf, '\n')
	}
	writeRows(&out, g.Len(), func() *csvRow { return &csvRow{grid: g} })
	return out.Flush()
}

type csvRow struct {
	grid  *table.Grid
	field []byte
}

func (r *csvRow) appendRow(dst []byte, i int) []byte {
	columns := r.grid.Table.Schema().Columns
	for j, column := range r.grid.Columns {
		if j > 0 {
			dst = append(dst, ',')
		}
		r.field = appendValue(r.field[:0], r.grid.Cell(i, j), columns[column].Kind)
		dst = appendField(dst, r.field)
	}
	if len(r.grid.Columns) == 1 && len(r.field) == 0 { // an empty line would not be a record
		dst = append(dst, '"', '"')
	}
	return append(dst, '\n')
}

// appendValue appends a cell for scripts.
func appendValue(dst []byte, c table.Cell, k table.Kind) []byte {
	switch c.Absent {
	case table.Unknown:
		return append(dst, words.UnknownMark...)
	case table.None:
		return dst
	case table.Present:
	}
	switch k {
	case table.ID, table.NamedID, table.Int, table.Bytes:
		return strconv.AppendInt(dst, c.Int, 10)
	case table.Percent, table.Number:
		return encode.AppendNumber(dst, c.Float)
	case table.Exact:
		return encode.AppendExact(dst, c.Float)
	case table.Time:
		return encode.AppendTime(dst, c.Int)
	case table.Duration:
		return encode.AppendSeconds(dst, c.Int)
	case table.Bool:
		return strconv.AppendBool(dst, c.Int != 0)
	case table.List:
		for i, s := range c.List {
			if i > 0 {
				dst = append(dst, ';')
			}
			dst = append(dst, words.SanitizeLines(s)...)
		}
		return dst
	case table.NamedIDs, table.NamedPairs, table.NamedText:
		plain, kind := c.ForScripts(k)
		return appendValue(dst, plain, kind)
	case table.Findings:
		return appendTallyCSV(dst, c)
	case table.Pairs:
		for i := 0; i+1 < len(c.List); i += 2 {
			if i > 0 {
				dst = append(dst, ';')
			}
			dst = append(dst, words.SanitizeLines(c.List[i]+"="+c.List[i+1])...)
		}
		return dst
	default:
		return append(dst, words.SanitizeLines(c.Text)...)
	}
}

// appendField appends a CSV field and quotes it if needed. It adds an apostrophe before text that a spreadsheet
// would evaluate as a formula, because names are untrusted (OWASP, "CSV Injection").
func appendField(dst, field []byte) []byte {
	if isFormula(field) {
		field = append([]byte{'\''}, field...)
	}
	if !bytes.ContainsAny(field, ",\"\r\n") && (len(field) == 0 || field[0] != ' ' && field[len(field)-1] != ' ') {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	for _, c := range field {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// isFormula reports whether a spreadsheet evaluates a cell. It checks the first character, including full-width
// characters, which Excel accepts too. Numbers are not formulas.
func isFormula[T ~string | ~[]byte](cell T) bool {
	r, _ := utf8.DecodeRuneInString(string(cell[:min(len(cell), utf8.UTFMax)]))
	if len(cell) == 0 || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) {
		return false
	}
	_, err := strconv.ParseFloat(string(cell), 64)
	return err != nil
}

// EscapeFormula escapes a cell so that spreadsheets do not evaluate it, for copied tables that are not CSV.
func EscapeFormula(cell string) string {
	if isFormula(cell) {
		return "'" + cell
	}
	return cell
}

var nameWriter = &writer{
	name: "name", doc: "resource/name per line, for other commands: segment/470590569932853029", show: table.Always,
	appendable: true,
	sheet: func(w io.Writer, s *Sheet) error {
		g := s.Items
		r := g.Table.Schema()
		out := encode.NewOutput(w, encode.Pieces)
		handle := r.Column(r.Handle)
		for i := range g.Len() {
			out.Buf = append(append(out.Buf, r.Singular...), '/')
			out.Buf = AppendText(out.Buf, g.Table.Cell(g.Row(i), handle), r.Columns[handle].Kind)
			out.Buf = append(out.Buf, '\n')
			out.Drain()
		}
		return out.Flush()
	},
}
