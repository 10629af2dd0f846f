package expr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// array holds the elements of an array field in one row, in one of its slices. It is reused for the next row.
type array struct {
	n      int
	kind   Kind
	ints   []int64 // booleans as 0 and 1
	floats []float64
	texts  []string
}

// The fields of schemapb.ScalarField, the message in a cell of an array field.
const (
	boolData   = 1
	intData    = 2
	longData   = 3
	floatData  = 4
	doubleData = 5
	textData   = 6
)

// read decodes a cell. An empty cell is an array without elements.
func (a *array) read(cell string, kind Kind) error {
	a.n, a.kind = 0, kind
	a.ints, a.floats, a.texts = a.ints[:0], a.floats[:0], a.texts[:0]
	for cell != "" {
		field, value, rest, err := protoField(cell)
		if err != nil {
			return err
		}
		if field >= boolData && field <= textData {
			if err := a.list(field, value); err != nil {
				return err
			}
		}
		cell = rest
	}
	switch kind {
	case Float:
		a.n = len(a.floats)
	case Text:
		a.n = len(a.texts)
	default:
		a.n = len(a.ints)
	}
	if a.n < len(a.ints)+len(a.floats)+len(a.texts) {
		return fmt.Errorf("an array of other elements than %s", kind)
	}
	return nil
}

// list decodes the message with the elements: repeated field 1, with numbers packed or one by one.
func (a *array) list(kind int, s string) error {
	for s != "" {
		field, value, rest, err := protoField(s)
		if err != nil {
			return err
		}
		packed := s[0]&7 == 2
		if field == 1 {
			if err := a.elements(kind, value, packed); err != nil {
				return err
			}
		}
		s = rest
	}
	return nil
}

func (a *array) elements(kind int, s string, packed bool) error {
	switch {
	case kind == textData && packed:
		a.texts = append(a.texts, s)
		return nil
	case kind == textData:
	case kind == floatData && len(s)%4 == 0:
		for ; s != ""; s = s[4:] {
			a.floats = append(a.floats, float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(s[:4])))))
		}
		return nil
	case kind == doubleData && len(s)%8 == 0:
		for ; s != ""; s = s[8:] {
			a.floats = append(a.floats, math.Float64frombits(binary.LittleEndian.Uint64([]byte(s[:8]))))
		}
		return nil
	case kind < floatData:
		for s != "" {
			v, rest, ok := varint(s)
			if !ok {
				return errArray
			}
			if kind == intData {
				v = uint64(int64(int32(v)))
			}
			a.ints = append(a.ints, int64(v))
			s = rest
		}
		return nil
	}
	return errArray
}

var errArray = errors.New("a cell is not an array of Milvus")

// protoField splits off the first field of a protobuf message and returns its number and content. The content
// of a varint is its encoded bytes.
func protoField(s string) (field int, value, rest string, err error) {
	tag, rest, ok := varint(s)
	if !ok || tag>>3 > 1<<20 {
		return 0, "", "", errArray
	}
	var n uint64
	switch tag & 7 {
	case 0:
		_, after, ok := varint(rest)
		if !ok {
			return 0, "", "", errArray
		}
		n = uint64(len(rest) - len(after))
	case 1:
		n = 8
	case 2:
		if n, rest, ok = varint(rest); !ok {
			return 0, "", "", errArray
		}
	case 5:
		n = 4
	default:
		return 0, "", "", errArray
	}
	if n > uint64(len(rest)) {
		return 0, "", "", errArray
	}
	return int(tag >> 3), rest[:n], rest[n:], nil
}

func varint(s string) (v uint64, rest string, ok bool) {
	for i := 0; i < len(s) && i < binary.MaxVarintLen64; i++ {
		v |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return v, s[i+1:], true
		}
	}
	return 0, "", false
}

// value returns element i.
func (a *array) value(i int) Value {
	switch a.kind {
	case Float:
		return floatValue(a.floats[i])
	case Text:
		return Value{Kind: Text, Text: a.texts[i]}
	case Bool:
		return boolValue(a.ints[i] != 0)
	default:
		return intValue(a.ints[i])
	}
}

// equals reports whether element i equals a constant. A fraction is truncated for the comparison with an integer,
// as get_data<int64_t> of Array.h does.
func (a *array) equals(i int, want *Value) bool {
	v := a.value(i)
	switch {
	case v.Kind == Float && want.Kind == Int:
		return int64(v.Float) == want.Int
	case v.numeric() && want.Kind == Float:
		return v.number() == want.Float
	case v.Kind != want.Kind:
		return false
	}
	same, _ := compareValues("==", &v, want)
	return same
}

// eachArray sets the bits of the rows whose array passes test.
func eachArray(e *evaluation, f *Field, test func(a *array) bool) (selection, error) {
	c, err := e.column(f)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	var a array
	kind := kindOf(f.Element)
	for i, cell := range c.Strings {
		if err := a.read(cell, kind); err != nil {
			return selection{}, fmt.Errorf("field %s, row %d: %w", f.Name, i, err)
		}
		pass[i>>6] |= bit(test(&a)) << (i & 63)
	}
	return excludeNulls(selection{pass: pass}, c), nil
}

// elementTest tests one element of an array. A row whose array is too short does not pass.
type elementTest struct {
	column *column
	test   tester
}

func (s *elementTest) rows(e *evaluation) (selection, error) {
	return eachArray(e, s.column.field, func(a *array) bool {
		if s.column.index >= a.n {
			return false
		}
		v := a.value(s.column.index)
		pass, _ := s.test(&v)
		return pass
	})
}

// arrayEqual tests whether a whole array equals a list, or differs from it. A constant of another numeric kind
// than the elements counts as 0, because is_same_array of Array.h reads it as one of the elements' kind.
type arrayEqual struct {
	field *Field
	list  []Value
	equal bool
}

func (s *arrayEqual) rows(e *evaluation) (selection, error) {
	return eachArray(e, s.field, func(a *array) bool {
		same := a.n == len(s.list)
		for i := 0; same && i < a.n; i++ {
			want := s.list[i]
			if want.Kind != a.kind {
				want = Value{Kind: a.kind}
			}
			same = a.equals(i, &want)
		}
		return same == s.equal
	})
}
