package pgo

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"kitescope/profile"
)

// Fields of profile.proto (github.com/google/pprof proto/profile.proto).
const (
	rawType     = 1
	rawSample   = 2
	rawMapping  = 3
	rawLocation = 4
	rawFunction = 5
	rawString   = 6
)

// raw encodes a message from pairs of field number and value. A value is a number (int) or an encoded message or
// string ([]byte).
func raw(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		number := uint64(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = binary.AppendUvarint(binary.AppendUvarint(b, number<<3), uint64(v))
		case []byte:
			b = binary.AppendUvarint(binary.AppendUvarint(b, number<<3|2), uint64(len(v)))
			b = append(b, v...)
		}
	}
	return b
}

func strings8(words ...string) (fields []any) {
	for _, w := range words {
		fields = append(fields, rawString, []byte(w))
	}
	return fields
}

// TestOddProfilesMatchGo checks profiles that no library writes: EdgesOf refuses those that Go refuses,
// and otherwise returns the same calls as Go.
func TestOddProfilesMatchGo(t *testing.T) {
	types := []any{rawType, raw(1, 1, 2, 2)}
	names := strings8("", "samples", "count", "main.f", "main.g", "main.h")
	f, g, h := raw(1, 1, 2, 3, 5, 10), raw(1, 2, 2, 4, 5, 20), raw(1, 3, 2, 5, 5, 30)
	functions := []any{rawFunction, f, rawFunction, g, rawFunction, h}
	inF, inG := raw(1, 1, 4, raw(1, 1, 2, 12)), raw(1, 2, 4, raw(1, 2, 2, 23))
	locations := []any{rawLocation, inF, rawLocation, inG}
	sample := []any{rawSample, raw(1, 2, 1, 1, 2, 7)} // main.f calls main.g
	join := func(lists ...[]any) []byte {
		var all []any
		for _, l := range lists {
			all = append(all, l...)
		}
		return raw(all...)
	}
	for name, c := range map[string]struct {
		text []byte
		// stricter marks profiles that Go accepts and kitescope refuses.
		stricter bool
	}{
		"plain":       {text: join(types, sample, locations, functions, names)},
		"names first": {text: join(names, functions, locations, sample, types)},
		"inlined": {
			text: join(types, []any{rawSample, raw(1, 3, 1, 1, 2, 7)}, locations,
				[]any{rawLocation, raw(1, 3, 4, raw(1, 3, 2, 31), 4, raw(1, 2, 2, 22))}, functions, names),
		},
		"recursion": {
			text: join(types, []any{rawSample, raw(1, 1, 1, 1, 2, 7)}, locations, functions, names),
		},
		"three frames": {
			text: join(types, []any{rawSample, raw(1, 2, 1, 1, 1, 2, 2, 7)}, locations, functions, names),
		},
		"one frame": {
			text: join(types, []any{rawSample, raw(1, 2, 2, 7)}, locations, functions, names),
		},
		"no frame": {text: join(types, []any{rawSample, raw(2, 7)}, locations, functions, names)},
		"no lines": {
			text: join(types, []any{rawSample, raw(1, 3, 1, 1, 2, 7)}, locations,
				[]any{rawLocation, raw(1, 3, 3, 4096)}, functions, names),
		},
		"a value of 0": {
			text: join(types, sample, []any{rawSample, raw(1, 1, 1, 2, 2, 0)}, locations, functions, names),
		},
		"a value below 0": {
			text: join(types, sample, []any{rawSample, raw(1, 1, 1, 2, 2, -3)}, locations, functions, names),
		},
		"values that cancel": {
			text: join(types, sample, []any{rawSample, raw(1, 2, 1, 1, 2, -7)}, locations, functions, names),
		},
		"a start line below 0": {
			text: join(types, sample, locations, []any{rawFunction, raw(1, 1, 2, 3, 5, -10), rawFunction, g}, names),
		},
		"a line before its function": {
			text: join(types, sample, []any{rawLocation, raw(1, 1, 4, raw(1, 1, 2, 2)), rawLocation, inG}, functions,
				names),
		},
		"a function without a name": {
			text: join(types, sample, locations, []any{rawFunction, raw(1, 1, 5, 10), rawFunction, g}, names),
		},
		"two functions of one name": {
			text: join(types, sample, locations, []any{rawFunction, f, rawFunction, raw(1, 2, 2, 3, 5, 20)}, names),
		},
		"a function twice": {
			text: join(types, sample, locations, []any{rawFunction, f, rawFunction, f, rawFunction, g}, names),
		},
		"a location twice": {
			text: join(types, sample, locations, []any{rawLocation, inF}, functions, names),
		},
		"a function 0": {
			text: join(types, sample, locations, functions, []any{rawFunction, raw(2, 3)}, names),
		},
		// google/pprof refuses it too
		"a line without its function": {
			text: join(types, sample, []any{rawLocation, raw(1, 1, 4, raw(2, 12)), rawLocation, inG}, functions,
				names),
			stricter: true,
		},
		"a line of no function": {
			text: join(types, sample, []any{rawLocation, raw(1, 1, 4, raw(1, 9, 2, 12)), rawLocation, inG}, functions,
				names),
		},
		"a frame of no location": {
			text: join(types, []any{rawSample, raw(1, 2, 1, 9, 2, 7)}, locations, functions, names),
		},
		"a mapping that is not there": {
			text: join(types, sample, []any{rawLocation, raw(1, 1, 2, 5, 4, raw(1, 1, 2, 12)), rawLocation, inG},
				functions, names),
		},
		"two values of one type": {
			text: join(types, []any{rawSample, raw(1, 2, 1, 1, 2, 7, 2, 8)}, locations, functions, names),
		},
		"no type":   {text: join(sample, locations, functions, names)},
		"no sample": {text: join(types, locations, functions, names)},
		"a name that is not there": {
			text: join(types, sample, locations, []any{rawFunction, raw(1, 1, 2, 77, 5, 10), rawFunction, g}, names),
		},
		"a first name that is not \"\"": {
			text: join(types, sample, locations, functions,
				strings8("x", "samples", "count", "main.f", "main.g", "main.h")),
		},
		"nothing": {text: nil, stricter: true}, // Go accepts and ignores it; Refusals reports it
	} {
		file := filepath.Join(t.TempDir(), "x.pb")
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, refusal := preprofiled(t, file)
		var got string
		p, err := profile.Decode(t.Context(), bytes.NewReader(c.text), profile.Limits{})
		if err == nil {
			var e *Edges
			if e, err = EdgesOf(p); err == nil {
				got = serialized(e)
			}
		}
		if (err != nil) != (refusal != "" || c.stricter) {
			t.Errorf("%s: kitescope says %v, Go %q", name, err, refusal)
		}
		if err == nil && refusal == "" && got != string(want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
