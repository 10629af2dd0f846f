package render

import (
	"iter"
	"strconv"
	"time"

	"kitescope/inspect/view"
	"kitescope/words"
)

// sheet is a report, ready for every format: lines and columns for people,
// fields for scripts.
type sheet struct {
	kind string
	o    *ReportOptions
	// wide says that columns for wide tables are shown.
	wide bool
	head []sheetLine
	// parts are the tables, one below the other.
	parts []sheetPart
	foot  []sheetLine

	// about tells scripts what stands before the items; fields are the keys of each item and the
	// columns of CSV; nested are keys of items that CSV has no place for.
	about  func(e encoder)
	fields []sheetField
	nested func(e encoder, item int)
	// items is how many are shown, of all.
	items, all int
	// alone says that there is one item and never a list.
	alone bool
	// flat replaces fields and items in CSV, where an item is several lines.
	flat     []sheetField
	flatRows int
}

// sheetLine is a line of prose. Its pieces have been made harmless.
type sheetLine struct {
	role Role
	text string
	// after are further pieces in their own roles.
	after []sheetPiece
	// whole lines are never broken or cut: commands are to be copied.
	whole bool
}

type sheetPiece struct {
	role Role
	text string
}

// sheetPart is a table with lines above it.
type sheetPart struct {
	head    []sheetLine
	columns []sheetColumn
	rows    int
	// joined parts go on with the table above, and have the same columns: their head stands between its rows.
	joined bool
}

// sheetColumn is a column for people.
type sheetColumn struct {
	title string
	right bool
	// wide columns are in wide tables only; of the others those of the highest priority go first where a
	// terminal is narrow, and 0 stays.
	wide     bool
	priority int
	// name marks what may be shortened, in its middle, in a terminal.
	name bool
	text func(row int) string
	role func(row int) Role // nil: plain
}

// sheetField is a key for scripts.
type sheetField struct {
	name string
	of   func(row int) datum
}

// datumKind is how a value is written.
type datumKind uint8

const (
	datumText datumKind = iota
	datumInt
	datumNumber // four decimals
	datumExact
	datumBool
	datumTime
	datumSeconds
	datumTexts
)

// datum is a value for scripts.
type datum struct {
	kind   datumKind
	absent view.Absence
	n      int64 // datumTime and datumSeconds: nanoseconds
	f      float64
	s      string
	list   []string
}

func textDatum(s string) datum       { return datum{s: s} }
func intDatum(n int64) datum         { return datum{kind: datumInt, n: n} }
func numberDatum(f float64) datum    { return datum{kind: datumNumber, f: f} }
func boolDatum(b bool) datum         { return datum{kind: datumBool, n: int64(b2i(b))} }
func textsDatum(list []string) datum { return datum{kind: datumTexts, list: list} }
func noDatum() datum                 { return datum{absent: view.None} }
func unknownDatum(k datumKind) datum { return datum{kind: k, absent: view.Unknown} }

// countDatum is a number of events, -1 where it is unknown.
func countDatum(n int64) datum {
	if n < 0 {
		return unknownDatum(datumInt)
	}
	return intDatum(n)
}

// exactDatum is a number with all digits, unknown where it is none.
func exactDatum(f float64) datum {
	if f != f {
		return unknownDatum(datumExact)
	}
	return datum{kind: datumExact, f: f}
}

// timeDatum is a moment, unknown where it is zero.
func timeDatum(t time.Time) datum {
	if t.IsZero() {
		return unknownDatum(datumTime)
	}
	return datum{kind: datumTime, n: t.UnixNano()}
}

// tell writes a present value.
func (d *datum) tell(e encoder) {
	switch d.kind {
	case datumText:
		e.text(d.s)
	case datumInt:
		e.integer(d.n)
	case datumNumber:
		e.number(d.f)
	case datumExact:
		e.exact(d.f)
	case datumBool:
		e.boolean(d.n != 0)
	case datumTime:
		e.time(d.n)
	case datumSeconds:
		e.seconds(d.n)
	case datumTexts:
		e.texts(d.list)
	}
}

// shown is how many of n entries are within the limit.
func (o *ReportOptions) shown(n int) int {
	if o.Limit > 0 {
		return min(n, o.Limit)
	}
	return n
}

// more says how many entries are not shown.
func (o *ReportOptions) more(n int) []sheetLine {
	rest := n - o.shown(n)
	if rest == 0 {
		return nil
	}
	dots := "… "
	if o.ASCII {
		dots = "... "
	}
	return []sheetLine{{role: RoleDim, text: dots + strconv.Itoa(rest) + " more (--limit 0 shows all)"}}
}

// countText is a number of events, "?" where it is unknown.
func countText(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return strconv.FormatInt(n, 10)
}

// magnitudes are the values that choose a table's unit: flat, or cum where that is nothing.
func magnitudes[T any](list []T, flat, cum func(*T) int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range list {
			v := flat(&list[i])
			if v == 0 {
				v = cum(&list[i])
			}
			if !yield(v) {
				return
			}
		}
	}
}
