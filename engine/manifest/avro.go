package manifest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is here of Avro (1.11, "Schema Declaration" and "Binary Encoding") is what manifests use. hamba/avro was tried: it takes the end of
// the bytes for zeros, can be made to count to 2^60 by a file of a hundred bytes, and adds 1.5 MB to the program.

// schema says how a value is encoded.
type schema struct {
	kind   string // "record", "array", "map", or a primitive type
	fields []field
	items  *schema // of an array or a map
}

type field struct {
	name string
	of   *schema
}

// holds reports whether a record has lists of records of lists by these names.
func (s *schema) holds(list, inner string) bool {
	has := func(s *schema, name string) *schema {
		for _, f := range s.fields {
			if f.name == name && f.of.kind == "array" {
				return f.of.items
			}
		}
		return nil
	}
	items := has(s, list)
	return items != nil && has(items, inner) != nil
}

// maxNesting bounds schemas in schemas, and values in values.
const maxNesting = 16

// parseSchema reads a schema; named are the records so far, by name.
func parseSchema(raw json.RawMessage, named map[string]*schema, depth int) (*schema, error) {
	if depth > maxNesting {
		return nil, errors.New("a schema within too many others")
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if s := named[name]; s != nil {
			return s, nil
		}
		switch name {
		case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
			return &schema{kind: name}, nil
		}
		return nil, fmt.Errorf("type %q is not one of a manifest", name)
	}
	var x struct {
		Type   json.RawMessage
		Name   string
		Items  json.RawMessage
		Values json.RawMessage
		Fields []struct {
			Name string
			Type json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, errors.New("a type is neither a name nor an object")
	}
	if json.Unmarshal(x.Type, &name) != nil {
		return parseSchema(x.Type, named, depth+1)
	}
	s := &schema{kind: name}
	var err error
	switch name {
	case "record":
		named[x.Name] = s
		for _, f := range x.Fields {
			of, err := parseSchema(f.Type, named, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			s.fields = append(s.fields, field{f.Name, of})
		}
	case "array":
		s.items, err = parseSchema(x.Items, named, depth+1)
	case "map":
		s.items, err = parseSchema(x.Values, named, depth+1)
	default:
		return parseSchema(x.Type, named, depth+1)
	}
	return s, err
}

// cursor reads Avro's binary encoding. After an error all that it reads is empty.
type cursor struct {
	b    []byte
	left int // values that may still be read
	err  error
	// names refuses texts that are no names: a length that is too great makes a text of numbers.
	names bool
}

// maxValues bounds what a manifest holds: items may take no bytes at all.
const maxValues = 1 << 20

var (
	errCut  = errors.New("it is cut off")
	errMany = fmt.Errorf("it has more than %d values", maxValues)
)

func (r *cursor) fail(err error) {
	if r.err == nil {
		r.b, r.err = nil, err
	}
}

func (r *cursor) long() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.fail(errCut)
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *cursor) take(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.fail(errCut)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *cursor) text() string {
	s := string(r.take(r.long()))
	if r.names && (!utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)) {
		r.fail(fmt.Errorf("%q is not a name", s))
	}
	return s
}

// block is how many items follow, 0 behind the last. A negative number is followed by the bytes that they take.
func (r *cursor) block() int64 {
	n := r.long()
	if n < 0 {
		n = -n
		r.long()
	}
	if n < 0 || n > int64(r.left) {
		r.fail(errMany)
	}
	if r.err != nil {
		return 0
	}
	return n
}

// value reads a value of a schema.
func (r *cursor) value(s *schema, depth int) any {
	if r.left--; r.left < 0 || depth > maxNesting {
		r.fail(errMany)
	}
	if r.err != nil {
		return nil
	}
	switch s.kind {
	case "record":
		out := make(map[string]any, len(s.fields))
		for _, f := range s.fields {
			out[f.name] = r.value(f.of, depth+1)
		}
		return out
	case "array":
		out := []any{}
		for n := r.block(); n > 0; n = r.block() {
			for ; n > 0 && r.err == nil; n-- {
				out = append(out, r.value(s.items, depth+1))
			}
		}
		return out
	case "map":
		out := map[string]any{}
		for n := r.block(); n > 0; n = r.block() {
			for ; n > 0 && r.err == nil; n-- {
				key := r.text()
				out[key] = r.value(s.items, depth+1)
			}
		}
		return out
	case "int", "long":
		return r.long()
	case "string":
		return r.text()
	case "bytes":
		return r.take(r.long())
	case "boolean":
		r.take(1)
	case "float":
		r.take(4)
	case "double":
		r.take(8)
	}
	return nil // of a field that nothing here needs
}
