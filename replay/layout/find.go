package layout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// find looks up the collection that the options name: by id, by name, as "database.name", by alias.
func find(c *model.Cluster, o Options) (*model.Collection, error) {
	if o.Collection == "" {
		return nil, fmt.Errorf("choose a collection: %s", words.FirstOf(names(c, o.Database), 20, ", "))
	}
	found := named(c, o)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, unknown(c, o)
	}
	var databases []string
	for _, x := range found {
		databases = append(databases, c.DatabaseName(x.Database))
	}
	slices.Sort(databases)
	return nil, fmt.Errorf("collection %q is in several databases (%s): name one", o.Collection, strings.Join(databases, ", "))
}

func named(c *model.Cluster, o Options) (found []*model.Collection) {
	database, name, dotted := strings.Cut(o.Collection, ".")
	id, err := strconv.ParseInt(o.Collection, 10, 64)
	matches := func(in model.DatabaseID, object string) bool {
		db := c.DatabaseName(in)
		switch {
		case o.Database != "" && o.Database != db:
			return false
		case object == o.Collection:
			return true
		}
		return dotted && database == db && object == name
	}
	add := func(x *model.Collection) {
		if x != nil && !x.Dropped() && !slices.Contains(found, x) {
			found = append(found, x)
		}
	}
	for _, x := range c.Collections {
		if matches(x.Database, x.Name) || err == nil && int64(x.ID) == id && (o.Database == "" || o.Database == c.DatabaseName(x.Database)) {
			add(x)
		}
	}
	for _, a := range c.Aliases {
		if matches(a.Database, a.Name) && !a.State.Gone() {
			add(c.Collection(a.Collection))
		}
	}
	return found
}

// unknown says what might have been meant.
func unknown(c *model.Cluster, o Options) error {
	in := ""
	if o.Database != "" {
		in = " in database " + strconv.Quote(o.Database)
	}
	known := names(c, o.Database)
	if near := nearest(o.Collection, known); len(near) > 0 {
		return fmt.Errorf("no collection %q%s; did you mean %s?", o.Collection, in, strings.Join(near, " or "))
	}
	return fmt.Errorf("no collection %q%s; there are %s", o.Collection, in, words.FirstOf(known, 20, ", "))
}

// names are those of collections and aliases, with the database where it is not the default one.
func names(c *model.Cluster, database string) []string {
	var list []string
	add := func(in model.DatabaseID, name string) {
		switch db := c.DatabaseName(in); {
		case database == "" && db != "default":
			list = append(list, db+"."+name)
		case database == "" || db == database:
			list = append(list, name)
		}
	}
	for _, x := range c.Collections {
		if !x.Dropped() {
			add(x.Database, x.Name)
		}
	}
	for _, a := range c.Aliases {
		if !a.State.Gone() {
			add(a.Database, a.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// nearest returns up to three names that are spelled like word, nearest first.
func nearest(word string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	word = strings.ToLower(word)
	for _, name := range known {
		lower := strings.ToLower(name)
		d := edits(word, lower)
		if word != "" && (strings.HasPrefix(lower, word) || strings.HasSuffix(lower, "."+word)) {
			d = min(d, 1)
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

// edits is Levenshtein's distance.
func edits(a, b string) int {
	last, next := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(replace, last[j+1]+1, next[j]+1)
		}
		last, next = next, last
	}
	return last[len(b)]
}
