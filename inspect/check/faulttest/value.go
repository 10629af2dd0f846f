package faulttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// moment matches a time relative to the judge's clock: now, now-30m, seconds(now-30m). Without a unit it is a
// Milvus timestamp.
var moment = regexp.MustCompile(`^(?:(tso|seconds|millis|nanos|rfc3339)\()?now([+-][0-9a-z.]+)?\)?$`)

// parseTime parses a time and returns it in its unit. ok is false if the text is not a time. max is the
// timestamp of dropped vchannels.
func parseTime(text string, now time.Time) (written string, ok bool, err error) {
	if text == "max" {
		return strconv.FormatUint(math.MaxUint64, 10), true, nil
	}
	m := moment.FindStringSubmatch(text)
	if m == nil {
		return "", false, nil
	}
	if m[2] != "" {
		d, err := time.ParseDuration(m[2])
		if err != nil {
			return "", true, err
		}
		now = now.Add(d)
	}
	switch m[1] {
	case "seconds":
		return strconv.FormatInt(now.Unix(), 10), true, nil
	case "millis":
		return strconv.FormatInt(now.UnixMilli(), 10), true, nil
	case "nanos":
		return strconv.FormatInt(now.UnixNano(), 10), true, nil
	case "rfc3339":
		return now.UTC().Format(time.RFC3339), true, nil
	}
	return strconv.FormatUint(uint64(model.TSOFromTime(now)), 10), true, nil
}

// moments matches the times inside a prototext.
var moments = regexp.MustCompile(`\b(?:(?:tso|seconds|millis|nanos|rfc3339)\(now[^)\s]*\)|now(?:[+-][0-9a-z.]+)?\b)`)

func replaceTimes(text string, now time.Time) (out string, err error) {
	out = moments.ReplaceAllStringFunc(text, func(m string) string {
		at, _, problem := parseTime(m, now)
		if problem != nil && err == nil {
			err = problem
		}
		return at
	})
	return out, err
}

// inJSON edits a JSON document: a session, or a response of GetMetrics.
func (c change) inJSON(text []byte, now time.Time) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	next, err := c.inValue(document, now)
	if err != nil {
		return nil, err
	}
	return json.Marshal(next)
}

// inValue returns a JSON value with the change applied.
func (c change) inValue(v any, now time.Time) (any, error) {
	if len(c.path) == 0 {
		return c.literal(now)
	}
	s, rest := c.path[0], change{c.path[1:], c.op, c.value}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not inside a JSON object", s.name)
	}
	if s.selector != "" {
		list, err := rest.inArray(fields[s.name], s.selector, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		fields[s.name] = list
		return fields, nil
	}
	if len(rest.path) == 0 && c.op == '-' {
		if _, ok := fields[s.name]; !ok {
			return nil, fmt.Errorf("%s is not set", s.name)
		}
		delete(fields, s.name)
		return fields, nil
	}
	inner := fields[s.name]
	if inner == nil && len(rest.path) > 0 {
		inner = map[string]any{}
	}
	next, err := rest.inValue(inner, now)
	if err != nil {
		return nil, err
	}
	fields[s.name] = next
	return fields, nil
}

// inArray edits or removes the elements of a JSON array that a selector matches: field=value, a number or *.
func (c change) inArray(v any, selector string, now time.Time) ([]any, error) {
	list, _ := v.([]any)
	hit := func(i int, x any) bool {
		name, want, keyed := strings.Cut(selector, "=")
		if !keyed {
			return selector == "*" || selector == strconv.Itoa(i)
		}
		fields, _ := x.(map[string]any)
		return fields != nil && fmt.Sprint(fields[name]) == want
	}
	var out []any
	hits := 0
	for i, x := range list {
		if !hit(i, x) {
			out = append(out, x)
			continue
		}
		hits++
		if c.op == '-' && len(c.path) == 0 {
			continue
		}
		next, err := c.inValue(x, now)
		if err != nil {
			return nil, err
		}
		out = append(out, next)
	}
	if hits == 0 {
		return nil, fmt.Errorf("no element [%s] among its %d", selector, len(list))
	}
	return slices.Clip(out), nil
}

func (c change) literal(now time.Time) (any, error) {
	if c.op == '+' {
		return nil, errors.New("nothing can be added to a JSON value")
	}
	if at, ok, err := parseTime(c.value, now); ok {
		if strings.HasPrefix(c.value, "rfc3339") {
			return at, err
		}
		return json.Number(at), err
	}
	d := json.NewDecoder(strings.NewReader(c.value))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil && !d.More() {
		return v, nil
	}
	return c.value, nil
}
