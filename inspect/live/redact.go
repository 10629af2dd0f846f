package live

import (
	"bytes"
	"slices"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Redact returns a record for storage. It decodes to the same values, but without secrets and without the
// environment of a process. Responses to unknown calls and invalid responses are dropped. The argument is not
// changed.
func Redact(r Record) Record {
	r.Error, r.Address = redact.Text(r.Error), redact.Address(r.Address)
	switch {
	case r.Method == MethodKafka, r.Method == MethodPulsar:
		r.Request, r.Response = nil, redactJSON(r.Response)
	case strings.HasPrefix(r.Method, "GET "):
		if page := pageOf(r.Method); page != nil && page.redact != nil {
			page.redact(&r)
		} else {
			r.Request, r.Response = nil, redactBody(r.Method, r.Response)
		}
	default:
		redactCall(&r)
	}
	return r
}

// redactJSON returns JSON without secrets, or nil if body is not JSON.
func redactJSON(body []byte) []byte {
	if checkSize(decodedJSONSize(body)) != nil || longestText(body) > maxMetricsLine {
		return nil
	}
	if out, _, ok := redact.JSON(body); ok {
		return out
	}
	return nil
}

func redactBody(method string, body []byte) []byte {
	switch {
	case len(body) == 0:
		return body
	case method == methodMetrics:
		return redactMetrics(body)
	}
	return []byte(redact.Text(string(body)))
}

// redactCall redacts the request and the response of a gRPC call.
func redactCall(r *Record) {
	a, known := decoderOf(r.Method)
	if !known {
		if len(r.Response) > 0 && r.Error == "" {
			r.Error, r.Outcome = "the answer was not stored: unknown method", model.NotAsked.String()
		}
		r.Request, r.Response = nil, nil
		return
	}
	request, ok := []byte(nil), checkDecodedSize(a.request(), r.Request) == nil
	if ok {
		request, ok = redactMessage(a.request(), r.Request)
	}
	if r.Request = request; !ok {
		r.Request = nil
	}
	if f := checkDecodedSize(a.response(), r.Response); f != nil {
		r.Response, r.Error, r.Outcome = nil, f.reason, f.outcome.String()
		return
	}
	response, ok := redactMessage(a.response(), r.Response)
	if !ok {
		name := string(a.response().ProtoReflect().Descriptor().Name())
		r.Response, r.Error, r.Outcome = nil, "the answer is not a "+name, model.Garbled.String()
		return
	}
	r.Response = response
}

// redactMessage redacts an encoded message; ok is false if it is not of the type of m. Most responses contain
// no word that names a secret, and are returned unchanged.
func redactMessage(m proto.Message, encoded []byte) (redacted []byte, ok bool) {
	if len(encoded) == 0 {
		return encoded, true
	}
	_, config := m.(*internalpb.ShowConfigurationsResponse)
	if !config && !redact.MayHoldSecret(encoded) {
		return encoded, proto.Unmarshal(encoded, m) == nil
	}
	if proto.Unmarshal(encoded, m) != nil {
		return nil, false
	}
	if c, ok := m.(*internalpb.ShowConfigurationsResponse); ok {
		settings := milvusSettings(c.Configuations)
		c.Configuations = nil // they follow another rule than properties
		cleanMessage(m.ProtoReflect())
		c.Configuations = settings
	} else {
		cleanMessage(m.ProtoReflect())
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return out, err == nil
}

// milvusSettings returns Milvus's own settings in a response, without secrets.
func milvusSettings(all []*commonpb.KeyValuePair) []*commonpb.KeyValuePair {
	keys := newConfigKeys(len(all))
	for _, p := range all {
		keys.add(p.GetKey())
	}
	kept := make([]*commonpb.KeyValuePair, 0, len(all))
	for _, p := range all {
		if keys.known(p.GetKey()) {
			kept = append(kept,
				&commonpb.KeyValuePair{Key: p.GetKey(), Value: redact.Setting(p.GetKey(), p.GetValue())})
		}
	}
	// A process sends its map in a random order: sorting makes equal settings compare equal.
	slices.SortStableFunc(kept,
		func(a, b *commonpb.KeyValuePair) int { return strings.Compare(a.GetKey(), b.GetKey()) })
	return kept
}

// cleanMessage removes secrets from a message and its submessages.
func cleanMessage(m protoreflect.Message) {
	m.SetUnknown(onlyNumbers(m.GetUnknown()))
	if m.Descriptor().FullName() == "milvus.proto.common.KeyValuePair" {
		fields := m.Descriptor().Fields()
		value := fields.ByName("value")
		key := m.Get(fields.ByName("key")).String()
		m.Set(value, protoreflect.ValueOfString(redact.Property(key, safePair(key, m.Get(value).String()))))
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			cleanMap(fd, v.Map())
		case fd.IsList():
			cleanList(fd, v.List())
		case fd.Message() != nil:
			cleanMessage(v.Message())
		case fd.Kind() == protoreflect.StringKind:
			m.Set(fd, protoreflect.ValueOfString(safePair(string(fd.Name()), v.String())))
		}
		return true
	})
}

func cleanMap(fd protoreflect.FieldDescriptor, m protoreflect.Map) {
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		switch {
		case fd.MapValue().Message() != nil:
			cleanMessage(v.Message())
		case fd.MapValue().Kind() == protoreflect.StringKind:
			m.Set(k, protoreflect.ValueOfString(safePair(k.String(), v.String())))
		}
		return true
	})
}

func cleanList(fd protoreflect.FieldDescriptor, list protoreflect.List) {
	for i := range list.Len() {
		switch {
		case fd.Message() != nil:
			cleanMessage(list.Get(i).Message())
		case fd.Kind() == protoreflect.StringKind:
			list.Set(i, protoreflect.ValueOfString(safePair(string(fd.Name()), list.Get(i).String())))
		}
	}
}

// onlyNumbers returns the unknown fields that cannot hold text.
func onlyNumbers(unknown []byte) []byte {
	var kept []byte
	for len(unknown) > 0 {
		_, kind, n := protowire.ConsumeField(unknown)
		if n < 0 {
			return kept
		}
		if kind == protowire.VarintType || kind == protowire.Fixed32Type || kind == protowire.Fixed64Type {
			kept = append(kept, unknown[:n]...)
		}
		unknown = unknown[n:]
	}
	return kept
}

// redactMetrics removes secrets from the labels of a scrape. It drops lines that are not samples and name a
// secret.
func redactMetrics(text []byte) []byte {
	if !redact.MayHoldSecret(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for line := range bytes.Lines(text) {
		if !redact.MayHoldSecret(line) {
			out = append(out, line...)
			continue
		}
		if clean, ok := redactSample(line); ok {
			out = append(out, clean...)
		} else if line[0] == '#' {
			out = append(out, strings.TrimRight(redact.Text(string(line)), "\n")+"\n"...)
		}
	}
	return out
}

// redactSample redacts a line NAME{KEY="VALUE",...} NUMBER; ok is false if it is not one.
func redactSample(line []byte) (clean []byte, ok bool) {
	end := nameEnd(line)
	labels, rest, err := cutLabels(line[end:])
	if err != nil || end == 0 {
		return nil, false
	}
	if _, err := sampleValue(bytes.TrimRight(rest, " \t\r\n")); err != nil {
		return nil, false
	}
	list, err := parseLabels(labels, nil)
	if err != nil || len(list) == 0 {
		return line, err == nil
	}
	for i := range list {
		list[i].value = safePair(list[i].name, list[i].value)
	}
	return slices.Concat(line[:end], []byte("{"+labelsText(list)+"}"), rest), true
}

// escapeLabel escapes the value of a label as in the text format.
func escapeLabel(value string) string {
	if !strings.ContainsAny(value, "\\\n\"") {
		return value
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(value)
}

func plainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") == ""
}
