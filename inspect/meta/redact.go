package meta

import (
	"bytes"
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// Redactor returns a function that redacts the secrets in one key's value: password hashes, dynamic configuration
// with a secret name, credentials in properties and in the parameters of functions and imports, tokens of
// replicated clusters, bodies of broadcast messages. The function never changes the value in place. It returns
// false for a key that must not be stored, because it is the key of a setting or of an unknown kind and has a
// secret in its name.
func Redactor(h source.Header) func(source.KV) (source.KV, bool) {
	g := newGrammar(h)
	return func(kv source.KV) (source.KV, bool) {
		k, err := g.parse(kv.Key)
		kv.Value = g.redact(kv, &k, err)
		return kv, g.safeKey(&k, err, string(kv.Key)) == string(kv.Key)
	}
}

// safeKey returns a parsed key without secrets. Keys of Milvus's own records are unchanged, because names in them
// may look like secrets.
func (g *grammar) safeKey(k *keyParts, err error, key string) string {
	if err == nil && k.kind != kindConfig {
		return key
	}
	return redact.Text(key)
}

// redact returns the value of a parsed key without secrets.
func (g *grammar) redact(kv source.KV, k *keyParts, err error) []byte {
	if err != nil {
		return redactUnknown(kv)
	}
	kind := g.kinds[k.kind]
	switch {
	case isTombstone(kv.Value):
		return kv.Value
	case kind.secret == secretNever:
		if looksLike(kind.enc, kv.Value) {
			return kv.Value
		}
		return redactUnknown(kv) // not of the expected encoding, so it may hold a secret
	case kind.id == kindUser:
		return redactUser(kv.Value)
	}
	switch kind.enc {
	case encJSON:
		return redactRecord(kv.Value, kind.secret)
	case encText:
		if kind.id == kindConfig {
			return []byte(redact.Setting(k.name(), string(kv.Value)))
		}
		return []byte(redact.Pair(k.name(), string(kv.Value)))
	case encProto:
		return redactProto(kind, kv.Value)
	default:
		return redactUnknown(kv)
	}
}

// looksLike reports whether a value may be of an encoding. It must be fast, because it is called for most keys of
// a store.
func looksLike(enc encoding, value []byte) bool {
	switch enc {
	case encProto:
		return wellFormed(value)
	case encJSON:
		return json.Valid(value)
	case encZstdProto:
		return bytes.HasPrefix(value, []byte(zstdMagic))
	case encNumber:
		_, err := strconv.ParseInt(string(value), 10, 64)
		return err == nil
	case encTime:
		return len(value) == 8
	case encEmpty:
		return len(value) == 0
	default:
		return !redact.HoldsSecret(value)
	}
}

// zstdMagic is the prefix of every zstd frame (RFC 8878, 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// wellFormed reports whether b is a sequence of protobuf fields.
func wellFormed(b []byte) bool {
	for len(b) > 0 {
		if _, rest, ok := nextField(b); ok {
			b = rest
			continue
		}
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// redactUser redacts all fields of a user except those known to be harmless. Milvus writes {"username", "tenant",
// "encrypted_password", "is_super", "sha256_password"} (internal/proto/internal.proto, CredentialInfo). A hash is
// a secret under any name.
func redactUser(value []byte) []byte {
	var user map[string]any
	if len(value) == 0 {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if decoder.Decode(&user) != nil || decoder.More() {
		return []byte(redact.Redacted)
	}
	for name, x := range user {
		if _, flag := x.(bool); flag || x == nil || x == "" || name == "username" || name == "tenant" {
			continue
		}
		user[name] = redact.Redacted
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(user) != nil {
		return []byte(redact.Redacted)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// redactUnknown redacts a value of unknown kind by its content and its key.
func redactUnknown(kv source.KV) []byte {
	named := redact.Name(lastComponent(kv.Key))
	if out, changed, ok := redact.JSON(kv.Value); ok && changed && !named {
		return out
	} else if len(kv.Value) == 0 || !named && (ok || !redact.HoldsSecret(kv.Value)) {
		return kv.Value
	}
	return []byte(redact.Redacted)
}

func lastComponent(key []byte) string { return string(key[bytes.LastIndexByte(key, '/')+1:]) }

func redactRecord(value []byte, s secrecy) []byte {
	if s != secretAlways && !redact.MayHoldSecret(value) {
		return value
	}
	out, _, ok := redact.JSON(value)
	if !ok {
		return []byte(redact.Redacted) // not JSON: the position of the secret is unknown
	}
	return out
}

func redactProto(kind *kind, value []byte) []byte {
	if kind.secret != secretAlways && !redact.MayHoldSecret(value) {
		return value
	}
	m := kind.message()
	if len(value) > maxMessage || proto.Unmarshal(value, m) != nil {
		return []byte(redact.Redacted)
	}
	if !redactMessage(m.ProtoReflect()) {
		return value
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return []byte(redact.Redacted)
	}
	return out
}

// redactMessage redacts a message and its nested messages in place.
func redactMessage(m protoreflect.Message) (changed bool) {
	switch m.Descriptor().FullName() {
	case "milvus.proto.common.KeyValuePair":
		return redactPairMessage(m)
	case "milvus.proto.messages.Message":
		changed = redactWALMessage(m)
	}
	changed = redactUnknownFields(m) || changed
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		changed = redactField(m, fd, v) || changed
		return true
	})
	return changed
}

func redactField(m protoreflect.Message, fd protoreflect.FieldDescriptor, v protoreflect.Value) (changed bool) {
	switch {
	case fd.IsMap() && fd.MapKey().Kind() == protoreflect.StringKind && fd.MapValue().Kind() == protoreflect.StringKind:
		entries := v.Map()
		entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			if safe := redact.Pair(k.String(), v.String()); safe != v.String() {
				entries.Set(k, protoreflect.ValueOfString(safe))
				changed = true
			}
			return true
		})
	case fd.Kind() == protoreflect.StringKind && fd.IsList():
		list := v.List()
		for i := range list.Len() {
			text := list.Get(i).String()
			if safe := redact.Pair(string(fd.Name()), text); safe != text {
				list.Set(i, protoreflect.ValueOfString(safe))
				changed = true
			}
		}
	case fd.Kind() == protoreflect.StringKind && !fd.IsMap():
		if safe := redact.Pair(string(fd.Name()), v.String()); safe != v.String() {
			m.Set(fd, protoreflect.ValueOfString(safe))
			changed = true
		}
	case fd.Kind() == protoreflect.BytesKind && !fd.IsList() && !fd.IsMap():
		if redact.HoldsSecret(v.Bytes()) { // a message in a message
			m.Set(fd, protoreflect.ValueOfBytes([]byte(redact.Redacted)))
			changed = true
		}
	default:
		eachMessage(fd, v, func(inner protoreflect.Message) { changed = redactMessage(inner) || changed })
	}
	return changed
}

func redactPairMessage(m protoreflect.Message) bool {
	fields := m.Descriptor().Fields()
	value := fields.ByName("value")
	before := m.Get(value).String()
	safe := redact.Property(m.Get(fields.ByName("key")).String(), before)
	if safe == before {
		return false
	}
	m.Set(value, protoreflect.ValueOfString(safe))
	return true
}

// redactWALMessage clears the body of a broadcast message. It redacts all properties except type, version, time,
// channel and broadcast header, because the others hold encoded headers, some with credentials of users or of
// replication.
func redactWALMessage(m protoreflect.Message) (changed bool) {
	fields := m.Descriptor().Fields()
	if payload := fields.ByName("payload"); m.Has(payload) {
		m.Clear(payload)
		changed = true
	}
	properties := fields.ByName("properties")
	if !m.Has(properties) {
		return changed
	}
	entries := m.Mutable(properties).Map()
	entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		switch k.String() {
		case messageTypeProperty, "_v", "_wt", "_tt", "_btt", "_lc", "_vc", broadcastHeaderProperty:
			return true
		}
		entries.Set(k, protoreflect.ValueOfString(redact.Redacted))
		changed = true
		return true
	})
	return changed
}

// redactUnknownFields replaces unknown fields that mention a secret. A newer Milvus added them.
func redactUnknownFields(m protoreflect.Message) bool {
	unknown := m.GetUnknown()
	if len(unknown) == 0 || !redact.HoldsSecret(unknown) {
		return false
	}
	var out []byte
	for b := []byte(unknown); len(b) > 0; {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 {
			break
		}
		if redact.HoldsSecret(b[:n]) {
			out = protowire.AppendString(protowire.AppendTag(out, number, protowire.BytesType), redact.Redacted)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	m.SetUnknown(out)
	return true
}
