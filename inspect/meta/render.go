package meta

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// messageJSON writes a message as indented JSON: fields in the order of their numbers
// under their proto names, int64 as strings (as protojson does: JavaScript cannot hold
// them), bytes as hex, enums by name. protojson itself is not used because its output
// differs from run to run by design, and because it writes bytes as base64.
func messageJSON(m proto.Message) string {
	var b bytes.Buffer
	writeMessage(&b, m.ProtoReflect())
	return indentJSON(b.Bytes())
}

// indentJSON indents a JSON document; what is none stays as it is.
func indentJSON(compact []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, compact, "", "  ") != nil {
		return string(compact)
	}
	return out.String()
}

func writeMessage(b *bytes.Buffer, m protoreflect.Message) {
	b.WriteByte('{')
	fields := writeFields(b, m, 0)
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		writeUnknown(b, m, unknown, fields)
	}
	b.WriteByte('}')
}

// writeFields writes the fields that are set, and returns how many there are by now.
func writeFields(b *bytes.Buffer, m protoreflect.Message, written int) int {
	all := m.Descriptor().Fields()
	set := make([]protoreflect.FieldDescriptor, 0, all.Len())
	for i := range all.Len() {
		if fd := all.Get(i); m.Has(fd) {
			set = append(set, fd)
		}
	}
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	for _, fd := range set {
		writeName(b, string(fd.Name()), written)
		writeField(b, fd, m.Get(fd))
		written++
	}
	return written
}

func writeName(b *bytes.Buffer, name string, written int) {
	if written > 0 {
		b.WriteByte(',')
	}
	writeText(b, name)
	b.WriteByte(':')
}

func writeText(b *bytes.Buffer, s string) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(s) == nil {
		b.Truncate(b.Len() - 1) // the newline that Encode adds
	}
}

// writeUnknown writes what the message's definition lacks: the fields that newer
// releases are known to have by name, others by number with their raw bytes.
func writeUnknown(b *bytes.Buffer, m protoreflect.Message, unknown []byte, written int) {
	if extra := supplement(m.Descriptor().FullName()); extra != nil && proto.Unmarshal(unknown, extra) == nil {
		written = writeFields(b, extra.ProtoReflect(), written)
		unknown = extra.ProtoReflect().GetUnknown()
	}
	if len(unknown) == 0 {
		return
	}
	writeName(b, "unknown_fields", written)
	b.WriteByte('{')
	for i := 0; len(unknown) > 0; i++ {
		number, _, n := protowire.ConsumeField(unknown)
		if n < 0 {
			break
		}
		writeName(b, strconv.Itoa(int(number)), i)
		writeText(b, hex.EncodeToString(unknown[:n]))
		unknown = unknown[n:]
	}
	b.WriteByte('}')
}

func writeField(b *bytes.Buffer, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case fd.IsMap():
		writeMap(b, fd, v.Map())
	case fd.IsList():
		b.WriteByte('[')
		for i := range v.List().Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			writeValue(b, fd, v.List().Get(i))
		}
		b.WriteByte(']')
	default:
		writeValue(b, fd, v)
	}
}

func writeMap(b *bytes.Buffer, fd protoreflect.FieldDescriptor, m protoreflect.Map) {
	var keys []protoreflect.MapKey
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, func(x, y protoreflect.MapKey) int { return bytes.Compare([]byte(x.String()), []byte(y.String())) })
	b.WriteByte('{')
	for i, k := range keys {
		writeName(b, k.String(), i)
		writeValue(b, fd.MapValue(), m.Get(k))
	}
	b.WriteByte('}')
}

func writeValue(b *bytes.Buffer, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		writeMessage(b, v.Message())
	case protoreflect.BytesKind:
		writeText(b, hex.EncodeToString(v.Bytes()))
	case protoreflect.StringKind:
		writeText(b, v.String())
	case protoreflect.EnumKind:
		if d := fd.Enum().Values().ByNumber(v.Enum()); d != nil {
			writeText(b, string(d.Name()))
			return
		}
		b.WriteString(strconv.Itoa(int(v.Enum())))
	case protoreflect.BoolKind, protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind,
		protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		b.WriteString(v.String())
	default: // 64-bit numbers and floats, which JSON cannot hold or lacks (NaN)
		writeText(b, v.String())
	}
}
