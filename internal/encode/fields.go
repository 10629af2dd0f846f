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

// field is how a field of a struct is written. Its tag is `doc:"key,options"`, each of which may be left out:
//
//   - id: an int64, or the int64s of a map, are ids, as those are anyway whose name ends in ID.
//   - omitzero: left out where it is zero, empty, or its IsZero method says so; it may be missing where it is read.
//   - unknown=-1: left out where it has that value, and has it where it is missing; if it is less than 0, all that is less than 0 is unknown.
//   - inline: the entries of a struct or an Object stand among those of the struct itself, as those of embedded structs without a key do.
//
// "-" leaves a field out, as functions are.
type field struct {
	key                    string
	index                  []int
	id, omitzero, inline   bool
	unknowable             bool
	unknown                float64
	pointer, moment, float bool
}

// optional reports whether the key may be missing.
func (f *field) optional() bool {
	return f.omitzero || f.unknowable || f.pointer || f.moment || f.float
}

var (
	durationType   = reflect.TypeFor[time.Duration]()
	timeType       = reflect.TypeFor[time.Time]()
	jsonNumberType = reflect.TypeFor[json.Number]()
)

// fieldsOf are those of a struct, in their order, by tags of that name. Embedded structs without a key are taken apart, and what is named
// again outside hides what is inside.
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

// newField reads a tag.
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
			x.unknowable = true
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
