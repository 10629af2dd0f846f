package profile

import (
	"encoding/binary"
	"unsafe"
)

// textNumbers assigns equal numbers to equal texts. Map keys hold the numbers instead of the texts. A name of a
// megabyte may occur in a million label sets or functions that share its bytes, so it must not be copied or
// hashed for each occurrence.
type textNumbers struct {
	byText map[string]uint32
	at     map[textRange]uint32
}

// textRange is the memory range of a text.
type textRange struct {
	first *byte
	size  int
}

// number returns the number of a text, 0 for the empty text.
func (t *textNumbers) number(s string) uint32 {
	if s == "" {
		return 0
	}
	const short = 64 // hashing such a text is as fast as hashing its place
	p := textRange{unsafe.StringData(s), len(s)}
	if len(s) > short {
		if n, ok := t.at[p]; ok {
			return n
		}
	}
	n, ok := t.byText[s]
	if !ok {
		if t.byText == nil {
			t.byText, t.at = map[string]uint32{}, map[textRange]uint32{}
		}
		n = uint32(len(t.byText)) + 1
		t.byText[s] = n
	}
	if len(s) > short {
		t.at[p] = n
	}
	return n
}

// appendLabels appends the key of a label set. Equal sets have equal keys.
func (t *textNumbers) appendLabels(b []byte, set []Label) []byte {
	for _, l := range set {
		b = binary.AppendUvarint(b, uint64(t.number(l.Key)))
		b = binary.AppendUvarint(b, uint64(t.number(l.Str)))
		b = binary.AppendUvarint(b, uint64(t.number(l.Unit)))
		b = binary.AppendVarint(b, l.Num)
		b = append(b, byte(bit(l.IsNum)))
	}
	return b
}
