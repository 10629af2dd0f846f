package faulttest

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// newMessage returns an empty message by its full name.
func newMessage(name string) (proto.Message, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", name, err)
	}
	return kind.New().Interface(), nil
}

// change is one edit of a value: PATH=VALUE, PATH+=VALUE or -PATH.
type change struct {
	path  []step
	op    byte // '=', '+' or '-'
	value string
}

// step is one part of a path: name, name[toNodeIDs], name[key] of a map, name[field=value] of a list of messages.
type step struct{ name, selector string }

func parseChange(text string) (change, error) {
	if path, ok := strings.CutPrefix(text, "-"); ok {
		steps, err := parsePath(path)
		return change{steps, '-', ""}, err
	}
	depth := 0
	for i, r := range text {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth > 0 {
				continue
			}
			path, op := text[:i], byte('=')
			if p, ok := strings.CutSuffix(path, "+"); ok {
				path, op = p, '+'
			}
			steps, err := parsePath(path)
			return change{steps, op, text[i+1:]}, err
		}
	}
	return change{}, fmt.Errorf("%q is neither PATH=VALUE, PATH+=VALUE nor -PATH", text)
}

func parsePath(text string) (steps []step, err error) {
	for text != "" {
		n := strings.IndexAny(text, ".[")
		if n < 0 {
			return append(steps, step{name: text}), nil
		}
		s := step{name: text[:n]}
		if text[n] == '[' {
			end := strings.IndexByte(text, ']')
			if end < n {
				return nil, fmt.Errorf("a bracket of %q does not end", text)
			}
			s.selector = text[n+1 : end]
			text = strings.TrimPrefix(text[end+1:], ".")
		} else {
			text = text[n+1:]
		}
		if s.name == "" {
			return nil, errors.New("a path with an empty part")
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, errors.New("an empty path")
	}
	return steps, nil
}

// apply applies the change to a message.
func (c change) apply(m protoreflect.Message, now time.Time) error {
	s := c.path[0]
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(s.name))
	if fd == nil {
		return fmt.Errorf("%s has no field %s", m.Descriptor().Name(), s.name)
	}
	rest := change{c.path[1:], c.op, c.value}
	switch {
	case fd.IsMap() && (s.selector != "" || c.op != '-' || len(rest.path) > 0):
		return rest.inMap(m.Mutable(fd).Map(), fd, s.selector, now)
	case fd.IsList() && s.selector != "":
		return rest.inList(m, fd, s.selector, now)
	case len(rest.path) > 0 && fd.Kind() == protoreflect.StringKind && !fd.IsList():
		text, err := rest.inJSON([]byte(m.Get(fd).String()), now)
		if err == nil {
			m.Set(fd, protoreflect.ValueOfString(string(text)))
		}
		return err
	case len(rest.path) > 0:
		if fd.Message() == nil || fd.IsList() {
			return fmt.Errorf("%s is not a message", s.name)
		}
		return rest.apply(m.Mutable(fd).Message(), now)
	case c.op == '-':
		if !m.Has(fd) {
			return fmt.Errorf("%s is not set", s.name)
		}
		m.Clear(fd)
		return nil
	case fd.IsList():
		return rest.setList(m.Mutable(fd).List(), fd, now)
	case c.op == '+':
		return fmt.Errorf("%s is not a list", s.name)
	}
	v, err := parseValue(fd, c.value, m.NewField(fd), now)
	if err == nil {
		m.Set(fd, v)
	}
	return err
}

// setList replaces a list with [a,b,c], or appends one element.
func (c change) setList(list protoreflect.List, fd protoreflect.FieldDescriptor, now time.Time) error {
	values := []string{c.value}
	if c.op == '=' {
		inner, ok := strings.CutSuffix(strings.TrimPrefix(c.value, "["), "]")
		if !ok || fd.Message() != nil && inner != "" {
			return fmt.Errorf("%s is a list: write %s=[a,b] or %s+=VALUE", fd.Name(), fd.Name(), fd.Name())
		}
		list.Truncate(0)
		if values = strings.Split(inner, ","); inner == "" {
			values = nil
		}
	}
	for _, text := range values {
		v, err := parseValue(fd, strings.TrimSpace(text), list.NewElement(), now)
		if err != nil {
			return err
		}
		list.Append(v)
	}
	return nil
}

// inList edits or removes the elements of a list that match a selector.
func (c change) inList(m protoreflect.Message, fd protoreflect.FieldDescriptor, selector string, now time.Time) error {
	list := m.Mutable(fd).List()
	var kept []protoreflect.Value
	hits := 0
	for i := range list.Len() {
		v := list.Get(i)
		if !selects(selector, i, fd, v) {
			kept = append(kept, v)
			continue
		}
		hits++
		switch {
		case len(c.path) > 0 && fd.Message() != nil:
			if err := c.apply(v.Message(), now); err != nil {
				return err
			}
		case len(c.path) > 0:
			return fmt.Errorf("%s is not a list of messages", fd.Name())
		case c.op == '=':
			next, err := parseValue(fd, c.value, list.NewElement(), now)
			if err != nil {
				return err
			}
			list.Set(i, next)
		case c.op != '-':
			return fmt.Errorf("%s[%s]: nothing can be added to an element", fd.Name(), selector)
		}
	}
	if hits == 0 {
		return fmt.Errorf("%s has no element [%s] among its %d", fd.Name(), selector, list.Len())
	}
	if c.op != '-' || len(c.path) > 0 {
		return nil
	}
	for i, v := range kept {
		list.Set(i, v)
	}
	list.Truncate(len(kept))
	return nil
}

func selects(selector string, i int, fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	name, want, keyed := strings.Cut(selector, "=")
	switch {
	case selector == "*":
		return true
	case !keyed && fd.Message() == nil:
		return selector == strconv.Itoa(i) || selector == "value "+v.String()
	case !keyed:
		return selector == strconv.Itoa(i)
	case fd.Message() == nil:
		return name == "value" && v.String() == want
	}
	field := v.Message().Descriptor().Fields().ByName(protoreflect.Name(name))
	return field != nil && v.Message().Get(field).String() == want
}

// inMap sets, edits or removes one entry of a map.
func (c change) inMap(entries protoreflect.Map, fd protoreflect.FieldDescriptor, selector string, now time.Time) error {
	if selector == "" {
		return fmt.Errorf("%s is a map: write %s[KEY]", fd.Name(), fd.Name())
	}
	v, err := parseValue(fd.MapKey(), selector, protoreflect.Value{}, now)
	if err != nil {
		return err
	}
	key := v.MapKey()
	switch {
	case c.op == '-' && len(c.path) == 0:
		if !entries.Has(key) {
			return fmt.Errorf("%s has no entry [%s]", fd.Name(), selector)
		}
		entries.Clear(key)
		return nil
	case len(c.path) > 0 && fd.MapValue().Message() != nil:
		return c.apply(entries.Mutable(key).Message(), now)
	}
	v, err = parseValue(fd.MapValue(), c.value, entries.NewValue(), now)
	if err == nil {
		entries.Set(key, v)
	}
	return err
}

// parseValue parses a value of a field's kind. Messages are prototext and are decoded into empty.
func parseValue(
	fd protoreflect.FieldDescriptor, text string, empty protoreflect.Value, now time.Time,
) (protoreflect.Value, error) {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		b, err := strconv.ParseBool(text)
		return protoreflect.ValueOfBool(b), err
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), nil
	case protoreflect.BytesKind:
		b, err := parseBytes(text)
		return protoreflect.ValueOfBytes(b), err
	case protoreflect.EnumKind:
		if v := fd.Enum().Values().ByName(protoreflect.Name(text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), nil
		}
		return protoreflect.Value{}, fmt.Errorf("%s has no value %s", fd.Enum().Name(), text)
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		f, err := strconv.ParseFloat(text, 64)
		if fd.Kind() == protoreflect.FloatKind {
			return protoreflect.ValueOfFloat32(float32(f)), err
		}
		return protoreflect.ValueOfFloat64(f), err
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return empty, fill(empty.Message().Interface(), text, now)
	default:
		return parseNumber(fd, text, now)
	}
}

// fill decodes a prototext, in which times may be written as now-30m.
func fill(m proto.Message, text string, now time.Time) error {
	text, err := replaceTimes(text, now)
	if err != nil {
		return err
	}
	return prototext.Unmarshal([]byte(text), m)
}

func parseNumber(fd protoreflect.FieldDescriptor, text string, now time.Time) (v protoreflect.Value, err error) {
	if at, ok, err := parseTime(text, now); err != nil {
		return v, err
	} else if ok {
		text = at
	}
	switch fd.Kind() {
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n, err := strconv.ParseUint(text, 10, 64)
		return protoreflect.ValueOfUint64(n), err
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		n, err := strconv.ParseUint(text, 10, 32)
		return protoreflect.ValueOfUint32(uint32(n)), err
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		return protoreflect.ValueOfInt64(n), err
	}
}

// parseBytes parses "hex:0a0b", "le64:17" (a Kafka offset as Milvus stores it) or plain text.
func parseBytes(text string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(text, "hex:"); ok {
		return hex.DecodeString(rest)
	}
	if rest, ok := strings.CutPrefix(text, "le64:"); ok {
		n, err := strconv.ParseInt(rest, 10, 64)
		return binary.LittleEndian.AppendUint64(nil, uint64(n)), err
	}
	return []byte(text), nil
}
