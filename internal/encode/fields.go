package encode

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// field describes how a struct field is encoded. Its tag is `doc:"key,options"`, in which the key and all
// options are optional:
//
//   - id: an int64, or the int64s of a map, are ids. This is the default for fields whose names end in ID.
//   - omitzero: omits the field if it is zero, empty, or its IsZero method returns true. The key can be
//     missing when read.
//   - unknown=-1: omits the field if it has that value, and sets that value if the key is missing. If the
//     value is negative, all negative values are unknown.
//   - inline: writes the entries of a struct or an Object as entries of the outer struct, like those of
//     embedded structs without a key.
//
// The tag "-" omits a field. Functions are always omitted.
type field struct {
	key                    string
	index                  []int
	id, omitzero, inline   bool
	hasUnknown             bool
	unknown                float64
	pointer, moment, float bool
}

// optional reports whether the key may be missing.
func (f *field) optional() bool {
	return f.omitzero || f.hasUnknown || f.pointer || f.moment || f.float
}

var (
	durationType   = reflect.TypeFor[time.Duration]()
	timeType       = reflect.TypeFor[time.Time]()
	jsonNumberType = reflect.TypeFor[json.Number]()
)

// fieldsOf returns the fields of a struct in order, using the given struct tag, or "doc" for fields without it.
// It flattens embedded structs without a key. Outer fields shadow inner fields with the same key.
func fieldsOf(t reflect.Type, tag string) (all []field) {
	for f := range t.Fields() {
		said, ok := f.Tag.Lookup(tag)
		if !ok {
			said = f.Tag.Get("doc")
		}
		if f.Anonymous && said == "" {
			for _, x := range fieldsOf(f.Type, tag) {
				x.index = append(slices.Clone(f.Index), x.index...)
				all = append(all, x)
			}
			continue
		}
		if said != "-" && f.IsExported() && f.Type.Kind() != reflect.Func {
			all = append(all, newField(&f, said))
		}
	}
	return slices.DeleteFunc(all, func(x field) bool {
		return slices.ContainsFunc(all, func(o field) bool { return o.key == x.key && len(o.index) < len(x.index) })
	})
}

// newField parses a tag.
func newField(f *reflect.StructField, tag string) field {
	key, options, _ := strings.Cut(tag, ",")
	if key == "" {
		key = snake(f.Name)
		if f.Type == durationType {
			key += "_seconds"
		}
	}
	x := field{key: key, index: f.Index, id: strings.HasSuffix(f.Name, "ID")}
	for option := range strings.SplitSeq(options, ",") {
		x.id = x.id || option == "id"
		x.omitzero = x.omitzero || option == "omitzero"
		x.inline = x.inline || option == "inline"
		if value, is := strings.CutPrefix(option, "unknown="); is {
			x.hasUnknown = true
			x.unknown, _ = strconv.ParseFloat(value, 64)
		}
	}
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Interface:
		x.pointer = true
	case reflect.Float32, reflect.Float64:
		x.float = true
	default:
		x.moment = f.Type == timeType
	}
	return x
}

func (e *Encoder) fields(t reflect.Type) []field {
	plan, ok := e.plans[t]
	if !ok {
		plan = fieldsOf(t, e.tag)
		e.plans[t] = plan
	}
	return plan
}

// snake converts a Go name to snake case: MaxNQ to max_nq, P999Low to p999_low.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
				i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
