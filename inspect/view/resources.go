package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/internal/table"
)

// Resources is everything that can be listed, in the order of help and palette.
var Resources = related(
	databases, collections, fields, partitions, aliases,
	pchannels, vchannels, segments, indexes, segmentIndexes, segmentStats,
	loadStates, replicas, resourceGroups, nodes, targets,
	users, roles, grants, privilegeGroups,
	impacts, calls, processMetrics, slowRequests, connections, dependencies, settings, topics, subscriptions, wal, replication,
	configEntries, tasks, snapshots, partitionStats, allocators, history, orphans, etcdUsage, etcdPrefixes, keys, undecoded,
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

// Named splits words as -o name prints them, "node/querynode-12", into their resource and the names; ok is false if they are no such
// words, or of several resources.
func Named(words []string) (r *Resource, names []string, ok bool) {
	for _, word := range words {
		resource, name, found := strings.Cut(word, "/")
		of, err := Find(resource)
		if !found || err != nil || name == "" || r != nil && r != of {
			return nil, nil, false
		}
		r, names = of, append(names, name)
	}
	return r, names, r != nil
}

// UnknownError says that a word names nothing.
type UnknownError = hints.UnknownError

// Suggest returns up to three of the known names that are spelled like word, nearest first.
func Suggest(word string, known []string) []string { return hints.Similar(word, known) }

// ColumnsFor are the columns that appear in tables of one width. loaded is what is known: live columns are in all of
// them once the processes were asked.
func (r *Resource) ColumnsFor(show table.Show, loaded model.Part) []int {
	return r.Usual(show, func(i int) bool { return r.more[i].live && show >= r.more[i].from && loaded.Has(r.more[i].needs) })
}

// ParseColumns reads lists such as "id,rows" or "+created_at": a first word that starts with "+" adds to the usual
// columns of that Show. An unknown one is an *UnknownError.
func (r *Resource) ParseColumns(words []string, show table.Show, loaded model.Part) ([]int, error) {
	return r.Schema.ParseColumns(words, r.ColumnsFor(show, loaded))
}

// NeedsFor are the parts of the metadata to read so that the rows and these columns are known.
func (r *Resource) NeedsFor(columns []int) model.Part {
	needs := r.Needs
	for _, i := range columns {
		needs |= r.more[i].needs
		if r.Columns[i].Kind.Named() {
			needs |= model.PartSessions // without which there are ids, and no names
		}
	}
	return needs
}

// besides are the parts of the metadata without which live columns, which come once processes were asked, are unknown then.
func (r *Resource) besides() model.Part {
	var needs model.Part
	for i := range r.more {
		if r.more[i].live {
			needs |= r.more[i].needs & model.PartAll
		}
	}
	return needs
}

// NeedsOf are the parts of the metadata without which a column's cells are unknown.
func (r *Resource) NeedsOf(column int) model.Part { return r.more[column].needs }
