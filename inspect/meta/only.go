package meta

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// One collection of many: its name is looked for among all of them, and nothing else is decoded of those that have another.

// passedCollection is what is kept of a collection that was passed over.
type passedCollection struct {
	key      string
	database model.DatabaseID
	name     string
}

// pass reports whether a key is none that is needed for the collection that is wanted: the record of another collection, of which only
// the name is kept, or what is known of its channels.
func (s *state) pass(kv source.KV, k *keyParts) bool {
	switch k.kind {
	case kindCollection, kindCollection22:
		return s.passed != nil && s.only == nil && s.passCollection(kv, k)
	case kindChannelWatch, kindChannelCheckpoint, kindChannelRemoval:
		if s.only == nil {
			return false
		}
		_, collection := splitVChannel(string(k.names[0]))
		return collection != 0 && !s.only[collection]
	}
	return false
}

func (s *state) passCollection(kv source.KV, k *keyParts) bool {
	id, database := model.CollectionID(k.ids[0]), model.DatabaseID(0)
	if k.kind == kindCollection {
		id, database = model.CollectionID(k.ids[1]), model.DatabaseID(k.ids[0])
	}
	name, ok := nameInCollection(kv.Value)
	name = keptName(name)
	want := s.want.Collection
	if !ok || want == name || strings.HasSuffix(want, "."+name) || want == id.String() {
		return false
	}
	s.passed[id] = passedCollection{string(kv.Key), database, name}
	return true
}

// nameInCollection is the name in a message etcdpb.CollectionInfo; ok is false where it is not plain to see.
func nameInCollection(message []byte) (name string, ok bool) {
	const schemaField, nameField = 2, 1 // CollectionInfo.schema, CollectionSchema.name
	schema, ok := bytesField(message, schemaField)
	if !ok {
		return "", false
	}
	text, ok := bytesField(schema, nameField)
	return string(text), ok
}

// bytesField is the only field of a number in a message; ok is false if there is none, several, or the message is broken.
func bytesField(message []byte, number int) (field []byte, ok bool) {
	for len(message) > 0 {
		f, rest, whole := nextField(message)
		if !whole || f.number() == number && (ok || f.wire() != wireBytes) {
			return nil, false
		}
		if f.number() == number {
			field, ok = f.bytes, true
		}
		message = rest
	}
	return field, ok
}

// passedOver are the keys of collections that turned out to be wanted after they had been passed over: an alias names them.
func (s *state) passedOver() rangeList {
	var out rangeList
	for id := range s.only {
		if p, ok := s.passed[id]; ok {
			out = append(out, source.Range{From: p.key, To: p.key + "\x00"})
		}
	}
	return out
}

// resolve finds the collections that Want.Collection names.
func (s *state) resolve() error {
	if s.want.Collection == "" {
		return nil
	}
	if s.only = s.named(s.want.Collection); len(s.only) == 0 {
		return &UnknownCollectionError{Name: s.want.Collection, Known: s.collectionNames()}
	}
	return nil
}

// databaseNames are those of the databases by id; Milvus before 2.2.9 has none, and no database is the default one.
func (s *state) databaseNames() map[model.DatabaseID]string {
	names := map[model.DatabaseID]string{0: "default", 1: "default"}
	for _, d := range s.databases() {
		names[d.ID] = d.Name
	}
	return names
}

// collectionNames are the words that would have named a collection.
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
	for _, p := range s.passed {
		add(p.database, p.name)
	}
	for _, a := range s.aliases() {
		add(a.Database, a.Name)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// named returns the collections that a name, "database.name", alias or id means. An id
// need not be known: its collection may be gone while segments are still there.
func (s *state) named(name string) map[model.CollectionID]bool {
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
