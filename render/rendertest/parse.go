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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// Words are words of -o, with a template where one goes on.
func Words(names []string) []string {
	list := slices.Clone(names)
	for i, word := range list {
		if strings.HasSuffix(word, "=") {
			list[i] = word + "{{json .}}"
		}
	}
	return list
}

// Format is a format by its word.
func Format[F any](t *testing.T, formats interface{ Parse(word string) (F, error) }, word string) F {
	t.Helper()
	f, err := formats.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// CollectKeys adds the keys of all objects in a JSON text.
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

// Parses holds a report to the syntax of its format, and CSV to fields that are no formulas.
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
				if _, err := strconv.ParseFloat(field, 64); err != nil && field != "" && strings.ContainsRune("=@+\t", rune(field[0])) {
					t.Errorf("%s: field %d begins a formula: %s", name, i, field)
				}
			}
		}
	}
	if err != nil {
		t.Errorf("%s as %s does not parse: %v\n%s", name, word, err, text)
	}
}

// Agree holds the formats of one document to each other, read by others' readers: YAML has what JSON has, JSON lines have its items, and the others
// have their syntax.
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
	if json.Unmarshal([]byte(texts["json"]), &fromJSON) != nil || yaml.Unmarshal([]byte(texts["yaml"]), &fromYAML) != nil {
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

// numbers turns YAML's integers into JSON's floats.
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

// WellFormed holds an SVG to XML, and to having taken nothing from names but text.
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
