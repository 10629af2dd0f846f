// Package encode writes documents that scripts read, and reads those that kitescope saved. What enters is a Go value, what leaves is JSON, YAML,
// or maps and lists for a template; or, in Read, the other way round.
//
//  1. JSON, YAML or Values makes an Encoder.
//  2. Value tells it a value: structs as objects with their fields in order, maps sorted, Objects as they are. Fields says how.
//  3. What is too large to be built, a million rows of a grid, tells itself to the Encoder: it is a Teller.
//  4. File is a kind of document with a head (apiVersion, kind, version) that is written and read again.
//
// Keys are lower_snake: the Go name, with "_seconds" where the field is a duration. Ids are strings, as JavaScript and jq lose bits over
// 2^53; times are RFC 3339 in UTC. What is not known (a nil pointer, NaN, a zero time) is left out; lists are never null.
//
// Why not encoding/json, which reads the tokens here: it cannot escape what acts on a terminal (U+202E, C1 controls), cannot tell a key
// that is missing from one that is zero, names Go types in its errors and not the place in a list, and has no way from a struct to YAML or to a
// template's values in which 3 seconds stay a float. With small types and hooks for all of that, and a second walk over its bytes, it was
// more code than this.
//
// What stays with encoding/json: what others write (profiles, benchmarks, Milvus's own records), and files of ours whose form is older and fixed.
// The manifests of pulled profiles and of packs say "format" and not a kind, leave out what is zero, and a pack's is told apart by its bytes; the
// state of a trial has the names and nanoseconds of Go, as only the trial that is taken up again reads it; baselines and runs are lines
// that people edit and other programs write, in which an unknown key is an error.
package encode

import (
	"io"
	"reflect"
	"time"
)

// ID is an int64 that is written as a string.
type ID int64

// Exact is a number with all its digits: a probability of 1e-12 is not 0.
type Exact float64

// Object is an object whose keys are only known when it is made, in their order.
type Object []Entry

// Entry is a key of an Object. One whose value is not known is left out.
type Entry struct {
	Key   string
	Value any
}

// Add appends an entry.
func (o *Object) Add(key string, value any) { *o = append(*o, Entry{key, value}) }

// Teller tells itself, as one value.
type Teller interface{ TellDoc(e *Encoder) }

// sink writes nested values in a structured format. Within an object every value follows its key.
type sink interface {
	begin(kind container)
	end()
	key(name string)
	put(s scalar)
	// line ends a document after which another one follows.
	line()
	flush() error
}

type container uint8

const (
	object container = iota
	list
	line // a list that stays on one line, where there is a choice
)

// Encoder writes one document, or one a line. It keeps the first error of its writer for Flush.
type Encoder struct {
	sink
	// saved documents keep all digits of durations, times and numbers, so that what is read is written again byte by byte.
	saved bool
	tag   string
	plans map[reflect.Type][]field
}

func newEncoder(s sink) *Encoder {
	return &Encoder{sink: s, tag: "doc", plans: map[reflect.Type][]field{}}
}

// JSON makes an Encoder of JSON. Objects down to a depth of open, and lists one deeper, are spread over lines; what is inside them stays on one.
func JSON(w io.Writer, open int) *Encoder {
	return newEncoder(&jsonSink{Output: NewOutput(w, 512), open: open})
}

// YAML makes an Encoder of block style YAML of the same structure.
func YAML(w io.Writer) *Encoder { return newEncoder(&yamlSink{Output: NewOutput(w, 512)}) }

// Values makes an Encoder that writes nothing, and what returns the value it was told: map[string]any, []any, string without controls, bool,
// int64 and float64.
func Values() (e *Encoder, value func() any) {
	s := &valueSink{}
	return newEncoder(s), func() any { return s.root }
}

// BeginObject begins an object, in which each value follows its Key.
func (e *Encoder) BeginObject() { e.begin(object) }

// EndObject ends the innermost object.
func (e *Encoder) EndObject() { e.end() }

// BeginList begins a list.
func (e *Encoder) BeginList() { e.begin(list) }

// EndList ends the innermost list.
func (e *Encoder) EndList() { e.end() }

// Key begins an entry of an object.
func (e *Encoder) Key(name string) { e.key(name) }

// Entry writes an entry of the object that is open, unless its value is not known.
func (e *Encoder) Entry(key string, v any) { e.entry(key, reflect.ValueOf(v), &field{}) }

// NonZero is Entry for what is left out where it is zero or empty.
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

// Int writes a whole number.
func (e *Encoder) Int(n int64) { e.put(scalar{kind: integer, n: n}) }

// ID writes a whole number as a string.
func (e *Encoder) ID(n int64) { e.put(scalar{kind: id, n: n}) }

// Number writes a number with up to four decimals, as a percentage needs.
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

// Bool writes a truth value.
func (e *Encoder) Bool(b bool) { e.put(scalar{kind: boolean, n: map[bool]int64{true: 1}[b]}) }

// Time writes a moment, given in nanoseconds since 1970.
func (e *Encoder) Time(ns int64) { e.put(scalar{kind: moment, n: ns}) }

// Line ends a document after which another one follows.
func (e *Encoder) Line() { e.line() }

// Flush ends the document and returns the first error of its writer.
func (e *Encoder) Flush() error { return e.flush() }

// ForTemplates reports whether values are collected for a template, in which a key that is left out cannot be asked for.
func (e *Encoder) ForTemplates() bool {
	_, is := e.sink.(*valueSink)
	return is
}
