package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/engine"
)

// fields writes one object's keys, or reads them: what stands in the file is said once for both. Reading stops at the first
// thing that is wrong. Keys that are always written have to be there.
type fields struct {
	out  *writing                   // to write
	in   map[string]json.RawMessage // to read
	path string                     // of the object that is read, with a dot behind it
	err  *error
}

// number is what counts are kept as.
type number interface{ ~int | ~int64 }

// found is the text of a key to read.
func (f *fields) found(key string) (json.RawMessage, bool) {
	if *f.err != nil {
		return nil, false
	}
	raw, ok := f.in[key]
	return raw, ok
}

// needed is the text of a key that has to be there.
func (f *fields) needed(key string) (json.RawMessage, bool) {
	raw, ok := f.found(key)
	if !ok && *f.err == nil {
		*f.err = fmt.Errorf("%s%s: it is missing", f.path, key)
	}
	return raw, ok
}

// wrong notes that a key has another value than it could have.
func (f *fields) wrong(key, expected string, raw json.RawMessage) {
	if *f.err == nil {
		const shown = 40
		found := string(raw)
		if len(found) > shown {
			found = found[:shown] + "..."
		}
		*f.err = fmt.Errorf("%s%s: %s was expected, %q found", f.path, key, expected, found)
	}
}

// decode reads a JSON value of a key into v; null is none.
func (f *fields) decode(key, expected string, raw json.RawMessage, v any) bool {
	if string(raw) == "null" || json.Unmarshal(raw, v) != nil {
		f.wrong(key, expected, raw)
		return false
	}
	return true
}

func (f *fields) text(key string, s *string) {
	if f.out != nil {
		f.out.key(key)
		f.out.quoted(*s)
		return
	}
	if raw, ok := f.needed(key); ok {
		f.decode(key, "a string", raw, s)
	}
}

func (f *fields) texts(key string, all *[]string) {
	if f.out != nil {
		f.out.key(key)
		f.out.begin('[')
		for _, s := range *all {
			f.out.element()
			f.out.quoted(s)
		}
		f.out.end(']')
		return
	}
	if raw, ok := f.needed(key); ok {
		f.decode(key, "a list of strings", raw, all)
	}
}

func (f *fields) flag(key string, b *bool) {
	if f.out != nil {
		f.out.key(key)
		f.out.text = strconv.AppendBool(f.out.text, *b)
		return
	}
	if raw, ok := f.needed(key); ok {
		f.decode(key, "true or false", raw, b)
	}
}

// whole is a count.
func whole[T number](f *fields, key string, n *T) {
	if f.out != nil {
		f.out.key(key)
		f.out.text = strconv.AppendInt(f.out.text, int64(*n), 10)
		return
	}
	if raw, ok := f.needed(key); ok {
		readWhole(f, key, raw, n)
	}
}

// known is a count that is left out where it is unknown.
func known[T number](f *fields, key string, n *T, unknown T) {
	if f.out != nil {
		if *n != unknown {
			whole(f, key, n)
		}
		return
	}
	*n = unknown
	if raw, ok := f.found(key); ok {
		readWhole(f, key, raw, n)
	}
}

func readWhole[T number](f *fields, key string, raw json.RawMessage, n *T) {
	var v int64
	if !f.decode(key, "a whole number", raw, &v) {
		return
	}
	if *n = T(v); int64(*n) != v {
		f.wrong(key, "a number of 32 bits", raw)
	}
}

// id is a number that is written as a string.
func (f *fields) id(key string, n *int64) {
	s := strconv.FormatInt(*n, 10)
	f.text(key, &s)
	if f.out != nil || *f.err != nil {
		return
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f.wrong(key, "an id", f.in[key])
	}
	*n = v
}

// seed is an id without a sign.
func (f *fields) seed(key string, n *uint64) {
	s := strconv.FormatUint(*n, 10)
	f.text(key, &s)
	if f.out != nil || *f.err != nil {
		return
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		f.wrong(key, "a seed", f.in[key])
	}
	*n = v
}

// number is left out where it is unknown, or none.
func (f *fields) number(key string, x *float64, unknown float64) {
	if f.out != nil {
		if *x != unknown && !math.IsNaN(*x) && !math.IsInf(*x, 0) {
			f.out.key(key)
			f.out.text = appendFloat(f.out.text, *x, 64)
		}
		return
	}
	*x = unknown
	if raw, ok := f.found(key); ok {
		f.decode(key, "a number", raw, x)
	}
}

// single is a float32, not a number if it is left out.
func (f *fields) single(key string, x *float32) {
	if f.out != nil {
		if d := float64(*x); !math.IsNaN(d) && !math.IsInf(d, 0) {
			f.out.key(key)
			f.out.text = appendFloat(f.out.text, d, 32)
		}
		return
	}
	*x = float32(math.NaN())
	if raw, ok := f.found(key); ok {
		f.decode(key, "a number", raw, x)
	}
}

func (f *fields) seconds(key string, d *time.Duration) {
	if f.out != nil {
		f.out.key(key)
		f.out.text = AppendSeconds(f.out.text, *d)
		return
	}
	if raw, ok := f.needed(key); ok {
		f.readSeconds(key, raw, d)
	}
}

// knownSeconds is left out where it is 0, which is unknown or none.
func (f *fields) knownSeconds(key string, d *time.Duration) {
	if f.out != nil {
		if *d != 0 {
			f.seconds(key, d)
		}
		return
	}
	*d = 0
	if raw, ok := f.found(key); ok {
		f.readSeconds(key, raw, d)
	}
}

func (f *fields) readSeconds(key string, raw json.RawMessage, d *time.Duration) {
	const expected = "a number of seconds"
	var x json.Number
	if raw[0] == '"' || !f.decode(key, expected, raw, &x) {
		f.wrong(key, expected, raw)
		return
	}
	v, ok := ParseSeconds(x.String())
	if !ok {
		f.wrong(key, expected, raw)
	}
	*d = v
}

// time is left out where it is unknown.
func (f *fields) time(key string, t *time.Time) {
	const layout = "2006-01-02T15:04:05.999Z07:00"
	if f.out != nil {
		if u := t.UTC(); !t.IsZero() && u.Year() >= 0 && u.Year() <= 9999 {
			f.out.key(key)
			f.out.quoted(u.Format(layout))
		}
		return
	}
	*t = time.Time{}
	raw, ok := f.found(key)
	var s string
	if !ok || !f.decode(key, "a time", raw, &s) {
		return
	}
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		f.wrong(key, "a time as 2006-01-02T15:04:05Z", raw)
	}
	*t = v.UTC()
}

func (f *fields) state(key string, s *State) {
	word := ""
	if f.out != nil {
		word = s.Word()
	}
	f.text(key, &word)
	if f.out != nil || *f.err != nil {
		return
	}
	for state := Growing; state <= Indexed; state++ {
		if state.Word() == word {
			*s = state
			return
		}
	}
	f.wrong(key, "a segment's state", f.in[key])
}

// rowKey is a row's primary key: key if it is a number, key_text if it is text.
func (f *fields) rowKey(k *engine.Key) {
	if f.out == nil {
		_, k.IsText = f.found("key_text")
	}
	if k.IsText {
		f.text("key_text", &k.Text)
		return
	}
	f.id("key", &k.Number)
}

// object is an object that is always there.
func (f *fields) object(key string, of func(f *fields)) {
	if f.out != nil {
		f.out.key(key)
		f.out.begin('{')
		of(f)
		f.out.end('}')
		return
	}
	if raw, ok := f.needed(key); ok {
		f.inside(key, raw, of)
	}
}

// inside reads an object.
func (f *fields) inside(name string, raw json.RawMessage, of func(f *fields)) {
	var in map[string]json.RawMessage
	if f.decode(name, "an object", raw, &in) {
		of(&fields{in: in, path: f.path + name + ".", err: f.err})
	}
}

// optional is an object that is left out where it is nil.
func optional[T any](f *fields, key string, p **T, of func(f *fields, v *T)) {
	if f.out != nil {
		if *p != nil {
			f.object(key, func(f *fields) { of(f, *p) })
		}
		return
	}
	*p = nil
	if raw, ok := f.found(key); ok {
		*p = new(T)
		f.inside(key, raw, func(f *fields) { of(f, *p) })
	}
}

// list is a list of objects, [] if there are none.
func list[T any](f *fields, key string, all *[]T, of func(f *fields, v *T)) {
	if f.out != nil {
		f.out.key(key)
		f.out.begin('[')
		for i := range *all {
			f.out.element()
			f.out.begin('{')
			of(f, &(*all)[i])
			f.out.end('}')
		}
		f.out.end(']')
		return
	}
	raw, ok := f.needed(key)
	if !ok {
		return
	}
	if raw[0] != '[' {
		f.wrong(key, "a list", raw)
		return
	}
	// One by one: what is something else ends it at the first, before there is memory for all.
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the bracket; all of it was found to be JSON before
	for i := 0; d.More() && *f.err == nil; i++ {
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			f.wrong(key, "a list", raw)
			return
		}
		var v T
		f.inside(key+"["+strconv.Itoa(i)+"]", part, func(f *fields) { of(f, &v) })
		*all = append(*all, v)
	}
}

// counts is an object of numbers by text.
func counts[T number](f *fields, key string, all *map[string]T) {
	if f.out != nil {
		clean := map[string]T{}
		for text, n := range *all {
			clean[valid(text)] += n
		}
		f.out.key(key)
		f.out.begin('{')
		for _, text := range slices.Sorted(maps.Keys(clean)) {
			f.out.key(text)
			f.out.text = strconv.AppendInt(f.out.text, int64(clean[text]), 10)
		}
		f.out.end('}')
		return
	}
	raw, ok := f.needed(key)
	var in map[string]T
	if !ok || !f.decode(key, "an object of whole numbers", raw, &in) || len(in) == 0 {
		return
	}
	*all = in
}
