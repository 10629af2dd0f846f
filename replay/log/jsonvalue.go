package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"kitescope/engine"
)

// members calls back for each key of a JSON object and the text of its value, which need not be valid JSON itself: only
// its end is found here. encoding/json would make an interface of each number of a vector.
func members(line []byte, f func(key, value []byte) error) error {
	c := cursor{b: line}
	if !c.take('{') {
		return errors.New("expected an object {...}")
	}
	if c.take('}') {
		return c.end()
	}
	for {
		c.space()
		quoted, err := c.skip()
		if err != nil || len(quoted) < 2 || quoted[0] != '"' {
			return fmt.Errorf("byte %d: expected a key in quotes", c.at)
		}
		key := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			plain, err := text(quoted)
			if err != nil {
				return fmt.Errorf("byte %d: expected a key", c.at)
			}
			key = []byte(plain)
		}
		if !c.take(':') {
			return fmt.Errorf("byte %d: expected a colon", c.at)
		}
		c.space()
		value, err := c.skip()
		if err != nil {
			return err
		}
		if err := f(key, value); err != nil {
			return err
		}
		switch {
		case c.take('}'):
			return c.end()
		case !c.take(','):
			return fmt.Errorf("byte %d: expected a comma or the end of the object", c.at)
		}
	}
}

// cursor goes over the text of one line.
type cursor struct {
	b  []byte
	at int
}

func (c *cursor) space() {
	for c.at < len(c.b) && (c.b[c.at] == ' ' || c.b[c.at] == '\t' || c.b[c.at] == '\r' || c.b[c.at] == '\n') {
		c.at++
	}
}

// take passes over blanks and one character, if it is that.
func (c *cursor) take(what byte) bool {
	c.space()
	if c.at < len(c.b) && c.b[c.at] == what {
		c.at++
		return true
	}
	return false
}

func (c *cursor) end() error {
	if c.space(); c.at < len(c.b) {
		return fmt.Errorf("byte %d: expected the end of the line", c.at)
	}
	return nil
}

// skip passes over one value and returns its text.
func (c *cursor) skip() ([]byte, error) {
	start, depth := c.at, 0
	for c.at < len(c.b) {
		switch ch := c.b[c.at]; ch {
		case '"':
			if !c.string() {
				return nil, fmt.Errorf("byte %d: text without an end", start)
			}
			if depth == 0 {
				return c.b[start:c.at], nil
			}
			continue
		case '[', '{':
			depth++
			// A list of numbers is passed over in one step. What is looked at ends with the next mark of any kind: lists
			// within lists would be looked at again for each that is open.
			if ch == '[' {
				if n := bytes.IndexAny(c.b[c.at+1:], `]"[{`); n > 0 && c.b[c.at+1+n] == ']' {
					c.at += n
				}
			}
		case ']', '}':
			if depth--; depth < 0 {
				return c.scalar(start)
			}
			if depth == 0 {
				c.at++
				return c.b[start:c.at], nil
			}
		case ',', ' ', ':', '\t', '\r':
			if depth == 0 {
				return c.scalar(start)
			}
		}
		c.at++
	}
	if depth > 0 {
		return nil, fmt.Errorf("byte %d: a list or an object without an end", start)
	}
	return c.scalar(start)
}

func (c *cursor) scalar(start int) ([]byte, error) {
	if c.at == start {
		return nil, fmt.Errorf("byte %d: expected a value", start)
	}
	return c.b[start:c.at], nil
}

// string passes over text in quotes.
func (c *cursor) string() bool {
	for c.at++; c.at < len(c.b); c.at++ {
		switch c.b[c.at] {
		case '\\':
			c.at++
		case '"':
			c.at++
			return true
		}
	}
	return false
}

// elements calls back for the text of each element of a list.
func elements(list []byte, f func(i int, value []byte) error) error {
	c := cursor{b: list}
	if !c.take('[') {
		return fmt.Errorf("expected a list, found %s", shown(list))
	}
	if c.take(']') {
		return c.end()
	}
	for i := 0; ; i++ {
		c.space()
		value, err := c.skip()
		if err != nil {
			return err
		}
		if err := f(i, value); err != nil {
			return err
		}
		switch {
		case c.take(']'):
			return c.end()
		case !c.take(','):
			return errors.New("expected a comma or the end of the list")
		}
	}
}

// number is a float32, the nearest to what is written. Python writes NaN, Infinity and -Infinity.
func number(text []byte) (float32, error) {
	switch string(text) {
	case "NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "null":
		return 0, errNonFinite
	}
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return 0, fmt.Errorf("expected a number, found %s", shown(text))
	}
	for _, ch := range text {
		if (ch < '0' || ch > '9') && ch != '.' && ch != '-' && ch != '+' && ch != 'e' && ch != 'E' {
			return 0, fmt.Errorf("expected a number, found %s", shown(text))
		}
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
