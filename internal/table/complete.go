package table

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxCompletions limits the number of completions, because a shell that lists a million ids is of no use.
const MaxCompletions = 500

// CompleteNames returns the names of objects in t that start with prefix, sorted. It includes ids only if no name
// matches or if prefix starts with a digit.
func CompleteNames(t Table, prefix string) []string {
	r := t.Schema()
	var found []string
	for _, column := range r.Names {
		i := r.Column(column)
		isID := r.Columns[i].Kind == ID
		if isID && len(found) > 0 && (prefix == "" || prefix[0] < '0' || prefix[0] > '9') {
			continue
		}
		found = append(found, Values(t, i, prefix, MaxCompletions)...)
	}
	found = slices.Compact(slices.Sorted(slices.Values(found)))
	return found[:min(len(found), MaxCompletions)]
}

// Values returns the distinct values of a column that start with prefix, sorted. It stops after about limit
// values.
func Values(t Table, column int, prefix string, limit int) []string {
	kind := t.Schema().Columns[column].Kind
	if t.Schema().Columns[column].Vocabulary {
		kind = State
	}
	seen := map[string]bool{}
	add := func(s string) {
		if s != "" && hasPrefix(kind, s, prefix) {
			seen[s] = true
		}
	}
	for row := 0; row < t.Len() && len(seen) < limit; row++ {
		c := t.Cell(row, column)
		c, kind := c.ForPeople(kind)
		switch {
		case c.Absent != Present:
		case kind == ID:
			add(strconv.FormatInt(c.Int, 10))
		case kind == List:
			for _, s := range c.List {
				add(s)
			}
		case kind == Text || kind == State:
			add(c.Text)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func hasPrefix(k Kind, s, prefix string) bool {
	if k == State || k == NamedID || k == NamedIDs {
		return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
	}
	return strings.HasPrefix(s, prefix)
}

// CompleteColumns returns the columns that start with prefix, for --columns and --sort. It keeps a leading "-" or
// "+" and everything up to the last comma.
func CompleteColumns(r *Schema, prefix string) []string {
	head, last := "", prefix
	if i := strings.LastIndexByte(prefix, ','); i >= 0 {
		head, last = prefix[:i+1], prefix[i+1:]
	}
	bare := strings.TrimLeft(last, "+-")
	head += last[:len(last)-len(bare)]
	var words []string
	for _, name := range r.ColumnNames() {
		if strings.HasPrefix(name, strings.ToLower(bare)) {
			words = append(words, head+name)
		}
	}
	return words
}

// CompleteSelector completes one word of a selection: names of objects, columns with an operator ("state="), or
// values of a column ("state=Gr"). It calls values to complete the value of a column. If t is nil, it completes
// no names. again reports whether the word is incomplete, as a column with an operator is.
func CompleteSelector(
	r *Schema, t Table, word string, values func(column int, prefix string) []string,
) (words []string, again bool) {
	column, op, rest, ok := splitWord(word)
	if ok {
		i := r.Column(strings.ToLower(column))
		if i < 0 || op != equal && op != unequal {
			return nil, false
		}
		head := word[:len(word)-len(rest)]
		if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
			head, rest = head+rest[:comma+1], rest[comma+1:]
		}
		return prefixed(head, values(i, rest)), false
	}
	if t != nil {
		words = CompleteNames(t, word)
	}
	for _, name := range r.ColumnNames() {
		if strings.HasPrefix(name, strings.ToLower(word)) {
			words, again = append(words, name+"="), true
		}
	}
	return words, again
}

func prefixed(head string, list []string) []string {
	for i := range list {
		list[i] = head + list[i]
	}
	return list
}
