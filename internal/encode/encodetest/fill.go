// Package encodetest fills values for tests of documents. It sets every exported field to a distinct value, so that a
// test detects a field that is not written or not read back.
package encodetest

import (
	"fmt"
	"math"
	"reflect"
	"time"
)

// Fill sets every settable field of the value that v points to. Slices and maps get two elements. Fill first calls
// special with a pointer to each value and a unique number; special reports whether it has set the value.
func Fill(v any, special func(at any, n int) bool) {
	f := filler{special: special}
	f.fill(reflect.ValueOf(v).Elem())
}

type filler struct {
	n       int
	special func(at any, n int) bool
}

func (f *filler) fill(v reflect.Value) {
	if !v.CanAddr() || !v.Addr().CanInterface() { // unexported fields are not written
		return
	}
	f.n++
	at := v.Addr().Interface()
	if x, is := at.(*time.Time); is {
		*x = time.UnixMilli(1_800_000_000_000 + int64(f.n)).UTC()
		return
	}
	if f.special == nil || !f.special(at, f.n) {
		f.fillKind(v)
	}
}

func (f *filler) fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, of := range v.Fields() {
			f.fill(of)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		f.fillMap(v)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Func, reflect.Interface:
	default:
		f.fillScalar(v)
	}
}

// fillMap sets v to a map with two entries.
func (f *filler) fillMap(v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for range 2 {
		value, key := reflect.New(v.Type().Elem()).Elem(), reflect.New(v.Type().Key()).Elem()
		f.fill(value)
		if key.Kind() == reflect.String {
			key.SetString(fmt.Sprintf("text %d", f.n))
		} else {
			f.fill(key)
		}
		v.SetMapIndex(key, value)
	}
}

func (f *filler) fillScalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n)*1_000_003 + 1)
	case reflect.Int8, reflect.Int16, reflect.Int32:
		v.SetInt(int64(f.n % 100))
	case reflect.Uint64:
		v.SetUint(math.MaxUint64 - uint64(f.n)) //nolint:gosec // a count of fields
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(f.n % 100)) //nolint:gosec // a count of fields
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.n) / 7)
	default:
		panic("a field of kind " + v.Kind().String())
	}
}
