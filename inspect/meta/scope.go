package meta

import (
	"slices"
	"strconv"

	"kitescope/inspect/model"
)

// resolve resolves Want.Collection into s.only. It returns *UnknownCollectionError if nothing matches.
func (s *state) resolve() error {
	if s.want.Collection == "" {
		return nil
	}
	if s.scope = s.matchCollections(s.want.Collection); len(s.scope) == 0 {
		return &UnknownCollectionError{Name: s.want.Collection, Known: s.collectionNames()}
	}
	return nil
}

// databaseNames returns the names of the databases by id. Milvus before 2.2.9 has none; id 0 means the default
// database.
func (s *state) databaseNames() map[model.DatabaseID]string {
	names := map[model.DatabaseID]string{0: "default", 1: "default"}
	for _, d := range s.databases() {
		names[d.ID] = d.Name
	}
	return names
}

// collectionNames returns all names that match a collection, sorted.
func (s *state) collectionNames() []string {
	databases := s.databaseNames()
	var known []string
	add := func(database model.DatabaseID, name string) {
		if in := databases[database]; in != "default" {
			name = in + "." + name
		}
		known = append(known, name)
	}
	collections, _, _ := s.assembleCollections()
	for _, c := range collections {
		add(c.Database, c.Name)
	}
	for _, a := range s.aliases() {
		add(a.Database, a.Name)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// matchCollections returns the collections that match a name, "database.name", alias or id. An id need not be known,
// because segments may outlive their collection.
func (s *state) matchCollections(name string) map[model.CollectionID]bool {
	found := make(map[model.CollectionID]bool)
	if id, err := strconv.ParseInt(name, 10, 64); err == nil {
		found[model.CollectionID(id)] = true
	}
	databases := s.databaseNames()
	matches := func(database model.DatabaseID, object string) bool {
		return object == name || databases[database]+"."+object == name
	}
	collections, _, _ := s.assembleCollections()
	for _, c := range collections {
		if matches(c.Database, c.Name) {
			found[c.ID] = true
		}
	}
	for _, a := range s.aliases() {
		if matches(a.Database, a.Name) {
			found[a.Collection] = true
		}
	}
	return found
}
