package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"kitescope/engine/expr"
)

// fillFilter writes the values that a request has for the {names} of its expression into that.
func (p *requestLine) fillFilter() error {
	if p.Filter == nil || p.Filter.Expr == "" || p.values == nil || string(p.values) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(p.values))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return fmt.Errorf("filter_params: expected an object, found %s", shown(p.values))
	}
	values := make(map[string]expr.Value, len(all))
	for name, v := range all {
		value, err := paramValue(v, 0)
		if err != nil {
			return fmt.Errorf("filter_params: %s: %w", printable(name), err)
		}
		values[name] = value
	}
	filled, err := expr.Fill(p.Filter.Expr, values)
	if err != nil {
		return err
	}
	p.Filter.Expr = filled
	return nil
}

// paramValue is a value of JSON as a constant. Lists may lie in lists, but not deeper than an expression can have them.
func paramValue(v any, depth int) (expr.Value, error) {
	switch v := v.(type) {
	case bool:
		return expr.Value{Kind: expr.Bool, Bool: v}, nil
	case string:
		return expr.Value{Kind: expr.Text, Text: v}, nil
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return expr.Value{Kind: expr.Int, Int: n}, nil
		}
		f, err := v.Float64()
		if err != nil {
			return expr.Value{}, fmt.Errorf("%s does not fit in a double", printable(v.String()))
		}
		return expr.Value{Kind: expr.Float, Float: f}, nil
	case []any:
		const deepest = 8
		list := expr.Value{Kind: expr.List, List: make([]expr.Value, 0, len(v))}
		for _, e := range v {
			if depth >= deepest {
				return list, errors.New("lists in lists that no expression has")
			}
			value, err := paramValue(e, depth+1)
			if err != nil {
				return list, err
			}
			list.List = append(list.List, value)
		}
		return list, nil
	}
	return expr.Value{}, fmt.Errorf("expected a number, a text, a truth value or a list of them, found %s", printable(fmt.Sprint(v)))
}
