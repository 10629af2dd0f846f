package live

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/model"
)

// maxDecoded bounds what one answer may become when it is decoded: two bytes of protobuf can
// stand for a struct of two hundred. An honest answer takes about four times its own size; that of a node with 50,000 segments fits.
const maxDecoded = 160 << 20

// keepable bounds what stays of all answers together: room for what an honest cluster of that
// size says, several times over.
func keepable(c *model.Cluster, servers int) int64 {
	const base, perServer, perSegment = 32 << 20, 1 << 20, 4 << 10
	return base + perServer*int64(servers) + perSegment*int64(len(c.Segments))
}

// tooHeavy returns why an encoded message is not decoded, nil if it may be.
func tooHeavy(m proto.Message, encoded []byte) *failure { return heavy(weigh(m, encoded)) }

func heavy(weight int64) *failure {
	if weight <= maxDecoded {
		return nil
	}
	return failed(model.TooLarge, "the answer would take more than %s of memory once it is decoded", mebibytes(maxDecoded))
}

// What a field costs beside the bytes of its value, in bytes, as generated code decodes it on 64 bits.
const (
	costMessage = 200 // a struct, and its place in a list or a map
	costText    = 32
	costNumber  = 16
	textCopies  = 4 // that a text goes through, a large one of JSON most of all
	// maxDepth is deeper than any answer is.
	maxDepth = 32
)

// weigh estimates what an encoded message takes once it is decoded, rather too much; it stops
// where that is more than any may.
func weigh(m proto.Message, encoded []byte) int64 {
	left := int64(maxDecoded)
	weighMessage(m.ProtoReflect().Descriptor(), encoded, &left, 0)
	return maxDecoded - left
}

// weighMessage takes what a message costs from left, until nothing is left.
func weighMessage(d protoreflect.MessageDescriptor, encoded []byte, left *int64, depth int) {
	*left -= costMessage
	if depth > maxDepth {
		*left = -1 // decoding would go as deep
	}
	for b := encoded; len(b) > 0 && *left > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return // it is no message: decoding it fails
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return
		}
		f, value := d.Fields().ByNumber(number), b[n:n+size]
		switch {
		case f == nil:
			*left -= 2 * int64(n+size) // kept as it is, in a slice that grows
		case kind != protowire.BytesType:
			*left -= costNumber
		case f.Message() != nil:
			inner, _ := protowire.ConsumeBytes(value)
			weighMessage(f.Message(), inner, left, depth+1)
		case f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind:
			*left -= costText + textCopies*int64(size)
		default:
			inner, _ := protowire.ConsumeBytes(value)
			*left -= costNumber * numbersIn(inner)
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
