package view

import (
	"slices"
	"strings"

	"kitescope/internal/table"
)

// CompleteSelector completes one word of a selection like table.CompleteSelector. Without an Env it completes
// only columns and fixed values.
func CompleteSelector(env *Env, r *Resource, word string) (words []string, again bool) {
	if env == nil {
		return table.CompleteSelector(&r.Schema, nil, word, func(column int, prefix string) []string {
			return fixedValues(r, column, prefix)
		})
	}
	t := r.Table(env)
	return table.CompleteSelector(&r.Schema, t, word, func(column int, prefix string) []string {
		return table.Values(t, column, prefix, table.MaxCompletions)
	})
}

// fixedValues returns the values with a prefix that a column can have in any cluster: booleans, and states of
// segments.
func fixedValues(r *Resource, column int, prefix string) []string {
	var fixed []string
	switch {
	case r.Name == segments.Name && r.Columns[column].Name == "state":
		for _, s := range stateOrder[:6] {
			fixed = append(fixed, s.String())
		}
	case r.Columns[column].Kind == table.Bool:
		fixed = []string{"true", "false"}
	}
	return slices.DeleteFunc(fixed, func(s string) bool {
		return len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix)
	})
}
