package live

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/model"
)

// maxDecoded bounds what one answer may become when it is decoded: two bytes of protobuf can
// stand for a struct of two hundred. An honest answer takes about four times its own size; that of a node with 50,000 segments fits.
const maxDecoded = 104 << 20

// keepable bounds what stays of all answers together: room for what an honest cluster of that
// size says, several times over.
func keepable(c *model.Cluster, servers int) int64 {
	const base, perServer, perSegment = 32 << 20, 1 << 20, 4 << 10
	return base + perServer*int64(servers) + perSegment*int64(len(c.Segments))
}

// tooHeavy says why an encoded message is not decoded, nil if it may be.
func tooHeavy(m proto.Message, encoded []byte) *failure {
	const certain = maxDecoded / worstShape // lighter than any answer of this size can become
	if len(encoded) <= certain {
		return nil
	}
	return heavy(make(scales).weigh(m, encoded))
}

func heavy(weight int64) *failure {
	if weight <= maxDecoded {
		return nil
	}
	return failed(model.TooLarge, "the answer would take more than %s of memory once it is decoded", mebibytes(maxDecoded))
}

// scales know the shapes of messages, by their names.
type scales map[protoreflect.FullName]*shape

// shape is what a message costs.
type shape struct {
	size   int64 // of its struct
	fields map[protowire.Number]part
}

// part is what a field costs beside the bytes of its value.
type part struct {
	message *shape // of a message, or of a map's entry
	numbers bool   // a list of numbers, which may be packed
	each    int64
}

// Sizes of Go's types, on 64 bits.
const (
	sizeMessage  = 48 // what every generated struct begins with
	sizeWord     = 8
	sizeString   = 16
	sizeSlice    = 24
	sizeElement  = 16 // a pointer in a list, which grows by doubling
	sizeText     = 16 // what an allocation of text loses
	sizeMapEntry = 96
	textCopies   = 4 // that a text goes through, a large one of JSON most of all
	// worstShape is how many times its own size an answer can become: an empty message takes
	// two bytes, and the largest struct has some forty fields.
	worstShape = 512
	// maxDepth is deeper than any answer is.
	maxDepth = 32
)

// weigh estimates what an encoded message takes once it is decoded, rather too much; it stops
// where that is more than any may.
func (s scales) weigh(m proto.Message, encoded []byte) int64 {
	left := int64(maxDecoded)
	s.shapeOf(m.ProtoReflect().Descriptor()).weigh(encoded, &left, 0)
	return maxDecoded - left
}

func (s scales) shapeOf(d protoreflect.MessageDescriptor) *shape {
	if had := s[d.FullName()]; had != nil {
		return had
	}
	fields := d.Fields()
	x := &shape{size: sizeMessage, fields: make(map[protowire.Number]part, fields.Len())}
	s[d.FullName()] = x // before its fields, which may be of its own kind
	for i := range fields.Len() {
		f := fields.Get(i)
		p, size := part{}, int64(sizeWord)
		text := f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind
		switch {
		case f.IsMap():
			p = part{message: s.shapeOf(f.Message()), each: sizeMapEntry}
		case f.Message() != nil:
			p = part{message: s.shapeOf(f.Message()), each: sizeElement}
		case text:
			p.each, size = sizeText, sizeString
		case f.IsList():
			p = part{numbers: true, each: sizeElement}
		}
		switch {
		case f.IsMap():
		case f.IsList():
			size = sizeSlice
			p.each += sizeString
		case f.Kind() == protoreflect.BytesKind:
			size = sizeSlice
		}
		x.size += size
		x.fields[f.Number()] = p
	}
	return x
}

// weigh takes what a message costs from left, until nothing is left.
func (s *shape) weigh(encoded []byte, left *int64, depth int) {
	*left -= s.size
	if depth > maxDepth {
		*left = -1 // decoding would go as deep
	}
	for b := encoded; len(b) > 0 && *left > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return // it is no message: decoding it says so
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return
		}
		p, known := s.fields[number]
		*left -= p.each
		switch value := b[n : n+size]; {
		case !known:
			*left -= 2 * int64(n+size) // kept as it is, in a slice that grows
		case kind != protowire.BytesType:
		case p.message != nil:
			inner, _ := protowire.ConsumeBytes(value)
			p.message.weigh(inner, left, depth+1)
		case p.numbers:
			inner, _ := protowire.ConsumeBytes(value)
			*left -= sizeElement * numbersIn(inner)
		default:
			*left -= textCopies * int64(size)
		}
		b = b[n+size:]
	}
}

// numbersIn counts packed numbers. Those of fixed size are eight bytes, or four.
func numbersIn(packed []byte) int64 {
	count := int64(len(packed) / 4)
	varints := int64(0)
	for _, b := range packed {
		if b < 0x80 {
			varints++
		}
	}
	return max(count, varints)
}

// weighJSON estimates what JSON takes once it is decoded, by what separates its values.
func weighJSON[T string | []byte](text T) int64 {
	const perObject, perValue = 512, 64
	weight := 2 * int64(len(text)) // a copy to read from, and the texts in it
	for i := range len(text) {
		switch text[i] {
		case '{':
			weight += perObject
		case ',', '[', ':':
			weight += perValue
		}
	}
	return weight
}
