package view

import (
	"cmp"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// usage is the space that some keys take in etcd.
type usage struct {
	keys       int64
	bytes, all int64 // bytes: keys and values; all: total of all rows
	kinds      map[string]int64
}

// usageRow is the usage of the keys of one collection. Collection 0 has the keys that name none.
type usageRow struct {
	usage
	collection model.CollectionID
}

var etcdUsage = define(definition[*usageRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "etcd-usage", Names: []string{"collection_id", "collection"},
			Shorthands: collectionShorthands(),
		},
		Aliases:  []string{"usage"},
		Doc:      "Space that each collection takes in etcd, largest first, without revisions kept until compaction.",
		Needs:    model.PartAll,
		Keyspace: true,
	},
	rows: usageRows,
	columns: concat([]column[*usageRow]{
		col(table.Column{
			Name: "collection_id", Kind: table.ID, Priority: 4,
			Doc: "Id of the collection; it may be gone. 0: keys that name no collection, such as sessions, users, " +
				"configuration and tasks.",
		},
			func(_ *Env, u *usageRow) table.Cell { return id(u.collection) }),
		col(table.Column{
			Name: "collection", IDColumn: "collection_id", Doc: "Name of the collection, none if it is gone.",
		},
			func(e *Env, u *usageRow) table.Cell { return text(e.Cluster.CollectionName(u.collection)) }),
		col(table.Column{
			Name: "database", Show: table.Wide, Priority: 5,
			Doc: "Name of the collection's database, none if the collection is gone.",
		},
			func(e *Env, u *usageRow) table.Cell { return databaseOf(e, u.collection) }),
		col(table.Column{Name: "keys", Kind: table.Int, Doc: "Keys that name it, by its id or its channel."},
			func(_ *Env, u *usageRow) table.Cell { return count(u.keys) }),
	}, usageColumns(func(u *usageRow) *usage { return &u.usage }), []column[*usageRow]{
		col(table.Column{
			Name: "segments", Kind: table.Int, Priority: 3,
			Doc: "Recorded segments, including dropped ones.",
		},
			func(e *Env, u *usageRow) table.Cell { return u.segments(e) }),
	}),
	ref: func(e *Env, u *usageRow) Ref {
		return Ref{ID: u.collection.String(), Name: e.Cluster.CollectionName(u.collection)}
	},
	owner: func(e *Env, u *usageRow) (Ref, bool) {
		if u.collection == 0 {
			return Ref{}, false
		}
		return collectionRef(e, u.collection)
	},
	links: func(_ *Env, u *usageRow) []Link {
		if u.collection == 0 {
			return []Link{link("keys", "keys", "collection_id=")}
		}
		return []Link{link("keys", "keys", "collection_id="+u.collection.String())}
	},
})

// usageColumns returns the columns of resources that add up keys.
func usageColumns[T any](of func(T) *usage) []column[T] {
	return []column[T]{
		col(table.Column{Name: "size_bytes", Kind: table.Bytes, Doc: "Bytes of these keys and their values."},
			func(_ *Env, x T) table.Cell { return count(of(x).bytes) }),
		col(table.Column{Name: "percent", Title: "SHARE", Kind: table.Percent, Doc: "Share of the bytes of all keys."},
			func(_ *Env, x T) table.Cell { return percent(of(x).bytes, of(x).all) }),
		col(table.Column{Name: "mostly", Priority: 1, Doc: "The kind of key that takes most space."},
			func(_ *Env, x T) table.Cell { return text(of(x).largestKind()) }),
		col(table.Column{
			Name: "mostly_bytes", Kind: table.Bytes, Show: table.Wide, Priority: 2,
			Doc: "Bytes of the keys of that kind and of their values.",
		},
			func(_ *Env, x T) table.Cell { return count(of(x).kinds[of(x).largestKind()]) }),
	}
}

func usageRows(e *Env) []*usageRow {
	space := e.Cluster.Keyspace
	if space == nil {
		return nil
	}
	of := map[model.CollectionID]*usageRow{}
	var all int64
	for i := range space.Len() {
		info, collection := space.Info(i), space.Collection(i)
		u := of[collection]
		if u == nil {
			u = &usageRow{collection: collection}
			of[collection] = u
		}
		all += u.count(info)
	}
	rows := make([]*usageRow, 0, len(of))
	for _, u := range of {
		u.all = all
		rows = append(rows, u)
	}
	slices.SortFunc(rows, func(a, b *usageRow) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.collection, b.collection))
	})
	return rows
}

// count adds a key and returns its size in bytes.
func (u *usage) count(info model.KeyInfo) int64 {
	if u.kinds == nil {
		u.kinds = map[string]int64{}
	}
	bytes := int64(len(info.Key) + info.Size)
	u.keys++
	u.bytes += bytes
	u.kinds[cmp.Or(info.Kind, "unknown")] += bytes
	return bytes
}

// add adds the keys of another usage.
func (u *usage) add(more *usage) {
	if u.kinds == nil {
		u.kinds = map[string]int64{}
	}
	u.keys += more.keys
	u.bytes += more.bytes
	for kind, bytes := range more.kinds {
		u.kinds[kind] += bytes
	}
}

// largestKind returns the kind of key that takes the most bytes. Of kinds with equal sizes it returns the first by
// name.
func (u *usage) largestKind() (kind string) {
	for name, bytes := range u.kinds {
		if most := u.kinds[kind]; kind == "" || bytes > most || bytes == most && name < kind {
			kind = name
		}
	}
	return kind
}

func (u *usageRow) segments(e *Env) table.Cell {
	if u.collection == 0 {
		return none()
	}
	return count(int64(len(e.Cluster.SegmentsOf(u.collection))))
}
