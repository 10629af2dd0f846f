package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// File is a kind of document that is written into files, and read again. All digits of its numbers are in it: what was read is written again
// byte by byte.
type File struct {
	// What it is, for errors: "a replay's result".
	What string
	// APIVersion, Kind and Version are what it begins with; a file of a later version is refused.
	APIVersion, Kind string
	Version          int
	// Limit bounds what is read of a file, in bytes.
	Limit int64
	// Open is the depth to which it is spread over lines, as in JSON.
	Open int
	// Tag is the name of tags that come before "doc", for types that other files have under other keys.
	Tag string
	// Lenient files may lack any key; else those that are always written have to be there.
	Lenient bool
}

type head struct {
	APIVersion string `doc:"apiVersion"`
	Kind       string
	Version    int
	Rest       any `doc:",inline"`
}

// Tell tells an Encoder a file's document, a pointer to a struct.
func (x *File) Tell(e *Encoder, v any) {
	e.saved, e.tag = true, x.Tag
	e.Value(&head{x.APIVersion, x.Kind, x.Version, v})
}

// Write writes a file's document, a pointer to a struct, as JSON.
func (x *File) Write(w io.Writer, v any) error {
	e := JSON(w, x.Open)
	x.Tell(e, v)
	return e.Flush()
}

// Read reads what Write wrote into v, a pointer to a struct, and returns the file's version; keys that it does not know are ignored. Errors say what is wrong with the file, and
// where: it is something else, of a later version, damaged.
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
	if !into(keys["apiVersion"], &api) || !into(keys["kind"], &kind) || api != x.APIVersion || kind != x.Kind {
		return 0, fmt.Errorf("apiVersion %q and kind %q were expected, %q and %q found", x.APIVersion, x.Kind, api, kind)
	}
	var begun struct{ Version int }
	if err := (&reader{tag: x.Tag}).readKeys(keys, reflect.ValueOf(&begun).Elem(), ""); err != nil {
		return 0, err
	}
	switch version = begun.Version; {
	case version > x.Version:
		return 0, fmt.Errorf("it is of version %d, and version %d is the last that this kitescope knows", version, x.Version)
	case version < 1:
		return 0, fmt.Errorf("version: 1 was expected, %d found", version)
	}
	return version, r.readKeys(keys, reflect.ValueOf(v).Elem(), "")
}

// notJSON says of what json has to say that matters here.
func notJSON(err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("expected JSON: at byte %d %w", syntax.Offset, err)
	}
	return errors.New("a JSON object was expected")
}
