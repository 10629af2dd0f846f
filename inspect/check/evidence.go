package check

import (
	"time"

	"kitescope/words"
)

// Evidence is one fact: a name, its value as text, and where it was read.
type Evidence struct {
	Name, Value string
	// Figure is the same value for programs; without a unit there is none.
	Figure Figure `doc:"-"`
	// Source is "etcd", "querynode-3", "querycoord-16 ShowConfigurations"; "" where it is worked out.
	Source string
}

// Figure is a number with its unit: "count", "bytes", "seconds" or "percent".
type Figure struct {
	Value float64
	Unit  string
}

// Fact is a piece of evidence that is no number: its name, its value as text, and where it was read, "" if it is worked out.
func Fact(name, value, source string) Evidence {
	return Evidence{Name: name, Value: value, Source: source}
}

// Count is how many there are.
func Count[N words.Integer](name string, n N, source string) Evidence {
	return Evidence{name, words.Number(n), Figure{float64(n), "count"}, source}
}

// Size is a number of bytes.
func Size(name string, bytes int64, source string) Evidence {
	return Evidence{name, words.Bytes(bytes), Figure{float64(bytes), "bytes"}, source}
}

// Lasts is how long something takes, or has taken.
func Lasts(name string, d time.Duration, source string) Evidence {
	return Evidence{name, words.Span(d), Figure{d.Seconds(), "seconds"}, source}
}

// Share is a part of 1.
func Share(name string, part float64, source string) Evidence {
	return Evidence{name, words.Share(part), Figure{100 * part, "percent"}, source} //nolint:mnd // percent
}
