package encode

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// valid replaces invalid UTF-8 by U+FFFD in saved documents, because they are read again.
func (e *Encoder) valid(s string) string {
	if !e.saved {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// Value encodes a Go value: booleans, numbers, strings, times, durations, structs, pointers, maps, slices,
// Objects, Tellers and encoding.TextMarshalers. It omits v, or elements of a list, if they are unknown.
func (e *Encoder) Value(v any) {
	if r := reflect.ValueOf(v); known(r, &field{}) {
		e.encode(r, &field{})
	}
}

// known reports whether a value is written, i.e. is neither unknown nor omitted as zero.
func known(v reflect.Value, f *field) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && known(v.Elem(), f)
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) || f.hasUnknown && isUnknown(v.Float(), f.unknown) {
			return false
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if f.hasUnknown && isUnknown(float64(v.Int()), f.unknown) {
			return false
		}
	default:
		if v.Type() == timeType {
			t := timeOf(v)
			return !t.IsZero() && t.Year() >= 0 && t.Year() <= 9999
		}
	}
	return !f.omitzero || !isZero(v)
}

func isUnknown(x, unknown float64) bool { return x == unknown || unknown < 0 && x < 0 }

func isZero(v reflect.Value) bool {
	if z, ok := method[interface{ IsZero() bool }](v); ok {
		return z.IsZero()
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

// method asserts that a value or a pointer to it implements an interface.
func method[T any](v reflect.Value) (T, bool) {
	if v.CanAddr() {
		if x, ok := reflect.TypeAssert[T](v.Addr()); ok {
			return x, true
		}
	}
	x, ok := reflect.TypeAssert[T](v)
	return x, ok
}

func timeOf(v reflect.Value) time.Time {
	t, _ := reflect.TypeAssert[time.Time](v)
	return t.UTC()
}

// encode encodes a value that is not unknown.
func (e *Encoder) encode(v reflect.Value, f *field) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if t, ok := reflect.TypeAssert[Marshaler](v); ok {
			t.MarshalDoc(e)
			return
		}
		e.encode(v.Elem(), f)
		return
	default:
	}
	switch v.Type() {
	case durationType:
		e.Seconds(time.Duration(v.Int()))
		return
	case timeType:
		e.moment(timeOf(v))
		return
	case jsonNumberType:
		e.jsonNumber(json.Number(v.String()))
		return
	}
	if t, ok := method[Marshaler](v); ok {
		t.MarshalDoc(e)
		return
	}
	if t, ok := method[encoding.TextMarshaler](v); ok {
		word, err := t.MarshalText()
		if err != nil {
			word = []byte("unknown")
		}
		e.Text(string(word))
		return
	}
	e.encodeKind(v, f)
}

func (e *Encoder) moment(t time.Time) {
	if e.saved {
		e.put(scalar{kind: quoted, s: t.Format(time.RFC3339Nano)})
		return
	}
	e.Time(t.UnixNano())
}

// jsonNumber encodes a number of another document, as text if it overflows.
func (e *Encoder) jsonNumber(x json.Number) {
	if n, err := x.Int64(); err == nil {
		e.Int(n)
	} else if f, err := x.Float64(); err == nil {
		e.Number(f)
	} else {
		e.Text(x.String())
	}
}

func (e *Encoder) encodeKind(v reflect.Value, f *field) {
	switch v.Kind() {
	case reflect.Struct:
		e.BeginObject()
		e.entries(v)
		e.EndObject()
	case reflect.Slice, reflect.Array:
		e.encodeList(v, f)
	case reflect.Map:
		e.encodeMap(v, f)
	case reflect.Bool:
		e.Bool(v.Bool())
	case reflect.Float32, reflect.Float64:
		e.float(v)
	case reflect.String:
		e.Text(v.String())
	case reflect.Uint64: // seeds exceed the integer range of JavaScript
		e.put(scalar{kind: quoted, s: strconv.FormatUint(v.Uint(), 10)})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		e.Int(int64(v.Uint())) //nolint:gosec // 32 bits, or a count
	default:
		_, isID := reflect.TypeAssert[ID](v)
		if isID || f.id && v.Kind() == reflect.Int64 {
			e.ID(v.Int())
			return
		}
		e.Int(v.Int())
	}
}

func (e *Encoder) float(v reflect.Value) {
	switch _, isExact := reflect.TypeAssert[Exact](v); {
	case isExact:
		e.Exact(v.Float())
	case e.saved:
		e.put(scalar{kind: whole, f: v.Float(), n: int64(v.Type().Bits())})
	default:
		e.Number(v.Float())
	}
}

// entries writes the entries of a struct or an Object into the current object.
func (e *Encoder) entries(v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if o, ok := reflect.TypeAssert[Object](v); ok {
		for _, x := range o {
			e.entry(x.Key, reflect.ValueOf(x.Value), &field{})
		}
		return
	}
	plan := e.fields(v.Type())
	for i := range plan {
		f := &plan[i]
		x := v.FieldByIndex(f.index)
		if f.inline {
			if known(x, f) {
				e.entries(x)
			}
			continue
		}
		e.entry(f.key, x, f)
	}
}

func (e *Encoder) entry(key string, v reflect.Value, f *field) {
	if known(v, f) {
		e.Key(key)
		e.encode(v, f)
	}
}

func (e *Encoder) encodeList(v reflect.Value, f *field) {
	if _, ok := reflect.TypeAssert[Object](v); ok {
		e.BeginObject()
		e.entries(v)
		e.EndObject()
		return
	}
	if all, ok := reflect.TypeAssert[[]string](v); ok {
		e.Texts(all)
		return
	}
	e.BeginList()
	of := field{id: f.id}
	for i := range v.Len() {
		if x := v.Index(i); known(x, &of) {
			e.encode(x, &of)
		}
	}
	e.EndList()
}

// encodeMap encodes a map sorted by key. If keys are equal after replacing invalid UTF-8, it merges them and adds
// their counts.
func (e *Encoder) encodeMap(v reflect.Value, f *field) {
	clean := map[string]reflect.Value{}
	for it := v.MapRange(); it.Next(); {
		key, x := e.valid(fmt.Sprint(it.Key().Interface())), it.Value()
		if other, is := clean[key]; is && x.CanInt() {
			sum := reflect.New(x.Type()).Elem()
			sum.SetInt(x.Int() + other.Int())
			x = sum
		}
		clean[key] = x
	}
	e.BeginObject()
	of := field{id: f.id}
	for _, key := range slices.Sorted(maps.Keys(clean)) {
		e.entry(key, clean[key], &of)
	}
	e.EndObject()
}
