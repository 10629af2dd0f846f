package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kitescope/internal/hints"
)

// maxJSON is the maximum size of a file with one JSON value, in bytes. Decoding takes many times its size in memory.
const maxJSON = 16 << 20

// peekJSON decodes the keys that identify a format.
func (d *doc) peekJSON() {
	text := bytes.TrimLeft(d.data, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		d.object, d.jsonErr = pick(json.NewDecoder(bytes.NewReader(text)), "results", "run_id", "test-run-id",
			"test-execution-id", "race-id",
			"workload", "track", "test_procedure", "challenge", "workload-params", "track-params")
	case bytes.HasPrefix(text, []byte("[")):
		dec := json.NewDecoder(bytes.NewReader(text))
		if _, d.jsonErr = dec.Token(); d.jsonErr != nil || !dec.More() {
			return
		}
		if first, err := pick(dec, "benchmark", "mode", "primaryMetric"); err == nil {
			d.element = first
		}
	}
}

// pick returns the given keys of an object. It skips all others, however many there are.
func pick(dec *json.Decoder, keys ...string) (map[string]json.RawMessage, error) {
	if start, err := dec.Token(); err != nil {
		return nil, err
	} else if start != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	picked := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		for _, k := range keys {
			if key == k {
				picked[k] = value
			}
		}
	}
	_, err := dec.Token()
	return picked, err
}

// pickFrom returns the given keys of raw, or nil if raw is not an object.
func pickFrom(raw json.RawMessage, keys ...string) map[string]json.RawMessage {
	picked, err := pick(json.NewDecoder(bytes.NewReader(raw)), keys...)
	if err != nil {
		return nil
	}
	return picked
}

// isJSON reports whether the file is a JSON object or an array of objects, or begins like JSON but is invalid.
func (d *doc) isJSON() bool { return d.object != nil || d.element != nil || d.jsonErr != nil }

// has reports whether a JSON object has all of the given keys.
func has(object map[string]json.RawMessage, keys ...string) bool {
	for _, k := range keys {
		if _, ok := object[k]; !ok {
			return false
		}
	}
	return true
}

// decode decodes the whole file as JSON.
func (d *doc) decode(into any) error {
	if len(d.data) > maxJSON {
		return hints.Errorf("is it a result? a log of every request is not one", "JSON of more than %d MiB",
			maxJSON>>20)
	}
	err := json.Unmarshal(d.data, into)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return hints.Errorf("the file is damaged or not complete", "JSON, near byte %d: %w", syntax.Offset, err)
	}
	if err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	return nil
}
