package view

import (
	"slices"
	"strings"

	"kitescope/internal/table"
)

// CompleteSelector completes one word of a selection as table.CompleteSelector does. Without an Env only columns and
// fixed words are known.
func CompleteSelector(env *Env, r *Resource, word string) (words []string, again bool) {
	if env == nil {
		return table.CompleteSelector(&r.Schema, nil, word, func(column int, prefix string) []string { return fixedValues(r, column, prefix) })
	}
	t := r.Table(env)
	return table.CompleteSelector(&r.Schema, t, word, func(column int, prefix string) []string {
		return table.Values(t, column, prefix, table.MaxCompletions)
	})
}

// fixedValues are those that a column may have in any cluster.
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
