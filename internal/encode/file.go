package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// File is a kind of document that is saved in files. Its numbers keep all digits, so that writing a document that
// was read reproduces it byte by byte.
type File struct {
	// What describes the document in errors, e.g. "a replay's result".
	What string
	// APIVersion, Kind and Version are the head of the document. Read returns an error if a file has a later
	// version.
	APIVersion, Kind string
	Version          int
	// Limit is the maximum size of a file to read, in bytes.
	Limit int64
	// Open is the depth up to which elements have their own lines, as in JSON.
	Open int
	// Tag is the name of struct tags that take precedence over "doc", for types that have different keys in other
	// files.
	Tag string
	// Lenient files can lack any key. Otherwise, keys that are always written must exist.
	Lenient bool
}

type head struct {
	APIVersion string `doc:"apiVersion"`
	Kind       string
	Version    int
	Rest       any `doc:",inline"`
}

// Encode encodes a document to e. v must be a pointer to a struct.
func (x *File) Encode(e *Encoder, v any) {
	e.saved, e.tag = true, x.Tag
	e.Value(&head{x.APIVersion, x.Kind, x.Version, v})
}

// Write writes a document as JSON. v must be a pointer to a struct.
func (x *File) Write(w io.Writer, v any) error {
	e := JSON(w, x.Open)
	x.Encode(e, v)
	return e.Flush()
}

// Read reads a document that Write wrote into v, a pointer to a struct, and returns its version. It ignores
// unknown keys. It returns an error that locates the problem if the file has another kind or a later version, or
// if it is damaged.
func (x *File) Read(from io.Reader, v any) (version int, err error) {
	data, err := io.ReadAll(io.LimitReader(from, x.Limit+1))
	if err == nil && int64(len(data)) > x.Limit {
		err = fmt.Errorf("it is larger than %d MiB", x.Limit>>20)
	}
	if err == nil {
		version, err = x.read(data, v)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", x.What, err)
	}
	return version, nil
}

func (x *File) read(data []byte, v any) (version int, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return 0, notJSON(err)
	}
	r := reader{tag: x.Tag, lenient: x.Lenient}
	var api, kind string
	if !unmarshal(keys["apiVersion"], &api) || !unmarshal(keys["kind"], &kind) || api != x.APIVersion ||
		kind != x.Kind {
		return 0, fmt.Errorf("expected apiVersion %q and kind %q, found %q and %q", x.APIVersion, x.Kind, api, kind)
	}
	var begun struct{ Version int }
	if err := (&reader{tag: x.Tag}).readKeys(keys, reflect.ValueOf(&begun).Elem(), ""); err != nil {
		return 0, err
	}
	switch version = begun.Version; {
	case version > x.Version:
		return 0, fmt.Errorf("version %d is not supported, this kitescope reads up to %d", version, x.Version)
	case version < 1:
		return 0, fmt.Errorf("version: expected 1, found %d", version)
	}
	return version, r.readKeys(keys, reflect.ValueOf(v).Elem(), "")
}

// notJSON returns an error for files that are not JSON objects. It includes the position of syntax errors.
func notJSON(err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("expected JSON: at byte %d %w", syntax.Offset, err)
	}
	return errors.New("expected a JSON object")
}
