package view

import (
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// DefaultColumns implements table.Context.
func (t *boundTable[T]) DefaultColumns(show table.Show) []int {
	return t.resource.ColumnsFor(show, t.env.Loaded())
}

// Known implements table.Context.
func (t *boundTable[T]) Known(column int) bool {
	if column < 0 {
		needs := t.resource.Needs
		return needs == model.PartAll || t.env.Cluster.Loaded.Has(needs)
	}
	return t.env.Loaded().Has(t.resource.more[column].needs)
}

// Now implements table.Context.
func (t *boundTable[T]) Now() time.Time { return t.env.Now }

// Resolve implements table.Context. It returns the ids of the collections that a word matches. For the list
// of collections itself it includes dropped ones.
func (t *boundTable[T]) Resolve(_ int, word string) []int64 {
	meant := collectionIDs
	if t.resource == collections {
		meant = namedCollections
	}
	var ids []int64
	for _, id := range meant(t.env.Cluster, word) {
		ids = append(ids, int64(id))
	}
	return ids
}

// Unresolved implements table.Context.
func (t *boundTable[T]) Unresolved(_ int, word string) string {
	return NotFound(collections.Table(t.env), word).Error()
}

// collectionIDs returns the collections that a word may mean: by name (in every database that has the name),
// by "database.name", by alias, or by id. A name means a dropped collection only if no other has it. An id
// counts even if the collection is gone because its segments may still exist.
func collectionIDs(c *model.Cluster, word string) []model.CollectionID {
	all := namedCollections(c, word)
	live := slices.DeleteFunc(slices.Clone(all), func(id model.CollectionID) bool {
		x := c.Collection(id)
		return x != nil && x.Dropped() && x.ID.String() != word
	})
	if len(live) > 0 {
		return live
	}
	return all
}

// namedCollections is like collectionIDs but includes dropped collections.
func namedCollections(c *model.Cluster, word string) []model.CollectionID {
	var ids []model.CollectionID
	for _, x := range c.Collections {
		if x.Name == word || c.DatabaseName(x.Database)+"."+x.Name == word {
			ids = append(ids, x.ID)
		}
	}
	for _, a := range c.Aliases {
		if a.Name == word || c.DatabaseName(a.Database)+"."+a.Name == word {
			ids = append(ids, a.Collection)
		}
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		ids = append(ids, model.CollectionID(n))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
