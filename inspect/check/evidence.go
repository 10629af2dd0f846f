package check

import (
	"fmt"
	"strconv"
	"time"

	"kitescope/internal/words"
)

// Evidence is one fact: a name, its value as text, and where it was read.
type Evidence struct {
	Name, Value string
	// Figures are the numbers that the value states, for programs, in its order.
	Figures []Figure `doc:"-"`
	// Source is "etcd", "querynode-3", "querycoord-16 ShowConfigurations"; "" where it is worked out.
	Source string
}

// Figure is a number with its unit, and what a sentence makes of it: "count", "bytes", "seconds", "percent", "cores" of a processor,
// "per second", or "ratio".
type Figure struct {
	Value float64
	Unit  string
	Text  string
}

// String is the figure as a sentence has it: "1.5 GiB".
func (f Figure) String() string { return f.Text }

// N is how many there are: "4,096".
func N[I words.Integer](n I) Figure { return Figure{float64(n), "count", words.Number(n)} }

// Plural is how many there are of something: "1 row", "4,096 rows".
func Plural[I words.Integer](n I, noun string) Figure {
	return Figure{float64(n), "count", words.Plural(n, noun)}
}

// Digits is how many there are, without separators: "4096".
func Digits[I words.Integer](n I) Figure {
	return Figure{float64(n), "count", strconv.FormatInt(int64(n), 10)}
}

// Bytes is a size: "1.5 GiB".
func Bytes(n int64) Figure { return Figure{float64(n), "bytes", words.Bytes(n)} }

// Span is how long something takes: "4 min".
func Span(d time.Duration) Figure { return Figure{d.Seconds(), "seconds", words.Span(d)} }

// Part is a part of 1: "35.3%".
func Part(part float64) Figure { return Figure{100 * part, "percent", words.Share(part)} } //nolint:mnd // percent

// Number is one of another unit, written by a format: "%.2f".
func Number(value float64, unit, format string) Figure {
	return Figure{value, unit, fmt.Sprintf(format, value)}
}

// Fact is a piece of evidence that is no number: its name, its value as text, and where it was read, "" if it is worked out.
func Fact(name, value, source string) Evidence {
	return Evidence{Name: name, Value: value, Source: source}
}

// Measured is a piece of evidence that states numbers: those of the arguments that are figures.
func Measured(name, source, format string, args ...any) Evidence {
	e := Evidence{Name: name, Value: fmt.Sprintf(format, args...), Source: source}
	for _, a := range args {
		if f, ok := a.(Figure); ok {
			e.Figures = append(e.Figures, f)
		}
	}
	return e
}

// Count is how many there are.
func Count[I words.Integer](name string, n I, source string) Evidence {
	return Measured(name, source, "%s", N(n))
}

// Size is a number of bytes.
func Size(name string, bytes int64, source string) Evidence {
	return Measured(name, source, "%s", Bytes(bytes))
}

// Lasts is how long something takes, or has taken.
func Lasts(name string, d time.Duration, source string) Evidence {
	return Measured(name, source, "%s", Span(d))
}

// Share is a part of 1.
func Share(name string, part float64, source string) Evidence {
	return Measured(name, source, "%s", Part(part))
}
