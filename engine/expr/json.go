package expr

import (
	"encoding/json"
	"strconv"
	"strings"
)

// jsonAt returns the raw text of the value at a path in a JSON text. Keys are compared as written in the text,
// and an index is an integer without leading zeros, as in at_pointer of simdjson, which segcore uses. If doc is
// not valid JSON, ok is false.
func jsonAt(doc string, path []string) (raw string, ok bool) {
	at := jsonSpace(doc, 0)
	for _, key := range path {
		if at >= len(doc) {
			return "", false
		}
		switch doc[at] {
		case '{':
			at, ok = jsonMember(doc, at+1, key)
		case '[':
			at, ok = jsonElement(doc, at+1, key)
		default:
			ok = false
		}
		if !ok {
			return "", false
		}
	}
	stop := jsonSkip(doc, at)
	if stop <= at {
		return "", false
	}
	return doc[at:stop], true
}

func jsonSpace(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\n' || s[at] == '\t' || s[at] == '\r') {
		at++
	}
	return at
}

// jsonMember returns the start of the value of a key in an object whose first member is at s[at].
func jsonMember(s string, at int, key string) (int, bool) {
	for {
		at = jsonSpace(s, at)
		if at >= len(s) || s[at] != '"' {
			return 0, false
		}
		stop := jsonSkip(s, at)
		colon := jsonSpace(s, stop)
		if stop <= at || colon >= len(s) || s[colon] != ':' {
			return 0, false
		}
		value := jsonSpace(s, colon+1)
		if s[at+1:stop-1] == key {
			return value, true
		}
		var more bool
		if at, more = jsonNext(s, value); !more {
			return 0, false
		}
	}
}

// jsonElement returns the start of an element of an array whose first element is at s[at].
func jsonElement(s string, at int, key string) (int, bool) {
	n, err := strconv.ParseUint(key, 10, 31)
	if err != nil || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	at = jsonSpace(s, at)
	if at < len(s) && s[at] == ']' {
		return 0, false
	}
	for ; n > 0; n-- {
		var more bool
		if at, more = jsonNext(s, at); !more {
			return 0, false
		}
		at = jsonSpace(s, at)
	}
	return at, at < len(s)
}

// jsonNext returns the position after the comma that follows the value at s[at].
func jsonNext(s string, at int) (int, bool) {
	stop := jsonSkip(s, at)
	comma := jsonSpace(s, stop)
	if stop <= at || comma >= len(s) || s[comma] != ',' {
		return 0, false
	}
	return comma + 1, true
}

// jsonSkip returns the end of the value at s[at], or at if there is no value.
func jsonSkip(s string, at int) int {
	if at >= len(s) {
		return at
	}
	switch s[at] {
	case '"':
		for i := at + 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return at
	case '{', '[':
		depth := 0
		for i := at; i < len(s); i++ {
			switch s[i] {
			case '"':
				stop := jsonSkip(s, i)
				if stop <= i {
					return at
				}
				i = stop - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return at
	}
	i := at
	for i < len(s) && strings.IndexByte(" \t\r\n,:]}", s[i]) < 0 {
		i++
	}
	return i
}

// jsonValue parses a raw value. Objects and null have NoValue; a list has its kind but no elements.
func jsonValue(raw string) Value {
	switch raw[0] {
	case '"':
		return Value{Kind: Text, Text: jsonText(raw)}
	case '[':
		return Value{Kind: List}
	case '{', 'n':
		return Value{}
	case 't':
		if raw == "true" {
			return boolValue(true)
		}
		return Value{}
	case 'f':
		if raw == "false" {
			return boolValue(false)
		}
		return Value{}
	}
	if i, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return intValue(i)
	}
	if f, err := strconv.ParseFloat(raw, 64); err == nil {
		return floatValue(f)
	}
	return Value{}
}

// jsonText returns the content of a quoted text.
func jsonText(raw string) string {
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		return inner
	}
	return s
}

// jsonList calls f for the raw text of each element of an array until f returns false. It reports whether raw
// is an array.
func jsonList(raw string, f func(raw string) bool) bool {
	if raw == "" || raw[0] != '[' {
		return false
	}
	at := jsonSpace(raw, 1)
	if at < len(raw) && raw[at] == ']' {
		return true
	}
	for at < len(raw) {
		stop := jsonSkip(raw, at)
		if stop <= at || !f(raw[at:stop]) {
			return true
		}
		at = jsonSpace(raw, stop)
		if at >= len(raw) || raw[at] != ',' {
			return true
		}
		at = jsonSpace(raw, at+1)
	}
	return true
}

// jsonLength returns the number of elements of an array, or 0 if raw is not an array.
func jsonLength(raw string) (n int64) {
	jsonList(raw, func(string) bool { n++; return true })
	return n
}

// jsonEmpty reports whether a value is empty: null, or an object or array that has only empty values.
func jsonEmpty(raw string) bool {
	if raw == "null" {
		return true
	}
	if raw[0] != '{' && raw[0] != '[' {
		return false
	}
	// Any byte of a value other than null or a key makes it nonempty: a quote that does not open a key, a
	// digit, a boolean.
	for at := 0; at < len(raw); {
		switch raw[at] {
		case '{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n':
			at++
		case 'n':
			at += len("null")
		case '"':
			stop := jsonSkip(raw, at)
			colon := jsonSpace(raw, stop)
			if stop <= at || colon >= len(raw) || raw[colon] != ':' {
				return false
			}
			at = colon + 1
		default:
			return false
		}
	}
	return true
}
