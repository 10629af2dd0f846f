package layout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/internal/words"
)

// find returns the collection in the options, by id, name, "database.name" or alias.
func find(c *model.Cluster, o Options) (*model.Collection, error) {
	if o.Collection == "" {
		return nil, fmt.Errorf("choose a collection: %s", words.FirstOf(names(c), 20, ", "))
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
	return nil,
		fmt.Errorf("collection %q is in several databases (%s): name one", o.Collection, strings.Join(databases, ", "))
}

func named(c *model.Cluster, o Options) (found []*model.Collection) {
	database, name, dotted := strings.Cut(o.Collection, ".")
	id, err := strconv.ParseInt(o.Collection, 10, 64)
	matches := func(in model.DatabaseID, object string) bool {
		return object == o.Collection || dotted && database == c.DatabaseName(in) && object == name
	}
	add := func(x *model.Collection) {
		if x != nil && !x.Dropped() && !slices.Contains(found, x) {
			found = append(found, x)
		}
	}
	for _, x := range c.Collections {
		if matches(x.Database, x.Name) || err == nil && int64(x.ID) == id {
			add(x)
		}
	}
	for _, a := range c.Aliases {
		if matches(a.Database, a.Name) && !a.State.Dropped() {
			add(c.Collection(a.Collection))
		}
	}
	return found
}

// unknown returns the error for a name that no collection has.
func unknown(c *model.Cluster, o Options) error {
	known := names(c)
	if near := hints.Similar(o.Collection, known); len(near) > 0 {
		return fmt.Errorf("no collection %q%s", o.Collection, hints.Suggestion(near))
	}
	return fmt.Errorf("no collection %q; collections: %s", o.Collection, words.FirstOf(known, 20, ", "))
}

// names returns the names of collections and aliases, with the database unless it is the default one.
func names(c *model.Cluster) []string {
	var list []string
	add := func(in model.DatabaseID, name string) {
		if db := c.DatabaseName(in); db != "default" {
			name = db + "." + name
		}
		list = append(list, name)
	}
	for _, x := range c.Collections {
		if !x.Dropped() {
			add(x.Database, x.Name)
		}
	}
	for _, a := range c.Aliases {
		if !a.State.Dropped() {
			add(a.Database, a.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
