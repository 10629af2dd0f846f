package whatif

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/hints"
)

// word is one element of a change on the command line.
type word struct {
	name  string
	value string // placeholder of the value after "="; "" takes no value
	doc   string
	set   func(c *Change, value string) error
}

// knownWords returns all words in the order in which they are applied and shown in help.
func knownWords() []word {
	return []word{
		{
			"index", "", "seal growing segments and build the collection's index on every segment",
			func(c *Change, _ string) error { c.Index = true; return nil },
		},
		{
			"type", strings.Join(knownTypes(), "|"), "the index's type",
			func(c *Change, v string) error { return setType(&c.Type, v) },
		},
		{"m", "N", "HNSW's links per row", func(c *Change, v string) error { return setInt(&c.M, v, 2, 512) }},
		{
			"efconstruction", "N", "HNSW's ef while building",
			func(c *Change, v string) error { return setInt(&c.EFConstruction, v, 1, 32768) },
		},
		{"scale", "X", "rows times X", func(c *Change, v string) error { return setFloat(&c.Scale, v, 1e-6, 1e6) }},
		{
			"segment-rows", "N", "sealed segments of N rows each: 500000, 500k, 1M",
			func(c *Change, v string) error { return setRows(&c.SegmentRows, v) },
		},
		{
			"nodes", "+N", "N more query nodes, empty until segments move there",
			func(c *Change, v string) error { return setNodes(&c.Nodes, v) },
		},
		{
			"replicas", "N", "N copies of the collection in memory",
			func(c *Change, v string) error { return setInt(&c.Replicas, v, 1, 1000) },
		},
		{
			"balance", "", "spread rows evenly over the nodes of each replica",
			func(c *Change, _ string) error { c.Balanced = true; return nil },
		},
		{
			"cores", "N", "cores of each query node",
			func(c *Change, v string) error { return setFloat(&c.Cores, v, 0.1, 4096) },
		},
		{"ef", "N", "ef of searches over HNSW", func(c *Change, v string) error { return setInt(&c.EF, v, 1, 32768) }},
	}
}

// Words returns the words that ParseChange accepts, and their descriptions, for help and completion.
func Words() (names, docs []string) {
	for _, w := range knownWords() {
		name := w.name
		if w.value != "" {
			name += "=" + w.value
		}
		names, docs = append(names, name), append(docs, w.doc)
	}
	return names, docs
}

// ParseChange parses a change on the command line: words separated by commas, e.g. "index,nodes=+2,balance". The
// error names the invalid word and suggests a similar one.
func ParseChange(text string) (Change, error) {
	c := Change{Name: strings.TrimSpace(text)}
	if c.Name == "" {
		return Change{}, errors.New("an empty change: expected words such as index, balance, nodes=+2, ef=32")
	}
	known, seen := knownWords(), map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(part), "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		i := slices.IndexFunc(known, func(w word) bool { return w.name == name })
		if name == "" {
			return Change{}, fmt.Errorf("change %q: a word is missing next to a comma", text)
		}
		if i < 0 {
			return Change{}, unknownWord(text, name, known)
		}
		w := known[i]
		switch {
		case seen[name]:
			return Change{}, fmt.Errorf("change %q: %s given twice", text, name)
		case name == "index" && slices.Contains(knownTypes(), strings.ToUpper(value)):
			return Change{},
				fmt.Errorf("change %q: index takes no value; did you mean type=%s,index", text, strings.ToUpper(value))
		case w.value == "" && has:
			return Change{}, fmt.Errorf("change %q: %s takes no value", text, name)
		case w.value != "" && value == "":
			return Change{}, fmt.Errorf("change %q: %s needs a value: %s=%s", text, name, name, w.value)
		}
		seen[name] = true
		if err := w.set(&c, value); err != nil {
			return Change{}, fmt.Errorf("change %q: %s=%s: %w", text, name, value, err)
		}
	}
	if err := c.check(); err != nil {
		return Change{}, fmt.Errorf("change %q: %w", text, err)
	}
	return c, nil
}

// removedWords holds words of earlier releases and the alternative to each.
var removedWords = map[string]string{
	"cpu-ratio":  "the model gives nodes cores, not scheduler settings: cores=N",
	"read-ratio": "the model gives nodes cores, not scheduler settings: cores=N",
	"grouping":   "the model does not merge requests; measure it with replay sweep --target",
}

func unknownWord(text, name string, known []word) error {
	if instead := removedWords[name]; instead != "" {
		return fmt.Errorf("change %q: %s was removed: %s", text, name, instead)
	}
	var names []string
	for _, w := range known {
		names = append(names, w.name)
	}
	return fmt.Errorf("change %q: %w", text, &hints.UnknownError{What: "word", Word: name, Known: names})
}

// check returns an error if parts of a change exclude each other.
func (c *Change) check() error {
	if c.Type != "" && c.Type != typeHNSW && (c.M != 0 || c.EFConstruction != 0 || c.EF != 0) {
		return fmt.Errorf("m, efconstruction and ef apply to HNSW, not to %s", c.Type)
	}
	return nil
}

func setInt(to *int, value string, low, high int) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return errors.New("expected a whole number")
	}
	if n < low || n > high {
		return fmt.Errorf("expected %d to %d", low, high)
	}
	*to = n
	return nil
}

// setNodes parses "+2". The plus is required, because a number alone could mean the total number of nodes.
func setNodes(to *int, value string) error {
	if !strings.HasPrefix(value, "+") {
		return errors.New("expected a number with a plus: nodes=+2")
	}
	return setInt(to, value[1:], 1, 10_000)
}

func setFloat(to *float64, value string, low, high float64) error {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) {
		return errors.New("expected a number")
	}
	if x < low || x > high {
		return fmt.Errorf("expected %s to %s", decimal(low), decimal(high))
	}
	*to = x
	return nil
}

// decimal formats a number without an exponent, e.g. 0.000001 instead of 1e-06.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// setRows parses a number of rows, with k for thousands or M for millions.
func setRows(to *int64, value string) error {
	number, by := value, 1.0
	for suffix, of := range map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6} {
		if n, ok := strings.CutSuffix(value, suffix); ok {
			number, by = n, of
		}
	}
	var x float64
	if err := setFloat(&x, number, 0, 1e12); err != nil {
		return err
	}
	x *= by
	if x < 1 || x > 1e10 || x != math.Trunc(x) {
		return errors.New("expected a number of rows: 500000, 500k, 1M")
	}
	*to = int64(x)
	return nil
}

// knownTypes returns the index types that a change can select.
func knownTypes() []string { return []string{typeHNSW, typeFlat, typeIVF, typeBinIVF} }

func setType(to *string, value string) error {
	types := knownTypes()
	for _, t := range types {
		if strings.EqualFold(value, t) {
			*to = t
			return nil
		}
	}
	return errors.New("expected one of " + strings.Join(types, ", "))
}
