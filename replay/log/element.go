package log

import (
	"encoding/binary"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// value returns component j of a row of any element type except bits.
func value(row []byte, e dist.Element, j int) float32 {
	switch e {
	case dist.Float16:
		return dist.WidenFloat16(binary.LittleEndian.Uint16(row[2*j:]))
	case dist.BFloat16:
		return dist.WidenBFloat16(binary.LittleEndian.Uint16(row[2*j:]))
	case dist.Int8:
		return float32(int8(row[j]))
	default:
		return math.Float32frombits(binary.LittleEndian.Uint32(row[4*j:]))
	}
}

// setValue stores x as component j, rounded to the nearest value of the element type (ties to even; int8 is clamped to
// its range). It reports whether the stored value equals x.
func setValue(row []byte, e dist.Element, j int, x float32) bool {
	switch e {
	case dist.Float16:
		h := dist.NarrowFloat16(x)
		binary.LittleEndian.PutUint16(row[2*j:], h)
		return dist.WidenFloat16(h) == x
	case dist.BFloat16:
		bits := math.Float32bits(x)
		h := uint16((uint64(bits) + 0x7fff + uint64(bits>>16&1)) >> 16)
		binary.LittleEndian.PutUint16(row[2*j:], h)
		return dist.WidenBFloat16(h) == x
	case dist.Int8:
		n := math.RoundToEven(float64(x))
		n = min(max(n, math.MinInt8), math.MaxInt8)
		row[j] = byte(int8(n))
		return float32(n) == x
	default:
		binary.LittleEndian.PutUint32(row[4*j:], math.Float32bits(x))
		return true
	}
}

// finite reports whether a row has neither NaN nor infinities.
func finite(row []byte, e dist.Element) bool {
	switch e {
	case dist.Float32:
		for ; len(row) >= 4; row = row[4:] {
			if binary.LittleEndian.Uint32(row)&0x7f800000 == 0x7f800000 {
				return false
			}
		}
	case dist.Float16, dist.BFloat16:
		mask := uint16(0x7c00)
		if e == dist.BFloat16 {
			mask = 0x7f80
		}
		for ; len(row) >= 2; row = row[2:] {
			if binary.LittleEndian.Uint16(row)&mask == mask {
				return false
			}
		}
	case dist.Sparse:
		for ; len(row) >= pairBytes; row = row[pairBytes:] {
			if binary.LittleEndian.Uint32(row[4:])&0x7f800000 == 0x7f800000 {
				return false
			}
		}
	default:
	}
	return true
}

// convert converts float32 vectors to another element type, and returns the number of rounded values. Only integers
// can be converted to int8, because the scale for other values is unknown.
func convert(v *engine.Vectors, to dist.Element) (*engine.Vectors, int, error) {
	if v.Element != dist.Float32 || to == dist.Bit || to == dist.Sparse {
		return nil, 0, fmt.Errorf("expected vectors of %s, found %s", to, v.Element)
	}
	out, err := engine.NewVectors(to, v.Dim, v.Rows)
	if err != nil {
		return nil, 0, err
	}
	rounded := 0
	for i := range v.Rows {
		from, row := v.Row(i), out.Row(i)
		if to != dist.Int8 && !finite(from, dist.Float32) {
			binary.LittleEndian.PutUint16(row, 0x7fff) // NaN in either type: the row is skipped later
			continue
		}
		for j := range v.Dim {
			x := value(from, dist.Float32, j)
			if setValue(row, to, j, x) {
				continue
			}
			rounded++
			if to == dist.Int8 {
				out.Release()
				return nil, 0, fmt.Errorf("vector %d: expected a whole number from -128 to 127, found %g", i, x)
			}
		}
	}
	return out, rounded, nil
}

// parseElement parses an element name as written by Write.
func parseElement(name string) (dist.Element, error) {
	switch name {
	case "", "float32":
		return dist.Float32, nil
	case "float16":
		return dist.Float16, nil
	case "bfloat16":
		return dist.BFloat16, nil
	case "int8":
		return dist.Int8, nil
	case "sparse":
		return dist.Sparse, nil
	case "binary", "bit":
		return dist.Bit, nil
	}
	return 0,
		fmt.Errorf("element: expected float32, float16, bfloat16, int8, binary or sparse, found %s", printable(name))
}

// elementName returns the name of an element type in a .jsonl.
func elementName(e dist.Element) string {
	if e == dist.Bit {
		return "binary"
	}
	return e.String()
}
