// Package encode encodes Go values as JSON, YAML, or maps and lists for templates. It also reads the files that
// kitescope saved.
//
//  1. JSON, YAML and Values return an Encoder.
//  2. Value encodes a value: structs as objects with their fields in order, maps sorted by key, Objects in
//     their own order. Struct tags control the encoding, see field.
//  3. Values that are too large to be built, e.g. a million rows of a grid, implement Marshaler and write
//     themselves to the Encoder.
//  4. File is a kind of document with a head (apiVersion, kind, version) that can be written and read.
//
// Keys are in snake case: the Go name, with the suffix "_seconds" for durations. Ids are strings, because
// JavaScript and jq lose bits above 2^53. Times are RFC 3339 in UTC. Unknown values (a nil pointer, NaN, a zero
// time) are omitted; lists are never null.
//
// This package uses encoding/json only to decode raw values. The standard package cannot escape characters that
// terminals interpret (U+202E, C1 controls) or distinguish a missing key from a zero. Its errors name Go types
// instead of positions in lists. It cannot convert a struct to YAML or to template values in which 3 seconds stay
// a float. Small types and hooks to add all this, and a second pass over its output, took more code than this
// package.
//
// Package encoding/json is still used for files of other programs (profiles, benchmarks, records of Milvus),
// and for files of kitescope with an older, fixed format. The manifests of pulled profiles and of packs have a
// "format" instead of a kind and omit zero values, and a pack's manifest is identified by its bytes. The state
// of a trial has Go names and nanoseconds, because only the resumed trial reads it. Baselines and runs are
// lines that people edit and other programs write, in which an unknown key is an error.
package encode

import (
	"io"
	"reflect"
	"time"
)

// ID is an int64 that is encoded as a string.
type ID int64

// Exact is a number that is encoded with all its digits, so that a probability of 1e-12 does not become 0.
type Exact float64

// Object is an object with dynamic keys, in order.
type Object []Entry

// Entry is a key and value of an Object. It is omitted if the value is unknown.
type Entry struct {
	Key   string
	Value any
}

// Add appends an entry.
func (o *Object) Add(key string, value any) { *o = append(*o, Entry{key, value}) }

// Marshaler is implemented by types that encode themselves as one value.
type Marshaler interface{ MarshalDoc(e *Encoder) }

// sink writes nested values in a structured format. Within an object, each value follows its key.
type sink interface {
	begin(kind container)
	end()
	key(name string)
	put(s scalar)
	// line ends a document before another one.
	line()
	flush() error
}

type container uint8

const (
	object container = iota
	list
	line // a list on a single line, if the format allows it
)

// Encoder writes a single document, or one document per line. It keeps the first error of its writer and returns
// it from Flush.
type Encoder struct {
	sink
	// saved documents keep all digits of durations, times and numbers, so that writing a document that was read
	// reproduces it byte by byte.
	saved bool
	tag   string
	plans map[reflect.Type][]field
}

func newEncoder(s sink) *Encoder {
	return &Encoder{sink: s, tag: "doc", plans: map[reflect.Type][]field{}}
}

// JSON returns an Encoder of JSON. Objects up to depth open, and lists up to one level deeper, have a line per
// element. Elements at greater depths stay on one line.
func JSON(w io.Writer, open int) *Encoder {
	return newEncoder(&jsonSink{Output: NewOutput(w, 512), open: open})
}

// YAML returns an Encoder of block-style YAML.
func YAML(w io.Writer) *Encoder { return newEncoder(&yamlSink{Output: NewOutput(w, 512)}) }

// Values returns an Encoder that collects values instead of writing them, and a function that returns the result:
// map[string]any, []any, string (escaped by words.SanitizeLines), bool, int64 and float64.
func Values() (e *Encoder, value func() any) {
	s := &valueSink{}
	return newEncoder(s), func() any { return s.root }
}

// BeginObject begins an object, in which each value must follow a Key.
func (e *Encoder) BeginObject() { e.begin(object) }

// EndObject ends the innermost object.
func (e *Encoder) EndObject() { e.end() }

// BeginList begins a list.
func (e *Encoder) BeginList() { e.begin(list) }

// EndList ends the innermost list.
func (e *Encoder) EndList() { e.end() }

// Key begins an entry of an object.
func (e *Encoder) Key(name string) { e.key(name) }

// Entry writes an entry of the current object, unless the value is unknown.
func (e *Encoder) Entry(key string, v any) { e.entry(key, reflect.ValueOf(v), &field{}) }

// NonZero writes an entry of the current object, unless the value is unknown, zero or empty.
func (e *Encoder) NonZero(key string, v any) {
	e.entry(key, reflect.ValueOf(v), &field{omitzero: true})
}

// Text writes a string.
func (e *Encoder) Text(s string) { e.put(scalar{kind: text, s: e.valid(s)}) }

// Texts writes a list of strings.
func (e *Encoder) Texts(all []string) {
	kind := line
	if e.saved {
		kind = list
	}
	e.begin(kind)
	for _, s := range all {
		e.Text(s)
	}
	e.end()
}

// Int writes an integer.
func (e *Encoder) Int(n int64) { e.put(scalar{kind: integer, n: n}) }

// ID writes an integer as a string.
func (e *Encoder) ID(n int64) { e.put(scalar{kind: id, n: n}) }

// Number writes a number with at most four decimals, which is enough for percentages.
func (e *Encoder) Number(f float64) { e.put(scalar{kind: number, f: f}) }

// Exact writes a number with all its digits.
func (e *Encoder) Exact(f float64) { e.put(scalar{kind: exact, f: f}) }

// Seconds writes a duration in seconds.
func (e *Encoder) Seconds(d time.Duration) {
	if e.saved {
		e.put(scalar{kind: secondsExact, n: int64(d)})
		return
	}
	e.put(scalar{kind: seconds, n: int64(d)})
}

// Bool writes a boolean.
func (e *Encoder) Bool(b bool) { e.put(scalar{kind: boolean, n: map[bool]int64{true: 1}[b]}) }

// Time writes a time, given in nanoseconds since 1970.
func (e *Encoder) Time(ns int64) { e.put(scalar{kind: moment, n: ns}) }

// Line ends a document before another one.
func (e *Encoder) Line() { e.line() }

// Flush ends the document and returns the first error of its writer.
func (e *Encoder) Flush() error { return e.flush() }

// ForTemplates reports whether values are collected for a template. Templates cannot refer to omitted keys.
func (e *Encoder) ForTemplates() bool {
	_, is := e.sink.(*valueSink)
	return is
}
