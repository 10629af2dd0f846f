package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// writeSaved writes a report whose JSON another package defines, as it reads it again: that JSON, the same as YAML, and the
// sheet in all other formats.
func writeSaved(w io.Writer, format ReportFormat, s *sheet, save func(w io.Writer) error) error {
	switch format.Name() {
	case "json":
		return save(w)
	case "yaml":
		var b bytes.Buffer
		if err := save(&b); err != nil {
			return err
		}
		e := newYAML(w)
		if err := retell(e, &b); err != nil {
			return err
		}
		return e.flush()
	}
	return format.to().write(w, s)
}

// retell tells an encoder what a JSON document says, in its order.
func retell(e encoder, r io.Reader) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return err
	}
	return retellValue(e, d, token)
}

func retellValue(e encoder, d *json.Decoder, token json.Token) error {
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return retellObject(e, d)
		}
		return retellList(e, d)
	case string:
		e.text(v)
	case bool:
		e.boolean(v)
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			e.integer(n)
			return nil
		}
		f, err := v.Float64()
		if err != nil {
			return err
		}
		e.exact(f)
	default:
		return errors.New("a value that is null")
	}
	return nil
}

func retellObject(e encoder, d *json.Decoder) error {
	e.beginObject()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		if value == nil { // what does not exist is left out
			continue
		}
		name, _ := key.(string)
		e.key(name)
		if err := retellValue(e, d, value); err != nil {
			return err
		}
	}
	e.endObject()
	_, err := d.Token()
	return err
}

func retellList(e encoder, d *json.Decoder) error {
	e.beginList()
	for d.More() {
		value, err := d.Token()
		if err != nil {
			return err
		}
		if err := retellValue(e, d, value); err != nil {
			return err
		}
	}
	e.endList()
	_, err := d.Token()
	return err
}
