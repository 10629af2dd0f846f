package meta

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/meta/legacypb"
)

// supplement returns a message with the fields that newer Milvus releases added to one of the pinned messages, nil
// if none are known.
func supplement(name protoreflect.FullName) proto.Message {
	switch name {
	case "milvus.proto.data.SegmentInfo":
		return new(legacypb.SegmentInfoSupplement)
	case "milvus.proto.data.CompactionTask":
		return new(legacypb.CompactionTaskSupplement)
	}
	return nil
}

// unknownFields returns the fields of m and of its nested messages that their definition lacks, as sorted paths,
// e.g. "47" or "binlogs.binlogs.9". A newer Milvus wrote them.
func unknownFields(m protoreflect.Message) []string {
	var paths []string
	findUnknown(m, "", func(path string) { paths = append(paths, path) })
	slices.Sort(paths)
	return slices.Compact(paths)
}

func findUnknown(m protoreflect.Message, prefix string, found func(string)) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		if extra := supplement(m.Descriptor().FullName()); extra != nil && proto.Unmarshal(unknown, extra) == nil {
			findUnknown(extra.ProtoReflect(), prefix, found)
		} else {
			for _, n := range fieldNumbers(unknown) {
				found(prefix + strconv.Itoa(int(n)))
			}
		}
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		eachMessage(fd, v, func(inner protoreflect.Message) {
			findUnknown(inner, prefix+string(fd.Name())+".", found)
		})
		return true
	})
}

// eachMessage calls visit for every message in a field's value.
func eachMessage(fd protoreflect.FieldDescriptor, v protoreflect.Value, visit func(protoreflect.Message)) {
	switch {
	case fd.IsMap():
		if fd.MapValue().Message() != nil {
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				visit(v.Message())
				return true
			})
		}
	case fd.Message() == nil:
	case fd.IsList():
		for i := range v.List().Len() {
			visit(v.List().Get(i).Message())
		}
	default:
		visit(v.Message())
	}
}

// fieldNumbers returns the field numbers in raw wire bytes.
func fieldNumbers(b []byte) []protowire.Number {
	var numbers []protowire.Number
	for len(b) > 0 {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 {
			break
		}
		numbers = append(numbers, number)
		b = b[n:]
	}
	return numbers
}

// unknownReason formats a list of unknown fields.
func unknownReason(message string, paths []string) string {
	if len(paths) == 1 {
		return message + ": unknown field " + paths[0]
	}
	return message + ": unknown fields " + strings.Join(paths, ", ")
}
