package faulttest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
)

// layout is one kind of key of package meta. It defines how a value is decoded and encoded.
type layout struct {
	meta.KindInfo
	match *regexp.Regexp
}

var variable = regexp.MustCompile(`\\\{\w+(?::(\w+))?\\\}`)

// layouts compiles meta's table of kinds, once.
var layouts = sync.OnceValue(func() []layout {
	var list []layout
	for _, k := range meta.Kinds() {
		text := variable.ReplaceAllStringFunc(regexp.QuoteMeta(k.Pattern), func(v string) string {
			switch variable.FindStringSubmatch(v)[1] {
			case "rest":
				return ".+"
			case "name":
				return "[^/]+"
			}
			return "-?[0-9]+"
		})
		list = append(list, layout{k, regexp.MustCompile("^" + text + "$")})
	}
	return list
})

// layoutOf returns the kind of a relative key.
func (w *World) layoutOf(key string) (layout, error) {
	for _, l := range w.layouts {
		if l.match.MatchString(key) {
			return l, nil
		}
	}
	return layout{}, fmt.Errorf("key %s: it matches no pattern of meta.Kinds", key)
}

// relative is the inverse of store.absolute.
func (w *World) relative(key string) string {
	if rest, ok := strings.CutPrefix(key, w.store.header.MetaPrefix()); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(key, w.store.header.Root+"/"); ok {
		return "/" + rest
	}
	return "//" + key
}

// target returns the keys that a word of an edit selects: kind:path, as in a reference, or a relative key or
// prefix.
func (w *World) target(text string) ([]string, error) {
	keys := []string{text}
	if kind, path, ok := strings.Cut(text, ":"); ok && !strings.Contains(kind, "/") {
		x, err := w.names.one(kind, path)
		if err != nil {
			return nil, err
		}
		if keys = x.keys; len(keys) == 0 {
			return nil, fmt.Errorf("%s is stored under no key of its own", text)
		}
	}
	var found []string
	for _, key := range keys {
		found = append(found, w.store.below(key)...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no such key (%s)", text, strings.Join(keys, ", "))
	}
	return found, nil
}

// deleteKeys implements "del TARGET".
func (w *World) deleteKeys(args []word) error {
	keys, err := w.target(args[0].text)
	for _, key := range keys {
		delete(w.store.keys, key)
	}
	return err
}

// putKey implements "put KEY TEXT". A prototext is in backquotes.
func (w *World) putKey(args []word) error {
	key, text := args[0].text, args[1].text
	l, err := w.layoutOf(key)
	if err != nil {
		return err
	}
	value := []byte(text)
	if l.Message != "" {
		if value, err = w.marshalText(l, text); err != nil {
			return err
		}
	}
	full := w.store.absolute(key)
	if old, ok := w.store.keys[full]; ok && bytes.Equal(old.Value, value) {
		return errNoChange
	}
	w.store.put(full, value)
	return nil
}

// putRaw implements "raw KEY VALUE": a key of an unknown kind.
func (w *World) putRaw(args []word) error {
	value, err := parseBytes(args[1].text)
	if err == nil {
		w.store.put(w.store.absolute(args[0].text), value)
	}
	return err
}

// errNoChange is the error for an edit that changes nothing, so its fault would be missing.
var errNoChange = errors.New("changes nothing")

// copyKeys implements "copy TARGET KEY [FIELD=VALUE...]": it copies one record to another key.
func (w *World) copyKeys(args []word) error {
	keys, err := w.target(args[0].text)
	if err != nil {
		return err
	}
	if len(keys) != 1 {
		return fmt.Errorf("%s is %d keys; copy one", args[0].text, len(keys))
	}
	to := args[1].text
	if _, ok := w.store.keys[w.store.absolute(to)]; ok {
		return fmt.Errorf("key %s exists", to)
	}
	w.store.put(w.store.absolute(to), w.store.keys[keys[0]].Value)
	if len(args) == 2 {
		return nil
	}
	return w.edit([]string{w.store.absolute(to)}, args[2:])
}

// rewrite implements "rewrite TARGET N": it writes each of the keys N more times, in turn, with the same
// value.
func (w *World) rewrite(args []word) error {
	keys, err := w.target(args[0].text)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1].text)
	for range n {
		for _, key := range keys {
			w.store.put(key, w.store.keys[key].Value)
		}
	}
	return err
}

// setFields implements "set TARGET FIELD=VALUE...".
func (w *World) setFields(args []word) error {
	keys, err := w.target(args[0].text)
	if err != nil {
		return err
	}
	return w.edit(keys, args[1:])
}

func (w *World) edit(keys []string, changes []word) error {
	for _, key := range keys {
		kv := w.store.keys[key]
		value, err := w.edited(kv, changes)
		if err != nil {
			return fmt.Errorf("%s: %w", w.relative(key), err)
		}
		if bytes.Equal(value, kv.Value) {
			return fmt.Errorf("%s: %w", w.relative(key), errNoChange)
		}
		w.store.put(key, value)
	}
	return nil
}

// edited returns a value with changes applied, in the same encoding.
func (w *World) edited(kv source.KV, changes []word) ([]byte, error) {
	l, err := w.layoutOf(w.relative(string(kv.Key)))
	if err != nil {
		return nil, err
	}
	if l.Message == "" && l.Value != "json" {
		return nil, fmt.Errorf("a value of %s has no fields: use put", l.Value)
	}
	value := kv.Value
	if l.Message == "" {
		for _, x := range changes {
			c, err := parseChange(x.text)
			if err != nil {
				return nil, err
			}
			if value, err = c.inJSON(value, w.now); err != nil {
				return nil, err
			}
		}
		return value, nil
	}
	m, err := w.unmarshal(l, value)
	if err != nil {
		return nil, err
	}
	if err := w.change(m, changes); err != nil {
		return nil, err
	}
	return w.marshal(l, m)
}

// change applies changes to a message.
func (w *World) change(m proto.Message, changes []word) error {
	for _, x := range changes {
		c, err := parseChange(x.text)
		if err != nil {
			return err
		}
		if err := c.apply(m.ProtoReflect(), w.now); err != nil {
			return fmt.Errorf("%s: %w", x.text, err)
		}
	}
	return nil
}

func (w *World) unmarshal(l layout, value []byte) (proto.Message, error) {
	m, err := newMessage(l.Message)
	if err != nil {
		return nil, err
	}
	if l.Value == "zstd protobuf" {
		d, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if value, err = d.DecodeAll(value, nil); err != nil {
			return nil, err
		}
	}
	return m, proto.Unmarshal(value, m)
}

func (w *World) marshal(l layout, m proto.Message) ([]byte, error) {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || l.Value != "zstd protobuf" {
		return value, err
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.EncodeAll(value, nil), nil
}

func (w *World) marshalText(l layout, text string) ([]byte, error) {
	m, err := newMessage(l.Message)
	if err != nil {
		return nil, err
	}
	if err := fill(m, text, w.now); err != nil {
		return nil, err
	}
	return w.marshal(l, m)
}

// version implements "version TEXT": every process reports that version.
func (w *World) version(args []word) error {
	for _, key := range w.store.below("session/") {
		if l, err := w.layoutOf(w.relative(key)); err != nil || l.Value != "json" {
			continue
		}
		if err := w.edit([]string{key}, []word{{text: `Version="` + args[0].text + `"`}}); err != nil {
			return err
		}
	}
	for i := range w.records {
		r := &w.records[i]
		if methodOf(r) != "GetMetrics" || r.Error != "" {
			continue
		}
		err := rewriteOptional(r, func(m proto.Message) error {
			x := m.(*milvuspb.GetMetricsResponse)
			x.Response = builtVersion.ReplaceAllString(x.GetResponse(), `"build_version":"v`+args[0].text+`"`)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var builtVersion = regexp.MustCompile(`"build_version":"[^"]*"`)

// hide implements "unreadable KEY-OR-PREFIX": the account has no permission to read it.
func (w *World) hide(args []word) error {
	keys := w.store.below(args[0].text)
	if len(keys) == 0 {
		return fmt.Errorf("%s: no such key", args[0].text)
	}
	full := w.store.absolute(args[0].text)
	w.store.gaps = append(w.store.gaps, source.Gap{Where: full, Reason: "permission denied", Keys: source.Prefix(full)})
	return nil
}
