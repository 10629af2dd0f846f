package prefs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Schema is the JSON Schema of the files that are read into a type, for editors that complete and check YAML.
func Schema(of any) ([]byte, error) {
	schema := schemaOf(reflect.TypeOf(of))
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "kitescope config.yaml"
	text, err := json.MarshalIndent(schema, "", "  ")
	return append(text, '\n'), err
}

func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Slice:
		list := map[string]any{"type": "array", "items": schemaOf(t.Elem())}
		if t == reflect.TypeFor[Words]() {
			return map[string]any{"anyOf": []any{list, schemaOf(t.Elem())}}
		}
		return list
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		return schemaOfStruct(t)
	default:
	}
	return map[string]any{"type": "string"}
}

func schemaOfStruct(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		p := schemaOf(f.typ)
		p["description"] = f.doc
		if f.enum != "" {
			p["enum"] = strings.Split(f.enum, ",")
		}
		switch {
		case f.usual == "":
		case f.typ.Kind() == reflect.Pointer:
			p["default"] = f.usual == "true"
		default:
			p["default"] = f.usual
		}
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// Reference is the tables of the manual, in Markdown: of a type, and of those within it.
func Reference(of any) string {
	var b strings.Builder
	tables(&b, reflect.TypeOf(of), "")
	return b.String()
}

func tables(b *strings.Builder, t reflect.Type, path string) {
	if path != "" {
		fmt.Fprintf(b, "\n## %s\n\n", path)
	}
	b.WriteString("| key | value | usual | what |\n|---|---|---|---|\n")
	fields := fieldsOf(t)
	for _, f := range fields {
		usual := f.usual
		switch {
		case f.required:
			usual = "*required*"
		case usual != "":
			usual = "`" + usual + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.name, kindName(f.typ), usual, strings.ReplaceAll(f.doc, "|", `\|`))
	}
	for _, f := range fields {
		in, name := f.typ, f.name
		for {
			switch in.Kind() {
			case reflect.Map:
				in, name = in.Elem(), name+".NAME"
				continue
			case reflect.Slice:
				in, name = in.Elem(), name+"[]"
				continue
			case reflect.Pointer:
				in = in.Elem()
				continue
			default:
			}
			break
		}
		if in.Kind() == reflect.Struct {
			if path != "" {
				name = path + "." + name
			}
			tables(b, in, name)
		}
	}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "map"
	default:
	}
	return "text"
}

// FillIn gives the keys of what of points to, which say nothing, what they usually mean.
func FillIn(of any) {
	v := reflect.ValueOf(of).Elem()
	for _, f := range fieldsOf(v.Type()) {
		at := v.FieldByIndex(f.index)
		switch {
		case f.usual == "" || !at.IsZero():
		case at.Kind() == reflect.String:
			at.SetString(f.usual)
		case at.Kind() == reflect.Pointer && at.Type().Elem().Kind() == reflect.Bool:
			is := f.usual == "true"
			at.Set(reflect.ValueOf(&is))
		}
	}
}
