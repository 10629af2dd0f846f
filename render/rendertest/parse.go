package rendertest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

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
				if field != "" && strings.ContainsRune("=@+\t", rune(field[0])) {
					t.Errorf("%s: field %d begins a formula: %s", name, i, field)
				}
			}
		}
	}
	if err != nil {
		t.Errorf("%s as %s does not parse: %v\n%s", name, word, err, text)
	}
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
