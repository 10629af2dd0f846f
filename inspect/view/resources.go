package view

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// Resources is everything that can be listed, in the order of help and palette.
var Resources = related(
	databases, collections, fields, partitions, aliases,
	pchannels, vchannels, segments, indexes, segmentIndexes, segmentStats,
	loadStates, replicas, resourceGroups, nodes, targets,
	users, roles, grants, privilegeGroups,
	calls, settings, topics,
	configEntries, tasks, partitionStats, allocators, history, orphans, keys, undecoded,
)

// Find returns the resource of a plural, singular or short name, in any case. An
// unknown one is an *UnknownError.
func Find(name string) (*Resource, error) {
	lower := strings.ToLower(name)
	var known []string
	for _, r := range Resources {
		if lower == r.Name || lower == r.Singular || slices.Contains(r.Aliases, lower) {
			return r, nil
		}
		known = append(known, r.Name)
	}
	return nil, &UnknownError{What: "resource", Word: name, Known: known}
}

// UnknownError says that a word names nothing.
type UnknownError struct {
	// What is the kind of thing that was looked for: "resource", "column of segments".
	What, Word string
	// Known are all names that would have been understood.
	Known []string
}

// mostListed is how many names a message lists; of more, whoever reports the error says where they are.
const mostListed = 50

func (e *UnknownError) Error() string {
	near := Suggest(e.Word, e.Known)
	if len(near) > 0 {
		return fmt.Sprintf("unknown %s %q%s", e.What, e.Word, meant(near))
	}
	if len(e.Known) > mostListed {
		return fmt.Sprintf("unknown %s %q", e.What, e.Word)
	}
	return fmt.Sprintf("unknown %s %q; known are: %s", e.What, e.Word, strings.Join(e.Known, ", "))
}

// Suggest returns up to three of the known names that are spelled like word, nearest first.
func Suggest(word string, known []string) []string {
	word = strings.ToLower(word)
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	for _, name := range known {
		d := editDistance(word, strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), word) && word != "" {
			d = 1
		}
		if d > 1 && sameParts(word, name) { // "idle-node" for "node-idle"
			d = 1
		}
		if d <= max(1, len(word)/3) {
			list = append(list, candidate{name, d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range list[:min(3, len(list))] {
		names = append(names, c.name)
	}
	return names
}

// sameParts reports whether two names have the same parts in another order.
func sameParts(a, b string) bool {
	parts := func(s string) []string {
		list := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' })
		slices.Sort(list)
		return list
	}
	return slices.Equal(parts(a), parts(strings.ToLower(b)))
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			next[j] = min(replace, last[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

// ColumnsFor are the columns that appear in tables of one width: Always in the
// usual ones, Wide in wide ones, Hidden in JSON, YAML and CSV. loaded is what is known:
// live columns are in all of them once the processes were asked.
func (r *Resource) ColumnsFor(show Show, loaded model.Part) []int {
	var columns []int
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Show <= show || c.Live && loaded.Has(c.Needs) {
			columns = append(columns, i)
		}
	}
	return columns
}

// ColumnNames are the names of all columns.
func (r *Resource) ColumnNames() []string {
	names := make([]string, len(r.Columns))
	for i := range r.Columns {
		names[i] = r.Columns[i].Name
	}
	return names
}

// ParseColumns reads lists such as "id,rows" or "+created_at": a first word that starts
// with "+" adds to the usual columns of that Show. An unknown one is an *UnknownError.
func (r *Resource) ParseColumns(words []string, show Show, loaded model.Part) ([]int, error) {
	var columns []int
	for _, word := range words {
		for name := range strings.SplitSeq(word, ",") {
			name = strings.TrimSpace(name)
			more, added := strings.CutPrefix(name, "+")
			if added && len(columns) == 0 {
				columns = r.ColumnsFor(show, loaded)
			}
			i := r.Column(strings.ToLower(more))
			if i < 0 {
				return nil, r.unknownColumn(more)
			}
			if !slices.Contains(columns, i) {
				columns = append(columns, i)
			}
		}
	}
	if len(columns) == 0 {
		return r.ColumnsFor(show, loaded), nil
	}
	return columns, nil
}

func (r *Resource) unknownColumn(name string) error {
	known := r.ColumnNames()
	for short := range r.Shorthands {
		if r.Column(short) >= 0 {
			known = append(known, short)
		}
	}
	slices.Sort(known[len(r.Columns):])
	return &UnknownError{What: "column of " + r.Name, Word: name, Known: known}
}

// NeedsFor are the parts of the metadata to read so that the rows and these columns are known.
func (r *Resource) NeedsFor(columns []int) model.Part {
	needs := r.Needs
	for _, i := range columns {
		needs |= r.Columns[i].Needs
	}
	return needs
}
