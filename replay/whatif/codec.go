package whatif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"kitescope/replay"
	"kitescope/words"
)

// encoder writes Go values as docs/JSON.md has them.
type encoder struct{ text bytes.Buffer }

// field writes a key and its value into the object that is open, with the comma before; nothing if the value is unknown.
func (e *encoder) field(name string, v reflect.Value) {
	start := e.text.Len()
	if start > 0 && e.text.Bytes()[start-1] != '{' {
		e.text.WriteByte(',')
	}
	e.text.WriteString(`"` + name + `":`)
	if !e.value(v) {
		e.text.Truncate(start)
	}
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	stateType    = reflect.TypeFor[replay.State]()
)

// value writes v and reports whether there is anything to write.
func (e *encoder) value(v reflect.Value) bool {
	switch v.Type() {
	case durationType:
		e.text.Write(replay.AppendSeconds(nil, time.Duration(v.Int())))
		return true
	case timeType:
		t, _ := reflect.TypeAssert[time.Time](v)
		if !t.IsZero() {
			e.string(t.UTC().Format(time.RFC3339Nano))
		}
		return !t.IsZero()
	case stateType:
		e.string(replay.State(v.Uint()).Word()) //nolint:gosec // it is one
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && e.value(v.Elem())
	case reflect.Struct:
		e.object(v)
	case reflect.Slice:
		e.list(v)
	case reflect.Map:
		if v.IsNil() {
			return false
		}
		e.pairs(v)
	case reflect.Bool:
		e.text.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return false
		}
		e.number(v.Float())
	case reflect.String:
		e.string(v.String())
	case reflect.Uint64:
		e.string(strconv.FormatUint(v.Uint(), 10)) // seeds do not fit into a number of JavaScript
	default:
		e.text.WriteString(strconv.FormatInt(v.Int(), 10))
	}
	return true
}

func (e *encoder) number(x float64) { e.text.WriteString(strconv.FormatFloat(x, 'f', -1, 64)) }

// string escapes what acts on a terminal as well.
func (e *encoder) string(s string) {
	e.text.Write(words.AppendJSON(nil, strings.ToValidUTF8(s, "\ufffd")))
}

func (e *encoder) object(v reflect.Value) {
	e.text.WriteByte('{')
	for _, f := range fieldsOf(v.Type()) {
		x := v.FieldByIndex(f.index)
		if f.unknown && isNegative(x) {
			continue
		}
		if f.id {
			e.field(f.key, reflect.ValueOf(strconv.FormatInt(x.Int(), 10)))
			continue
		}
		e.field(f.key, x)
	}
	e.text.WriteByte('}')
}

func isNegative(x reflect.Value) bool {
	return x.CanInt() && x.Int() < 0 || x.CanFloat() && x.Float() < 0
}

func (e *encoder) list(v reflect.Value) {
	e.text.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.text.WriteByte(',')
		}
		if !e.value(v.Index(i)) {
			e.text.WriteString("{}")
		}
	}
	e.text.WriteByte(']')
}

// pairs writes a map with its keys and values as text, in order.
func (e *encoder) pairs(v reflect.Value) {
	var keys []string
	values := map[string]string{}
	for it := v.MapRange(); it.Next(); {
		k := fmt.Sprint(it.Key().Interface())
		keys = append(keys, k)
		values[k] = fmt.Sprint(it.Value().Interface())
	}
	slices.Sort(keys)
	e.text.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			e.text.WriteByte(',')
		}
		e.string(k)
		e.text.WriteByte(':')
		e.string(values[k])
	}
	e.text.WriteByte('}')
}

// fieldJSON is how a field is written.
type fieldJSON struct {
	key     string
	index   []int
	id      bool // an int64 as text
	unknown bool // less than 0 is left out
}

// fieldsOf are those of a struct; embedded ones are taken apart, and what is named again outside hides what is inside.
func fieldsOf(t reflect.Type) (list []fieldJSON) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous {
			continue
		}
		name := snake(f.Name)
		if f.Type == durationType {
			name += "_seconds"
		}
		if i := slices.IndexFunc(list, func(x fieldJSON) bool { return x.key == name }); i >= 0 {
			if len(f.Index) > len(list[i].index) {
				continue
			}
			list = slices.Delete(list, i, i+1)
		}
		list = append(list, fieldJSON{name, f.Index, isID(t, f), isUnknowable(t, f)})
	}
	return list
}

// isID tells which numbers are ids, that are text in JSON.
func isID(t reflect.Type, f reflect.StructField) bool {
	if f.Type.Kind() != reflect.Int64 || f.Type == durationType {
		return false
	}
	return f.Name == "ID" || strings.HasSuffix(f.Name, "ID") || t == reflect.TypeFor[replay.Missing]() && f.Name == "Segment" ||
		t == reflect.TypeFor[replay.Setup]() && f.Name == "Replica"
}

// isUnknowable tells which numbers are -1 where they are unknown.
func isUnknowable(t reflect.Type, f reflect.StructField) bool {
	switch t {
	case reflect.TypeFor[predicted]():
		return f.Name == "Recall"
	case reflect.TypeFor[Check]():
		return f.Name == "QPS" || f.Name == "P99" || f.Name == "FitMedian" || f.Name == "FitWorst"
	case reflect.TypeFor[replay.Missing]():
		return f.Name == "Rows"
	}
	return false
}

// snake is a Go name in lower_snake: MaxNQ is max_nq, P999Low is p999_low.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// decode fills v with what encoder wrote. Keys that are not known are passed over.
func decode(data json.RawMessage, v reflect.Value, where string) error {
	if what := decodeNamed(data, v); what != "" {
		return wrong(data, where, what)
	}
	switch t := v.Type(); {
	case t == durationType || t == timeType || t == stateType:
		return nil
	case v.Kind() == reflect.Interface:
		return decode(data, v.Elem().Elem(), where)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return decode(data, v.Elem(), where)
	case v.Kind() == reflect.Struct:
		return decodeObject(data, v, where)
	case v.Kind() == reflect.Slice:
		return decodeList(data, v, where)
	case v.Kind() == reflect.Map:
		return decodePairs(data, v, where)
	case v.Kind() == reflect.Uint64:
		var s string
		if json.Unmarshal(data, &s) == nil {
			data = json.RawMessage(s)
		}
	}
	if string(data) == "null" || json.Unmarshal(data, v.Addr().Interface()) != nil {
		return wrong(data, where, "a "+v.Kind().String())
	}
	return nil
}

func wrong(data json.RawMessage, where, what string) error {
	return fmt.Errorf("%s: %s was expected, found %s", where, what, shorten(data))
}

// decodeNamed reads the types that are not written as what they are made of, and says what else was expected.
func decodeNamed(data json.RawMessage, v reflect.Value) (expected string) {
	switch v.Type() {
	case durationType:
		var x json.Number // text in quotes is one for json
		if len(data) == 0 || data[0] == '"' || json.Unmarshal(data, &x) != nil {
			return "a number of seconds"
		}
		d, ok := replay.ParseSeconds(x.String())
		if !ok {
			return "a number of seconds"
		}
		v.SetInt(int64(d))
	case timeType:
		if json.Unmarshal(data, v.Addr().Interface()) != nil {
			return "a time of day"
		}
	case stateType:
		for s := replay.Growing; s <= replay.Indexed; s++ {
			if string(data) == `"`+s.Word()+`"` {
				v.SetUint(uint64(s))
				return ""
			}
		}
		return "a state"
	}
	return ""
}

func decodeList(data json.RawMessage, v reflect.Value, where string) error {
	var items []json.RawMessage
	if json.Unmarshal(data, &items) != nil {
		return wrong(data, where, "a list")
	}
	for i, item := range items {
		x := reflect.New(v.Type().Elem()).Elem()
		if err := decode(item, x, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
		v.Set(reflect.Append(v, x))
	}
	return nil
}

func decodeObject(data json.RawMessage, v reflect.Value, where string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil || keys == nil {
		return fmt.Errorf("%s: an object was expected, found %s", where, shorten(data))
	}
	for _, f := range fieldsOf(v.Type()) {
		x, at := v.FieldByIndex(f.index), where+"."+f.key
		value, ok := keys[f.key]
		switch {
		case !ok && f.unknown && x.CanInt():
			x.SetInt(-1)
		case !ok && f.unknown:
			x.SetFloat(-1)
		case !ok:
		case f.id:
			var s string
			n, err := int64(0), json.Unmarshal(value, &s)
			if err == nil {
				n, err = strconv.ParseInt(s, 10, 64)
			}
			if err != nil {
				return fmt.Errorf("%s: an id was expected, found %s", at, shorten(value))
			}
			x.SetInt(n)
		default:
			if err := decode(value, x, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func decodePairs(data json.RawMessage, v reflect.Value, where string) error {
	var pairs map[string]string
	if json.Unmarshal(data, &pairs) != nil {
		return fmt.Errorf("%s: an object of texts was expected, found %s", where, shorten(data))
	}
	v.Set(reflect.MakeMap(v.Type()))
	of := func(t reflect.Type, s string) (reflect.Value, error) {
		x := reflect.New(t).Elem()
		if t.Kind() == reflect.String {
			x.SetString(s)
			return x, nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		x.SetInt(n)
		return x, err
	}
	for k, s := range pairs {
		key, err := of(v.Type().Key(), k)
		if err != nil {
			return fmt.Errorf("%s: an id was expected, found %q", where, k)
		}
		value, err := of(v.Type().Elem(), s)
		if err != nil {
			return fmt.Errorf("%s: an id was expected, found %q", where, s)
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

func shorten(data []byte) string {
	if len(data) > 40 {
		return string(data[:40]) + "..."
	}
	return string(data)
}
