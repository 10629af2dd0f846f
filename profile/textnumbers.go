package profile

import (
	"encoding/binary"
	"unsafe"
)

// textNumbers gives equal texts equal numbers. What is keyed by texts is keyed by these: a name of a megabyte may stand in
// a million label sets or functions, which share its bytes as long as nobody copies or hashes them for each.
type textNumbers struct {
	byText map[string]uint32
	at     map[place]uint32
}

// place is where a text lies.
type place struct {
	first *byte
	size  int
}

// of is the number of a text, 0 for the empty one.
func (t *textNumbers) of(s string) uint32 {
	if s == "" {
		return 0
	}
	const short = 64 // it is hashed as fast as its place
	p := place{unsafe.StringData(s), len(s)}
	if len(s) > short {
		if n, ok := t.at[p]; ok {
			return n
		}
	}
	n, ok := t.byText[s]
	if !ok {
		if t.byText == nil {
			t.byText, t.at = map[string]uint32{}, map[place]uint32{}
		}
		n = uint32(len(t.byText)) + 1
		t.byText[s] = n
	}
	if len(s) > short {
		t.at[p] = n
	}
	return n
}

// appendLabels appends bytes that are equal for equal sets.
func (t *textNumbers) appendLabels(b []byte, set []Label) []byte {
	for _, l := range set {
		b = binary.AppendUvarint(b, uint64(t.of(l.Key)))
		b = binary.AppendUvarint(b, uint64(t.of(l.Str)))
		b = binary.AppendUvarint(b, uint64(t.of(l.Unit)))
		b = binary.AppendVarint(b, l.Num)
		b = append(b, byte(bit(l.IsNum)))
	}
	return b
}
