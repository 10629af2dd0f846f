package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"kitescope/internal/encode"
	"kitescope/internal/table"
)

var templateWriter = &writer{
	name: "template",
	doc:  `a Go template over the document that json writes: template='{{range .items}}{{.id}}{{"\n"}}{{end}}'`,
	show: table.Hidden, argument: true,
	sheet: func(w io.Writer, s *Sheet) error {
		return executeTemplate(w, s.Document, &s.Options.Options)
	},
	structured: func(w io.Writer, d Document, _ int, o *Options) error {
		return executeTemplate(w, d, o)
	},
}

// parseTemplate parses a template with the functions json, join, upper and lower.
func parseTemplate(text string) (*template.Template, error) {
	t, err := template.New("output").Funcs(template.FuncMap{
		"json":  toJSON,
		"join":  joinAny,
		"upper": strings.ToUpper,
		"lower": strings.ToLower,
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return t, nil
}

func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

func joinAny(separator string, list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, separator)
}

func executeTemplate(w io.Writer, d Document, o *Options) error {
	t, err := parseTemplate(o.Format.template)
	if err != nil {
		return err
	}
	e, value := encode.Values()
	d(e)
	out := bufio.NewWriter(w)
	if err := t.Execute(out, value()); err != nil {
		return fmt.Errorf("execute template: %w", err)
	}
	return out.Flush()
}
