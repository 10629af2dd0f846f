package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/internal/table"
)

// Resources holds all resources in the order of help and palette.
var Resources = linkPeers(
	databases, collections, fields, partitions, aliases,
	pchannels, vchannels, segments, indexes, segmentIndexes, segmentStats,
	loadStates, replicas, resourceGroups, nodes, targets,
	users, roles, grants, privilegeGroups,
	impacts, calls, processMetrics, slowRequests, connections, dependencies, settings, topics, subscriptions, wal,
	replication, configEntries, tasks, snapshots, partitionStats, allocators, history, orphans, etcdUsage, etcdPrefixes,
	keys, undecoded,
)

// Find returns the resource with a plural, singular or short name, in any case. The error for an unknown name
// is an *UnknownError.
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

// ParseNames splits words as -o name prints them, e.g. "node/querynode-12", into their resource and the names. ok
// is false if they have another form or belong to several resources.
func ParseNames(words []string) (r *Resource, names []string, ok bool) {
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

// UnknownError is the error for a word that names nothing.
type UnknownError = hints.UnknownError

// Suggest returns up to three known names with a spelling similar to word, nearest first.
func Suggest(word string, known []string) []string { return hints.Similar(word, known) }

// ColumnsFor returns the columns of tables of one width. loaded holds the parts that were read: tables of all
// widths include live columns once the processes were queried.
func (r *Resource) ColumnsFor(show table.Show, loaded model.Part) []int {
	return r.DefaultColumns(show, func(i int) bool {
		return r.more[i].live && show >= r.more[i].from && loaded.Has(r.more[i].needs)
	})
}

// ParseColumns parses lists such as "id,rows" or "+created_at". If the first word starts with "+", the list
// adds to the default columns of show. The error for an unknown column is an *UnknownError.
func (r *Resource) ParseColumns(words []string, show table.Show, loaded model.Part) ([]int, error) {
	return r.Schema.ParseColumns(words, r.ColumnsFor(show, loaded))
}

// NeedsFor returns the parts of the metadata to read for the rows and some columns.
func (r *Resource) NeedsFor(columns []int) model.Part {
	needs := r.Needs
	for _, i := range columns {
		needs |= r.more[i].needs
		if r.Columns[i].Kind.Named() {
			needs |= model.PartSessions // for the names of nodes
		}
	}
	return needs
}

// liveNeeds returns the parts of the metadata that live columns need in addition. Tables add these columns once
// the processes were queried.
func (r *Resource) liveNeeds() model.Part {
	var needs model.Part
	for i := range r.more {
		if r.more[i].live {
			needs |= r.more[i].needs & model.PartAll
		}
	}
	return needs
}

// NeedsOf returns the parts of the metadata without which the cells of a column are unknown.
func (r *Resource) NeedsOf(column int) model.Part { return r.more[column].needs }
