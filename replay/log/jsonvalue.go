package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"kitescope/engine"
)

// members calls back for each key of a JSON object and the text of its value, in the order of the keys.
func members(line []byte, f func(key string, value []byte) error) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return plainJSON(err, line)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := f(key, object[key]); err != nil {
			return err
		}
	}
	return nil
}

// plainJSON is an error of encoding/json, with its place. Python writes NaN, Infinity and -Infinity, which are no JSON.
func plainJSON(err error, text []byte) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if at := int(syntax.Offset) - 1; at >= 0 && at < len(text) && (text[at] == 'N' || text[at] == 'I') {
			return errNonFinite
		}
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return errors.New("expected an object {...}")
}

// elements calls back for the text of each element of a list that encoding/json has found whole.
func elements(list []byte, f func(i int, value []byte) error) error {
	if len(list) == 0 || list[0] != '[' {
		return fmt.Errorf("expected a list, found %s", shown(list))
	}
	inner := bytes.TrimSpace(list[1 : len(list)-1])
	if len(inner) == 0 {
		return nil
	}
	if bytes.ContainsAny(inner, `"[{`) {
		var values []json.RawMessage
		if err := json.Unmarshal(list, &values); err != nil {
			return plainJSON(err, list)
		}
		for i, value := range values {
			if err := f(i, value); err != nil {
				return err
			}
		}
		return nil
	}
	i := 0
	for value := range bytes.SplitSeq(inner, []byte{','}) { // numbers: encoding/json would copy each
		if err := f(i, bytes.TrimSpace(value)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// number is a float32, the nearest to what is written.
func number(text []byte) (float32, error) {
	if string(text) == "null" { // which pandas writes for NaN
		return 0, errNonFinite
	}
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return 0, fmt.Errorf("expected a number, found %s", shown(text))
	}
	x, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 32)
	if err != nil && math.IsInf(x, 0) {
		return 0, errNonFinite
	}
	if err != nil {
		return 0, fmt.Errorf("expected a number, found %s", shown(text))
	}
	return float32(x), nil
}

// whole is a whole number from 0 on.
func whole(text []byte) (int, error) {
	n, err := strconv.ParseInt(string(bytes.Trim(text, `"`)), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("expected a whole number from 0 to %d, found %s", math.MaxInt32, shown(text))
	}
	return int(n), nil
}

// text is a string.
func text(value []byte) (s string, err error) {
	if err := json.Unmarshal(value, &s); err != nil || len(value) == 0 || value[0] != '"' {
		return "", fmt.Errorf("expected text in quotes, found %s", shown(value))
	}
	return s, nil
}

// boolean is true or false.
func boolean(value []byte) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false", "null":
		return false, nil
	}
	return false, fmt.Errorf("expected true or false, found %s", shown(value))
}

// keys is a list of primary keys.
func keys(list []byte) ([]engine.Key, error) {
	out := make([]engine.Key, 0, min(bytes.Count(list, []byte{','})+1, len(list), 1<<12)) // commas need not have keys between them
	err := elements(list, func(i int, value []byte) error {
		if value[0] == '"' {
			s, err := text(value)
			out = append(out, engine.TextKey(s))
			return err
		}
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return fmt.Errorf("id %d: expected a whole number or text, found %s", i, shown(value))
		}
		out = append(out, engine.NumberKey(n))
		return nil
	})
	return out, err
}

// shown is the start of a value, for a message.
func shown(value []byte) string {
	if len(value) > 40 {
		return fmt.Sprintf("%q...", value[:40])
	}
	return fmt.Sprintf("%q", value)
}
