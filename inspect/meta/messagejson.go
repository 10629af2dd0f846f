package meta

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/internal/encode"
)

// messageJSON formats a message as indented JSON: fields in the order of their numbers under their proto names,
// int64 as strings (like protojson, because JavaScript cannot hold them), bytes as hex, enums by name. It does not
// use protojson itself, which writes bytes as base64 and skips unknown fields.
func messageJSON(m proto.Message) string {
	var b bytes.Buffer
	e := encode.JSON(&b, 0)
	encodeMessage(e, m.ProtoReflect())
	if e.Flush() != nil {
		return ""
	}
	return indentJSON(bytes.TrimSpace(b.Bytes()))
}

// indentJSON indents a JSON document. It returns anything else unchanged.
func indentJSON(compact []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, compact, "", "  ") != nil {
		return string(compact)
	}
	return out.String()
}

// encodeMessage writes the fields that are set, and then the unknown fields: by name if a newer release is known
// to have them, otherwise by number with their raw bytes.
func encodeMessage(e *encode.Encoder, m protoreflect.Message) {
	e.BeginObject()
	defer e.EndObject()
	encodeFields(e, m)
	unknown := m.GetUnknown()
	if extra := supplement(m.Descriptor().FullName()); len(unknown) > 0 && extra != nil &&
		proto.Unmarshal(unknown, extra) == nil {
		encodeFields(e, extra.ProtoReflect())
		unknown = extra.ProtoReflect().GetUnknown()
	}
	if len(unknown) == 0 {
		return
	}
	e.Key("unknown_fields")
	e.BeginObject()
	defer e.EndObject()
	for len(unknown) > 0 {
		number, _, n := protowire.ConsumeField(unknown)
		if n < 0 {
			return
		}
		e.Entry(strconv.Itoa(int(number)), hex.EncodeToString(unknown[:n]))
		unknown = unknown[n:]
	}
}

func encodeFields(e *encode.Encoder, m protoreflect.Message) {
	var set []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, fd)
		return true
	})
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	for _, fd := range set {
		e.Key(string(fd.Name()))
		encodeField(e, fd, m.Get(fd))
	}
}

func encodeField(e *encode.Encoder, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case fd.IsMap():
		entries := map[string]protoreflect.Value{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			entries[k.String()] = v
			return true
		})
		e.BeginObject()
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			e.Key(name)
			encodeSingle(e, fd.MapValue(), entries[name])
		}
		e.EndObject()
	case fd.IsList():
		e.BeginList()
		for i := range v.List().Len() {
			encodeSingle(e, fd, v.List().Get(i))
		}
		e.EndList()
	default:
		encodeSingle(e, fd, v)
	}
}

func encodeSingle(e *encode.Encoder, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		encodeMessage(e, v.Message())
	case protoreflect.BytesKind:
		e.Text(hex.EncodeToString(v.Bytes()))
	case protoreflect.EnumKind:
		if d := fd.Enum().Values().ByNumber(v.Enum()); d != nil {
			e.Text(string(d.Name()))
			return
		}
		e.Int(int64(v.Enum()))
	case protoreflect.BoolKind:
		e.Bool(v.Bool())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		e.Int(v.Int())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		e.Int(int64(v.Uint()))
	default: // strings; 64-bit numbers and floats, which JSON cannot hold or lacks (NaN)
		e.Text(v.String())
	}
}
