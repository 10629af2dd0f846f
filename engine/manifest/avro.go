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

// This file implements the part of Avro that manifests use (1.11, "Schema Declaration" and "Binary Encoding"). We
// do not use hamba/avro because it reads zeros after the end of the input, can be made to count to 2^60 by a file
// of a hundred bytes, and adds 1.5 MB to the program.

// schema describes the encoding of a value.
type schema struct {
	kind   string // "record", "array", "map", or a primitive type
	fields []field
	items  *schema // of an array or a map
}

type field struct {
	name   string
	schema *schema
}

// hasNested reports whether a record has an array named list, whose items are records with an array named inner.
func (s *schema) hasNested(list, inner string) bool {
	has := func(s *schema, name string) *schema {
		for _, f := range s.fields {
			if f.name == name && f.schema.kind == "array" {
				return f.schema.items
			}
		}
		return nil
	}
	items := has(s, list)
	return items != nil && has(items, inner) != nil
}

// maxNesting bounds the nesting depth of schemas and of values.
const maxNesting = 16

// parseSchema parses a schema. named holds the records parsed so far, by name.
func parseSchema(raw json.RawMessage, named map[string]*schema, depth int) (*schema, error) {
	if depth > maxNesting {
		return nil, errors.New("a schema nested too deeply")
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

// cursor reads Avro's binary encoding. After an error, every read returns an empty value.
type cursor struct {
	b    []byte
	left int // remaining number of values
	err  error
	// names rejects texts that are not valid names, because a wrong length makes encoded numbers look like text.
	names bool
}

// maxValues bounds the number of values in a manifest, because items may take no bytes at all.
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

// block returns the number of items in the next block, 0 after the last. If the encoded number is negative, it is
// followed by the size of the block in bytes.
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
			out[f.name] = r.value(f.schema, depth+1)
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
	return nil // of a field that is not needed
}
