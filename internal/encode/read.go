package encode

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Reader is implemented by pointers to types that decode themselves. ReadDoc calls decode to decode the document into
// another value, and returns an error if that value is invalid.
type Reader interface {
	ReadDoc(decode func(v any) error) error
}

// Checker is implemented by pointers to types that validate themselves after decoding.
type Checker interface{ CheckDoc() error }

// reader decodes documents that an Encoder wrote. It skips unknown keys and stops at the first error.
type reader struct {
	tag     string
	lenient bool // any key can be missing
}

// typeError returns an error with the path, the expected type, and at most 40 bytes of the value found.
func typeError(path, expected string, raw []byte) error {
	const shown = 40
	found := string(raw)
	if len(found) > shown {
		found = found[:shown] + "..."
	}
	return withPath(path, fmt.Errorf("expected %s, found %q", expected, found))
}

func withPath(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// unmarshal decodes a value into v. It returns false for null and for values of the wrong type.
func unmarshal(raw json.RawMessage, v any) bool {
	return string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// read decodes a value into v, which must be settable.
func (r *reader) read(raw json.RawMessage, v reflect.Value, path string, f *field) error {
	switch v.Type() {
	case durationType:
		return readSeconds(raw, v, path)
	case timeType:
		return readTime(raw, v, path)
	}
	switch x := v.Addr().Interface().(type) {
	case Reader:
		var inside error // includes the path
		err := x.ReadDoc(func(of any) error {
			inside = r.read(raw, reflect.ValueOf(of).Elem(), path, f)
			return inside
		})
		if err == nil || inside != nil {
			return err
		}
		return withPath(path, err)
	case encoding.TextUnmarshaler:
		var word string
		if !unmarshal(raw, &word) {
			return typeError(path, "a string", raw)
		}
		if err := x.UnmarshalText([]byte(word)); err != nil {
			return typeError(path, err.Error(), raw)
		}
		return nil
	}
	if err := r.readKind(raw, v, path, f); err != nil {
		return err
	}
	if c, ok := reflect.TypeAssert[Checker](v.Addr()); ok {
		if err := c.CheckDoc(); err != nil {
			return withPath(path, err)
		}
	}
	return nil
}

func (r *reader) readKind(raw json.RawMessage, v reflect.Value, path string, f *field) error {
	var expected string
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return r.read(raw, v.Elem(), path, f)
	case reflect.Struct:
		return r.readObject(raw, v, path)
	case reflect.Slice:
		if v.Type() != reflect.TypeFor[[]string]() {
			return r.readList(raw, v, path, f)
		}
		expected = "a list of strings"
	case reflect.Map:
		return readMap(raw, v, path, f)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return readInt(raw, v, path, f)
	case reflect.Uint64:
		return readID(raw, path, func(s string) error {
			n, err := strconv.ParseUint(s, 10, 64)
			v.SetUint(n)
			return err
		})
	case reflect.String:
		expected = "a string"
	case reflect.Bool:
		expected = "true or false"
	case reflect.Float32, reflect.Float64:
		expected = "a number"
	default:
		return withPath(path, fmt.Errorf("cannot read into a %s", v.Kind()))
	}
	if !unmarshal(raw, v.Addr().Interface()) {
		return typeError(path, expected, raw)
	}
	return nil
}

func readInt(raw json.RawMessage, v reflect.Value, path string, f *field) error {
	if _, isID := reflect.TypeAssert[ID](v); isID || f.id && v.Kind() == reflect.Int64 {
		return readID(raw, path, func(s string) error {
			n, err := strconv.ParseInt(s, 10, 64)
			v.SetInt(n)
			return err
		})
	}
	var n int64
	if !unmarshal(raw, &n) {
		return typeError(path, "a whole number", raw)
	}
	if v.OverflowInt(n) {
		return typeError(path, fmt.Sprintf("a number of %d bits", v.Type().Bits()), raw)
	}
	v.SetInt(n)
	return nil
}

// readID decodes a number that is encoded as a string.
func readID(raw json.RawMessage, path string, parse func(s string) error) error {
	var s string
	if !unmarshal(raw, &s) {
		return typeError(path, "a string", raw)
	}
	if parse(s) != nil {
		return typeError(path, "an id", raw)
	}
	return nil
}

func readSeconds(raw json.RawMessage, v reflect.Value, path string) error {
	const expected = "a number of seconds"
	var x json.Number // also accepts text in quotes
	if raw[0] == '"' || !unmarshal(raw, &x) {
		return typeError(path, expected, raw)
	}
	d, ok := parseSeconds(x.String())
	if !ok {
		return typeError(path, expected, raw)
	}
	v.SetInt(int64(d))
	return nil
}

// parseSeconds parses a JSON number of seconds as a duration. It returns false if s is not a number or is too
// large.
func parseSeconds(s string) (time.Duration, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return time.Duration(math.Round(x * 1e9)), err == nil && math.Abs(x*1e9) < math.MaxInt64
}

func readTime(raw json.RawMessage, v reflect.Value, path string) error {
	var s string
	if !unmarshal(raw, &s) {
		return typeError(path, "a time", raw)
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return typeError(path, "a time as 2006-01-02T15:04:05Z", raw)
	}
	v.Set(reflect.ValueOf(t.UTC()))
	return nil
}

func (r *reader) readObject(raw json.RawMessage, v reflect.Value, path string) error {
	var keys map[string]json.RawMessage
	if !unmarshal(raw, &keys) {
		return typeError(path, "an object", raw)
	}
	return r.readKeys(keys, v, path)
}

func (r *reader) readKeys(keys map[string]json.RawMessage, v reflect.Value, path string) error {
	if path != "" {
		path += "."
	}
	plan := fieldsOf(v.Type(), r.tag)
	for i := range plan {
		f := &plan[i]
		x := v.FieldByIndex(f.index)
		value, ok := keys[f.key]
		switch {
		case ok:
			if err := r.read(value, x, path+f.key, f); err != nil {
				return err
			}
		case f.hasUnknown && x.CanInt():
			x.SetInt(int64(f.unknown))
		case f.hasUnknown:
			x.SetFloat(f.unknown)
		case !r.lenient && !f.optional():
			return fmt.Errorf("%s%s is missing", path, f.key)
		}
	}
	return nil
}

func (r *reader) readList(raw json.RawMessage, v reflect.Value, path string, f *field) error {
	if raw[0] != '[' {
		return typeError(path, "a list", raw)
	}
	// Decode elements one by one, to return an error at the first invalid element before allocating memory for
	// all.
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the bracket; raw is known to be valid JSON
	of := field{id: f.id}
	for i := 0; d.More(); i++ {
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			return typeError(path, "a list", raw)
		}
		x := reflect.New(v.Type().Elem()).Elem()
		if err := r.read(part, x, path+"["+strconv.Itoa(i)+"]", &of); err != nil {
			return err
		}
		v.Set(reflect.Append(v, x))
	}
	return nil
}

// readMap decodes an object with integer values, or one whose keys and values are ids. It leaves the map nil if
// the object is empty.
func readMap(raw json.RawMessage, v reflect.Value, path string, f *field) error {
	if !f.id {
		all := reflect.New(v.Type())
		if !unmarshal(raw, all.Interface()) {
			return typeError(path, "an object of whole numbers", raw)
		}
		if all.Elem().Len() > 0 {
			v.Set(all.Elem())
		}
		return nil
	}
	var pairs map[string]string
	if !unmarshal(raw, &pairs) {
		return typeError(path, "an object of ids", raw)
	}
	all := map[int64]int64{}
	for k, s := range pairs {
		key, bad := strconv.ParseInt(k, 10, 64)
		value, worse := strconv.ParseInt(s, 10, 64)
		if err := errors.Join(bad, worse); err != nil {
			return typeError(path, "an object of ids", raw)
		}
		all[key] = value
	}
	if len(all) > 0 {
		v.Set(reflect.ValueOf(all).Convert(v.Type()))
	}
	return nil
}
