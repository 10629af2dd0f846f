package check

import (
	"fmt"
	"strconv"
	"time"

	"kitescope/internal/words"
)

// Evidence is one fact: a name, its value as text, and its source.
type Evidence struct {
	Name, Value string
	// Figures holds the numbers in the value, in their order, for programs.
	Figures []Figure `doc:"-"`
	// Source is the source of the value, e.g. "etcd", "querynode-3", "querycoord-16 ShowConfigurations". It
	// is "" for computed values.
	Source string
}

// Figure is a number with its unit and its text in a sentence. The unit is "count", "bytes", "seconds",
// "percent", "cores" of a processor, "per second" or "ratio".
type Figure struct {
	Value float64
	Unit  string
	Text  string
}

// String returns the text: "1.5 GiB".
func (f Figure) String() string { return f.Text }

// N returns a count: "4,096".
func N[I words.Integer](n I) Figure { return Figure{float64(n), "count", words.Number(n)} }

// Plural returns a count with a noun: "1 row", "4,096 rows".
func Plural[I words.Integer](n I, noun string) Figure {
	return Figure{float64(n), "count", words.Plural(n, noun)}
}

// Digits returns a count without separators: "4096".
func Digits[I words.Integer](n I) Figure {
	return Figure{float64(n), "count", strconv.FormatInt(int64(n), 10)}
}

// Bytes returns a size: "1.5 GiB".
func Bytes(n int64) Figure { return Figure{float64(n), "bytes", words.Bytes(n)} }

// Span returns a duration: "4 min".
func Span(d time.Duration) Figure { return Figure{d.Seconds(), "seconds", words.Span(d)} }

// Percent returns a share between 0 and 1 as a percentage: "35.3%".
func Percent(part float64) Figure { return Figure{100 * part, "percent", words.Share(part)} } //nolint:mnd // percent

// Number returns a figure in any unit, with a format such as "%.2f".
func Number(value float64, unit, format string) Figure {
	return Figure{value, unit, fmt.Sprintf(format, value)}
}

// Fact returns a piece of evidence without figures. source is "" for computed values.
func Fact(name, value, source string) Evidence {
	return Evidence{Name: name, Value: value, Source: source}
}

// Factf returns a piece of evidence with a formatted value. The arguments of type Figure become its
// Figures.
func Factf(name, source, format string, args ...any) Evidence {
	e := Evidence{Name: name, Value: fmt.Sprintf(format, args...), Source: source}
	for _, a := range args {
		if f, ok := a.(Figure); ok {
			e.Figures = append(e.Figures, f)
		}
	}
	return e
}

// Count returns a count as evidence.
func Count[I words.Integer](name string, n I, source string) Evidence {
	return Factf(name, source, "%s", N(n))
}

// Size returns a number of bytes as evidence.
func Size(name string, bytes int64, source string) Evidence {
	return Factf(name, source, "%s", Bytes(bytes))
}

// Duration returns a duration as evidence.
func Duration(name string, d time.Duration, source string) Evidence {
	return Factf(name, source, "%s", Span(d))
}

// Share returns a share between 0 and 1 as evidence.
func Share(name string, part float64, source string) Evidence {
	return Factf(name, source, "%s", Percent(part))
}
