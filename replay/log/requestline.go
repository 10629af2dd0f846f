package log

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/expr"
)

// requestLine is a line of a .jsonl, its vectors still text.
type requestLine struct {
	Request
	vector, vectors []byte
	truth           []byte
	element         dist.Element
	said            bool   // the line names its element
	values          []byte // of the {names} in the filter
	time            moment
}

// dimsError is a vector whose dimension is not that of the others.
type dimsError struct{ vector, found, want, line int }

func (e *dimsError) Error() string {
	from := "as requested"
	if e.line > 0 {
		from = fmt.Sprintf("as in line %d", e.line)
	}
	return fmt.Sprintf("vector %d has %d dimensions, expected %d %s", e.vector, e.found, e.want, from)
}

// read finds the parts of a line. Keys that are not known are counted.
func (p *requestLine) read(line []byte, extra names) error {
	*p = requestLine{}
	shape := false
	err := members(line, func(key string, value []byte) error {
		err := p.member(key, value, &shape, extra)
		if err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case p.vector != nil && p.vectors != nil:
		return errors.New("expected vector or vectors, found both")
	case p.vector == nil && p.vectors == nil && !shape:
		return errors.New("vector: expected a list of numbers, found none")
	}
	return p.fillFilter()
}

func (p *requestLine) member(key string, value []byte, shape *bool, extra names) (err error) {
	switch key {
	case "vector":
		p.vector = value
	case "vectors":
		p.vectors = value
	case "element":
		var name string
		if name, err = text(value); err == nil {
			p.said = true
			p.element, err = parseElement(name)
		}
	case "nq":
		*shape = true
		p.NQ, err = whole(value)
	case "k":
		p.K, err = whole(value)
	case "params":
		err = p.params(value, extra)
	case "filter":
		p.Filter, err = filter(value)
	case "filter_params":
		p.values = value
	case "timestamp":
		p.time, err = timestamp(value)
	case "at_seconds":
		if !p.time.absolute {
			at, e := duration(value, 9)
			p.time, err = moment{at: int64(at), known: true}, e
		}
	case "collection":
		p.Collection, err = text(value)
	case "truth":
		p.truth = value
	case "took_ms":
		p.Took, err = duration(value, 6)
	case "failed":
		p.Failed, err = boolean(value)
	default:
		extra.add(key)
	}
	return err
}

func (p *requestLine) params(value []byte, extra names) error {
	if string(value) == "null" {
		return nil
	}
	return members(value, func(key string, value []byte) error {
		f := engine.SearchParamOf(key)
		if f == nil {
			extra.add("params." + key)
			return nil
		}
		x, err := searchParam(f, value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		f.Set(&p.SearchParams, x)
		return nil
	})
}

// filter reads an expression of Milvus's, which is not looked into; a list of keys, or one in {"in": ...} or {"not_in": ...}.
func filter(value []byte) (*Filter, error) {
	switch {
	case string(value) == "null":
		return nil, nil
	case value[0] == '"':
		s, err := text(value)
		if err != nil || s == "" {
			return nil, err
		}
		return &Filter{Expr: s}, nil
	case value[0] == '[':
		list, err := keys(value)
		return &Filter{Keys: list}, err
	case value[0] != '{':
		return nil, fmt.Errorf(`expected an expression, a list of ids, {"in": [...]} or {"not_in": [...]}, found %s`, shown(value))
	}
	var f *Filter
	err := members(value, func(key string, value []byte) error {
		out := key == "not_in"
		if key != "in" && !out || f != nil {
			return fmt.Errorf(`expected one of {"in": [...]} and {"not_in": [...]}, found %s`, printable(key))
		}
		list, err := keys(value)
		f = &Filter{Keys: list, Exclude: out}
		return err
	})
	if err == nil && f == nil {
		err = errors.New(`expected {"in": [...]} or {"not_in": [...]}, found {}`)
	}
	return f, err
}

// takeVectors parses the vectors of a line to rows at the end.
func (r *lineReader) takeVectors(p *requestLine) error {
	switch {
	case p.vector != nil:
		return r.takeVector(0, p.vector, p)
	case p.vectors != nil:
		n := 0
		err := elements(p.vectors, func(i int, value []byte) error {
			n++
			return r.takeVector(i, value, p)
		})
		if err == nil && n == 0 {
			err = errors.New("vectors: expected at least one, found none")
		}
		return err
	case r.vectors.rows > 0:
		return errors.New("vector: expected a list of numbers, found none; the lines before have one")
	}
	return nil
}

// takeVector parses one vector. The first of a log decides how many dimensions there are, unless that was asked for.
func (r *lineReader) takeVector(i int, value []byte, p *requestLine) error {
	if len(r.requests) > 0 && r.vectors.rows == 0 {
		return errors.New("unexpected vector: the lines before have none")
	}
	element := p.element
	if r.o.Element != nil {
		if p.said && element != *r.o.Element {
			return fmt.Errorf("expected vectors of %s, found %s", elementName(*r.o.Element), elementName(element))
		}
		element = *r.o.Element
	}
	if len(value) > 0 && value[0] == '{' || element == dist.Sparse {
		return r.takeSparse(i, value, p)
	}
	dim, packed, err := dimension(value, element)
	if err != nil {
		return err
	}
	g := &r.vectors
	if g.dim == 0 {
		if r.o.Dim > 0 && dim != r.o.Dim {
			return &dimsError{i, dim, r.o.Dim, 0}
		}
		g.dim, g.element, r.firstLine = dim, element, r.line
	}
	if element != g.element || g.sparse != nil {
		return fmt.Errorf("expected vectors of %s as in line %d, found %s", elementName(g.element), r.firstLine, elementName(element))
	}
	if dim != g.dim {
		return &dimsError{i, dim, g.dim, r.firstLine}
	}
	if err := fill(g.next(), element, value, packed); err != nil {
		return fmt.Errorf("vector %d: %w", i, err)
	}
	return nil
}

// dimension is how many values a vector has; of bits in text also the bytes.
func dimension(value []byte, e dist.Element) (dim int, packed []byte, err error) {
	if len(value) > 0 && value[0] == '"' {
		if e != dist.Bit {
			return 0, nil, fmt.Errorf("expected a list of numbers, found %s", shown(value))
		}
		packed, err = packedBits(value)
		return 8 * len(packed), packed, err
	}
	if len(value) < 2 || value[0] != '[' {
		return 0, nil, fmt.Errorf("expected a list of numbers, found %s", shown(value))
	}
	empty := true
	for _, ch := range value[1 : len(value)-1] {
		if ch == ',' {
			dim++
		} else if ch != ' ' {
			empty = false
		}
	}
	if empty {
		return 0, nil, errors.New("expected numbers, found an empty list")
	}
	if dim++; e == dist.Bit {
		dim *= 8
	}
	return dim, nil, nil
}

// packedBits reads the bytes of bits: base64, or after "hex:" two digits a byte.
func packedBits(value []byte) ([]byte, error) {
	s, err := text(value)
	if err != nil {
		return nil, err
	}
	var b []byte
	if digits, ok := strings.CutPrefix(s, "hex:"); ok {
		b, err = hex.DecodeString(digits)
	} else {
		b, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "base64:"))
	}
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf(`expected bits in base64, or in hexadecimal after "hex:", found %s`, shown(value))
	}
	return b, nil
}

// fill stores the values of a list.
func fill(row []byte, e dist.Element, value, packed []byte) error {
	if packed != nil {
		copy(row, packed)
		return nil
	}
	return elements(value, func(j int, value []byte) error {
		x, err := number(value)
		switch {
		case err != nil:
		case e == dist.Bit:
			if x != float32(byte(x)) {
				return fmt.Errorf("value %d: expected a byte from 0 to 255, found %s", j, shown(value))
			}
			row[j] = byte(x)
			return nil
		case !put(row, e, j, x) && e == dist.Int8:
			err = errors.New("expected a whole number from -128 to 127, found " + shown(value))
		case e == dist.Float16 && dist.NarrowFloat16(x)&0x7c00 == 0x7c00, e == dist.BFloat16 && !finite(row[2*j:2*j+2], e):
			err = errNonFinite // it is too large for the element
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", j, err)
		}
		return nil
	})
}

// takeTruth keeps the true keys of a request's vectors: a list of one vector, a list of lists of several.
func (r *lineReader) takeTruth(p *requestLine, nq int) error {
	lists := make([][]engine.Key, 0, min(nq, 16))
	if p.truth != nil && string(p.truth) != "null" {
		var err error
		if p.vectors != nil {
			err = elements(p.truth, func(_ int, value []byte) error {
				list, err := keys(value)
				lists = append(lists, list)
				return err
			})
		} else {
			var list []engine.Key
			list, err = keys(p.truth)
			lists = append(lists, list)
		}
		if err != nil {
			return fmt.Errorf("truth: %w", err)
		}
		if len(lists) != nq {
			return fmt.Errorf("truth: expected a list for each of %d vectors, found %d", nq, len(lists))
		}
		if !r.anyTruth {
			r.anyTruth = true
			r.truth = make([][]engine.Key, r.vectors.rows-nq)
		}
	}
	if r.anyTruth {
		r.truth = append(r.truth, lists...)
		for len(r.truth) < r.vectors.rows {
			r.truth = append(r.truth, nil)
		}
	}
	return nil
}

// fillFilter writes the values that a request has for the {names} of its expression into that.
func (p *requestLine) fillFilter() error {
	if p.Filter == nil || p.Filter.Expr == "" || p.values == nil || string(p.values) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(p.values))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return fmt.Errorf("filter_params: expected an object, found %s", shown(p.values))
	}
	values := make(map[string]expr.Value, len(all))
	for name, v := range all {
		value, err := paramValue(v, 0)
		if err != nil {
			return fmt.Errorf("filter_params: %s: %w", printable(name), err)
		}
		values[name] = value
	}
	filled, err := expr.Fill(p.Filter.Expr, values)
	if err != nil {
		return err
	}
	p.Filter.Expr = filled
	return nil
}

// paramValue is a value of JSON as a constant. Lists may lie in lists, but not deeper than an expression can have them.
func paramValue(v any, depth int) (expr.Value, error) {
	switch v := v.(type) {
	case bool:
		return expr.Value{Kind: expr.Bool, Bool: v}, nil
	case string:
		return expr.Value{Kind: expr.Text, Text: v}, nil
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return expr.Value{Kind: expr.Int, Int: n}, nil
		}
		f, err := v.Float64()
		if err != nil {
			return expr.Value{}, fmt.Errorf("%s does not fit in a double", printable(v.String()))
		}
		return expr.Value{Kind: expr.Float, Float: f}, nil
	case []any:
		const deepest = 8
		list := expr.Value{Kind: expr.List, List: make([]expr.Value, 0, len(v))}
		for _, e := range v {
			if depth >= deepest {
				return list, errors.New("lists in lists that no expression has")
			}
			value, err := paramValue(e, depth+1)
			if err != nil {
				return list, err
			}
			list.List = append(list.List, value)
		}
		return list, nil
	}
	return expr.Value{}, fmt.Errorf("expected a number, a text, a truth value or a list of them, found %s", printable(fmt.Sprint(v)))
}
