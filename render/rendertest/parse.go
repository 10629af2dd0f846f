package rendertest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// Words returns values of -o, with a template for formats that need one.
func Words(names []string) []string {
	list := slices.Clone(names)
	for i, word := range list {
		if strings.HasSuffix(word, "=") {
			list[i] = word + "{{json .}}"
		}
	}
	return list
}

// Format returns the format with the given name.
func Format[F any](t *testing.T, formats interface{ Parse(word string) (F, error) }, word string) F {
	t.Helper()
	f, err := formats.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// CollectKeys adds the keys of all objects in a JSON text to keys.
func CollectKeys(t *testing.T, keys map[string]bool, text []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				keys[key] = true
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(value)
}

// Parses checks the syntax of a report, and that CSV fields are not formulas.
func Parses(t *testing.T, name, word, text string) {
	t.Helper()
	var value any
	var err error
	switch word {
	case "json":
		err = json.Unmarshal([]byte(text), &value)
	case "jsonl":
		for line := range strings.Lines(text) {
			if err = json.Unmarshal([]byte(line), &value); err != nil {
				break
			}
		}
	case "yaml":
		err = yaml.Unmarshal([]byte(text), &value)
	case "csv":
		var records [][]string
		records, err = csv.NewReader(strings.NewReader(text)).ReadAll()
		for _, r := range records {
			for i, field := range r {
				if _, err := strconv.ParseFloat(field, 64); err != nil && field != "" &&
					strings.ContainsRune("=@+\t", rune(field[0])) {
					t.Errorf("%s: field %d begins a formula: %s", name, i, field)
				}
			}
		}
	}
	if err != nil {
		t.Errorf("%s as %s does not parse: %v\n%s", name, word, err, text)
	}
}

// Agree compares the formats of a document using independent parsers: YAML must be equal to JSON, and JSON lines
// to its items. It checks the syntax of the other formats.
func Agree(t *testing.T, name string, words []string, write func(w io.Writer, word string) error) {
	t.Helper()
	texts := map[string]string{}
	for _, word := range words {
		if strings.HasSuffix(word, "=") { // a template
			continue
		}
		var b strings.Builder
		if err := write(&b, word); err != nil {
			t.Fatalf("%s as %s: %v", name, word, err)
		}
		texts[word] = b.String()
		Parses(t, name, word, texts[word])
	}
	var fromJSON, fromYAML any
	if json.Unmarshal([]byte(texts["json"]), &fromJSON) != nil ||
		yaml.Unmarshal([]byte(texts["yaml"]), &fromYAML) != nil {
		t.Errorf("%s has no JSON or no YAML", name)
		return
	}
	if diff := cmp.Diff(fromJSON, numbers(fromYAML)); diff != "" {
		t.Errorf("%s: JSON and YAML: %s", name, diff)
	}
	document, _ := fromJSON.(map[string]any)
	items, has := document["items"].([]any)
	if text, lines := texts["jsonl"]; has && lines {
		var list []any
		for line := range strings.Lines(text) {
			var item any
			if err := json.Unmarshal([]byte(line), &item); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			list = append(list, item)
		}
		if diff := cmp.Diff(items, list, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: JSON and JSON lines: %s", name, diff)
		}
	}
}

// numbers converts the integers of YAML to the floats of JSON.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case int:
		return float64(v)
	}
	return v
}

// WellFormed checks that an SVG is well-formed XML, and that names cannot add scripts or images.
func WellFormed(t *testing.T, name string, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "image") {
			t.Errorf("%s has an element %s", name, e.Name.Local)
		}
	}
}

// Variant is a set of options to write a report with. Word is the name of the format. If it is empty, the format is
// the name of the look if that is a format, and otherwise table.
type Variant struct {
	Word         string
	Width, Limit int
	ASCII, Color bool
}

// Report checks the common properties of reports in each variant: names do not add control characters, tables do not
// exceed their width, ASCII output is ASCII, the syntax is valid, and the variants "80" and "json" match their
// goldens. It also checks that all formats agree. Lines for which unlimited returns true, e.g. commands, can exceed
// the width.
func Report(
	t *testing.T, golden string, words []string, variants map[string]Variant, unlimited func(line string) bool,
	write func(w io.Writer, l Variant) error,
) {
	t.Helper()
	for name, l := range variants {
		if l.Word == "" {
			l.Word = "table"
			if slices.Contains(words, name) {
				l.Word = name
			}
		}
		var b bytes.Buffer
		if err := write(&b, l); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !l.Color && strings.Contains(text, "\x1b") || strings.ContainsAny(text, "\u202e\a") ||
			strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b[1m|") {
			t.Errorf("%s as %s lets control characters through", golden, name)
		}
		if l.Word == "markdown" && strings.Contains(text, "<script>") {
			t.Errorf("%s as %s has an element in it", golden, name)
		}
		if at := strings.IndexFunc(text, func(r rune) bool { return r > '~' }); l.ASCII && at >= 0 {
			t.Errorf("%s as %s is not ASCII: %q", golden, name, text[at:min(len(text), at+20)])
		}
		for line := range strings.Lines(text) {
			n := ansi.StringWidth(strings.TrimSuffix(line, "\n"))
			if l.Word == "table" && !l.Color && l.Width > 0 && n > l.Width && (unlimited == nil || !unlimited(line)) {
				t.Errorf("%s as %s: a line of %d cells in %d: %s", golden, name, n, l.Width, line)
			}
		}
		Parses(t, golden, l.Word, text)
		Document(t, golden, name, b.Bytes())
	}
	Agree(t, golden, words, func(w io.Writer, word string) error { return write(w, Variant{Word: word}) })
}

// ElementsClose checks that all elements of a page are closed.
func ElementsClose(t *testing.T, name, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta"}, xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 {
		t.Errorf("%s: %d elements are not closed", name, depth)
	}
}
