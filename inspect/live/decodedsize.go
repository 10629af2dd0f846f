package live

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/model"
)

// maxDecoded bounds the decoded size of a response, in bytes, because two bytes of protobuf can become a
// struct of two hundred bytes. A normal response takes about four times its own size. The response of a node
// with 50,000 segments fits.
const maxDecoded = 160 << 20

// memoryLimit returns the bound for the retained memory of all responses together, in bytes. It is several times
// the memory that a normal cluster of that size needs.
func memoryLimit(c *model.Cluster, servers int) int64 {
	const base, perServer, perSegment = 32 << 20, 1 << 20, 4 << 10
	return base + perServer*int64(servers) + perSegment*int64(len(c.Segments))
}

// checkDecodedSize returns why an encoded message must not be decoded, or nil if it may be.
func checkDecodedSize(m proto.Message, encoded []byte) *failure {
	return checkSize(decodedSize(m, encoded))
}

func checkSize(weight int64) *failure {
	if weight <= maxDecoded {
		return nil
	}
	return newFailure(model.TooLarge, "the answer would take more than %s of memory once it is decoded",
		mebibytes(maxDecoded))
}

// The cost of a field in addition to the bytes of its value, in bytes, as generated code decodes it on 64-bit
// platforms.
const (
	costMessage = 200 // a struct, and its place in a list or a map
	costText    = 32
	costNumber  = 16
	textCopies  = 4 // number of copies that are made of a text, mostly of a large JSON text
	// maxDepth is deeper than any response.
	maxDepth = 32
)

// decodedSize returns an upper estimate of the memory of a decoded message, in bytes. It stops above maxDecoded.
func decodedSize(m proto.Message, encoded []byte) int64 {
	left := int64(maxDecoded)
	subtractMessage(m.ProtoReflect().Descriptor(), encoded, &left, 0)
	return maxDecoded - left
}

// subtractMessage subtracts the cost of a message from left, and stops when left is used up.
func subtractMessage(d protoreflect.MessageDescriptor, encoded []byte, left *int64, depth int) {
	*left -= costMessage
	if depth > maxDepth {
		*left = -1 // decoding would go as deep
	}
	for b := encoded; len(b) > 0 && *left > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return // invalid message: decoding it fails
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
			subtractMessage(f.Message(), inner, left, depth+1)
		case f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind:
			*left -= costText + textCopies*int64(size)
		default:
			inner, _ := protowire.ConsumeBytes(value)
			*left -= costNumber * numbersIn(inner)
		}
		b = b[n+size:]
	}
}

// numbersIn returns the maximum number of packed numbers. Those of fixed size take eight or four bytes.
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

// decodedJSONSize estimates the memory of decoded JSON in bytes, from the separators of its values.
func decodedJSONSize[T string | []byte](text T) int64 {
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
