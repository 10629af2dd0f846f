package live

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

var (
	errNoSample = errors.New("is not a sample")
	errCut      = errors.New("has labels without an end")
	errTooMany  = fmt.Errorf("there are more than %d series", maxMetricsSeries)
	errLabels   = fmt.Errorf("has more than %d labels", maxMetricsLabels)
)

// isNameByte reports for each byte whether it may be in a metric name.
var isNameByte = func() (is [256]bool) {
	for c := range is {
		is[c] = plainName(string(rune(c)))
	}
	return is
}()

// nameEnd returns the end of the name at the start of a line.
func nameEnd(line []byte) (end int) {
	for end < len(line) && isNameByte[line[end]] {
		end++
	}
	return end
}

// cutLabels splits the text between the braces, if there are any, from the rest of a sample.
func cutLabels(text []byte) (labels, rest []byte, err error) {
	text = bytes.TrimLeft(text, " \t")
	if len(text) == 0 || text[0] != '{' {
		return nil, text, nil
	}
	text = text[1:]
	for at := 0; at < len(text); {
		switch text[at] {
		case '}':
			return text[:at], text[at+1:], nil
		case '"':
			end := quoteEnd(text[at+1:])
			if end < 0 {
				return nil, nil, errCut
			}
			at += end + 2
		default:
			at++
		}
	}
	return nil, nil, errCut
}

// quoteEnd returns the index of the closing quote, or -1 if there is none.
func quoteEnd(text []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			return -1
		}
		slashes := 0
		for at+next-slashes > at && text[at+next-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at + next
		}
		at += next + 1
	}
}

// sampleValue parses the value of a sample. It checks and ignores a time after it.
func sampleValue(text []byte) (float64, error) {
	text = bytes.TrimLeft(text, " \t")
	var behind []byte
	if end := bytes.IndexAny(text, " \t"); end >= 0 {
		text, behind = text[:end], text[end:]
	}
	value, err := parseNumber(text)
	if err != nil {
		return 0, errors.New("has no number as its value")
	}
	if behind != nil {
		if _, err := strconv.ParseInt(string(bytes.TrimLeft(behind, " \t")), 10, 64); err != nil {
			return 0, errors.New("has no timestamp after its value")
		}
	}
	return value, nil
}

// parseNumber parses a number, without Go's own notations (0x1p4, 1_000).
func parseNumber(text []byte) (float64, error) {
	const exact = 15 // digits that a float64 holds
	if len(text) <= exact && len(text) > 0 {
		n := 0
		for i := 0; ; i++ {
			if i == len(text) {
				return float64(n), nil
			}
			if c := text[i] - '0'; c <= 9 {
				n = n*10 + int(c)
				continue
			}
			break
		}
	}
	if bytes.ContainsAny(text, "pP_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(string(text), 64)
}

// rawLabel is a label as in the text.
type rawLabel struct{ name, value string }

// parseLabels parses NAME="VALUE",... and appends to list.
func parseLabels(text []byte, list []rawLabel) ([]rawLabel, error) {
	for {
		text = bytes.TrimLeft(text, " \t")
		if len(text) == 0 {
			return list, nil
		}
		end := bytes.IndexByte(text, '=')
		if end < 0 {
			return list, errors.New("has a label without a value")
		}
		name := bytes.TrimRight(text[:end], " \t")
		text = bytes.TrimLeft(text[end+1:], " \t")
		if !plainLabel(name) || len(text) == 0 || text[0] != '"' {
			return list, errors.New("has an invalid label")
		}
		if end = quoteEnd(text[1:]); end < 0 {
			return list, errCut
		}
		value, err := unescape(text[1 : end+1])
		if err != nil {
			return list, err
		}
		l := rawLabel{string(name), value}
		if len(list) >= maxMetricsLabels {
			return list, errLabels
		}
		if slices.ContainsFunc(list, func(x rawLabel) bool { return x.name == l.name }) {
			return list, errors.New("has a label twice")
		}
		list = append(list, l)
		text = bytes.TrimLeft(text[end+2:], " \t")
		if len(text) > 0 && text[0] != ',' {
			return list, errors.New("has no comma between its labels")
		}
		text = bytes.TrimPrefix(text, []byte(","))
	}
}

// plainLabel reports whether a name is a valid label name and is not Prometheus's own.
func plainLabel(name []byte) bool {
	return plainName(string(name)) && (name[0] < '0' || name[0] > '9') && bytes.IndexByte(name, ':') < 0 &&
		string(name) != "__name__"
}

// unescape returns the value of a label without the format's escapes.
func unescape(text []byte) (string, error) {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text), nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch text[i] {
			case '\\', '"':
				c = text[i]
			case 'n':
				c = '\n'
			default:
				return "", fmt.Errorf("has the invalid escape \\%c", text[i])
			}
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// labelSet is a set of labels, shared by all series that have it.
type labelSet struct{ pairs []model.Pair }

// specialLabel is the label that identifies the part of a histogram or summary: le or quantile.
type specialLabel struct {
	text    []byte // as in the text, if plain
	number  float64
	present bool
	// plain is set if it is the last label and has no escapes.
	plain bool
}

// sampleLabels returns the set of a sample's labels, without the special label of its family.
func (p *scrape) sampleLabels(text []byte) (*labelSet, specialLabel, error) {
	name := ""
	switch p.current.kind { //nolint:exhaustive // the others have none
	case model.MetricHistogram:
		name = "le"
	case model.MetricSummary:
		name = "quantile"
	}
	rest, special := text, specialLabel{}
	if name != "" {
		var err error
		if rest, special, err = lastLabel(text, name); err != nil {
			return nil, special, err
		}
	}
	// If the special label is among the others, they cannot be looked up by their text.
	if set := p.d.metrics.sets[string(rest)]; set != nil &&
		(special.present || name == "" || !bytes.Contains(rest, []byte(name))) {
		return set, special, nil
	}
	labels, err := parseLabels(rest, p.labels[:0])
	if p.labels = labels; err != nil {
		return nil, special, err
	}
	for i, l := range labels {
		if name == "" || l.name != name {
			continue
		}
		if special.present {
			return nil, special, errors.New("has a label twice")
		}
		number, err := parseNumber([]byte(l.value))
		if err != nil {
			return nil, special, fmt.Errorf("has no number as its %s", name)
		}
		special = specialLabel{number: number, present: true}
		return p.set(slices.Delete(labels, i, i+1)), special, nil
	}
	return p.set(labels), special, nil
}

// lastLabel removes the last label if it has the name and the format of the client libraries.
func lastLabel(text []byte, name string) (rest []byte, special specialLabel, err error) {
	if len(text) == 0 || text[len(text)-1] != '"' {
		return text, special, nil
	}
	quote := bytes.LastIndexByte(text[:len(text)-1], '"')
	before, is := bytes.CutSuffix(text[:max(quote, 0)], []byte(name+"="))
	value := text[quote+1 : len(text)-1]
	if !is || bytes.IndexByte(value, '\\') >= 0 || len(before) > 0 && before[len(before)-1] != ',' {
		return text, special, nil
	}
	number, err := parseNumber(value)
	if err != nil {
		return text, special, fmt.Errorf("has no number as its %s", name)
	}
	return bytes.TrimSuffix(before, []byte(",")), specialLabel{text: value, number: number, present: true, plain: true},
		nil
}
