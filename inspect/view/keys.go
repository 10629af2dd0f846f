package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// keyRow is the position of a key in the keyspace. The key is described only on demand.
type keyRow int

var keys = define(definition[keyRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "keys", Names: []string{"key"}, Slashes: true, Shorthands: collectionShorthands("name", "key"),
		},
		Aliases:  []string{"raw"},
		Doc:      "Raw keys of the store; values are decoded on demand.",
		Needs:    model.PartAll,
		Keyspace: true,
	},
	rows: func(e *Env) []keyRow {
		if e.Cluster.Keyspace == nil {
			return nil
		}
		rows := make([]keyRow, e.Cluster.Keyspace.Len())
		for i := range rows {
			rows[i] = keyRow(i)
		}
		return rows
	},
	columns: []column[keyRow]{
		col(table.Column{Name: "key", Doc: "The absolute key."}, func(e *Env, k keyRow) table.Cell {
			return text(k.info(e).Key)
		}),
		col(table.Column{Name: "kind", Priority: 1, Doc: "Kind of the key, none if no pattern matches it."},
			func(e *Env, k keyRow) table.Cell { return text(k.info(e).Kind) }),
		col(table.Column{Name: "size_bytes", Kind: table.Bytes, Priority: 2, Doc: "Bytes of the value."},
			func(e *Env, k keyRow) table.Cell { return count(int64(k.info(e).Size)) }),
		col(table.Column{
			Name: "mod_revision", Title: "REVISION", Kind: table.Int, Priority: 3,
			Doc: "etcd revision at which it was last written, where the source knows it.",
		},
			func(e *Env, k keyRow) table.Cell { return countOrNone(k.info(e).ModRevision) }),
		col(table.Column{Name: "lease", Kind: table.ID, Show: table.Wide, Priority: 4, Doc: "etcd lease of the key."},
			func(e *Env, k keyRow) table.Cell { return idOrNone(model.NodeID(k.info(e).Lease)) }),
		col(table.Column{
			Name: "tombstone", Kind: table.Bool, Show: table.Wide, Priority: 4,
			Doc: "RootCoord marked an older value as deleted.",
		},
			func(e *Env, k keyRow) table.Cell { return yesNo(k.info(e).Tombstone) }),
		col(table.Column{
			Name: "collection_id", Kind: table.ID, Show: table.OnDemand,
			Doc: "Id of the collection in the key, by its id or its channel.",
		},
			func(e *Env, k keyRow) table.Cell { return idOrNone(e.Cluster.Keyspace.Collection(int(k))) }),
		col(table.Column{
			Name: "collection", Show: table.Wide, Priority: 5, IDColumn: "collection_id",
			Doc: "Name of that collection, none if it is gone.",
		},
			func(e *Env, k keyRow) table.Cell {
				return text(e.Cluster.CollectionName(e.Cluster.Keyspace.Collection(int(k))))
			}),
		col(table.Column{
			Name: "message", Show: table.OnDemand,
			Doc: "Name of the protobuf message, or json, text, int, time, binary.",
		},
			func(e *Env, k keyRow) table.Cell { return text(k.record(e).Message) }),
		col(table.Column{
			Name: "value", Show: table.OnDemand,
			Doc: "The decoded value: JSON of messages, the text itself, or hex; secrets redacted.",
		},
			func(e *Env, k keyRow) table.Cell { return text(k.record(e).Text) }),
		col(table.Column{
			Name: "problem", Show: table.OnDemand,
			Doc: "Why the value could not be decoded, or which parts are unknown.",
		},
			func(e *Env, k keyRow) table.Cell { return text(k.record(e).Problem) }),
	},
	find: func(e *Env, id string) (int, bool) {
		if e.Cluster.Keyspace == nil {
			return 0, false
		}
		return e.Cluster.Keyspace.Find(id)
	},
	ref: func(e *Env, k keyRow) Ref {
		key := k.info(e).Key
		return Ref{ID: key, Name: key}
	},
	key: func(e *Env, k keyRow) string { return k.info(e).Key },
})

func (k keyRow) info(e *Env) model.KeyInfo  { return e.Cluster.Keyspace.Info(int(k)) }
func (k keyRow) record(e *Env) model.Record { return e.Cluster.Keyspace.Record(int(k)) }

var undecoded = define(definition[*model.Undecoded]{
	Resource: Resource{
		Schema: table.Schema{Name: "undecoded", Singular: "undecoded-key", Names: []string{"key"}},
		Doc:    "Keys without a decoder, and records with fields unknown to their decoder.",
		Needs:  model.PartAll,
	},
	rows: func(e *Env) []*model.Undecoded { return e.Cluster.Undecoded },
	columns: []column[*model.Undecoded]{
		col(table.Column{Name: "key", Doc: "The absolute key."}, func(_ *Env, u *model.Undecoded) table.Cell {
			return text(u.Key)
		}),
		col(table.Column{
			Name: "reason",
			Doc:  "Why it was not decoded, or which parts were not.",
		},
			func(_ *Env, u *model.Undecoded) table.Cell { return text(u.Reason) }),
		col(table.Column{Name: "size_bytes", Kind: table.Bytes, Priority: 1, Doc: "Bytes of the value."},
			func(_ *Env, u *model.Undecoded) table.Cell { return count(int64(u.Size)) }),
	},
	ref: func(_ *Env, u *model.Undecoded) Ref { return Ref{ID: u.Key + ": " + u.Reason, Name: u.Key} },
	key: func(_ *Env, u *model.Undecoded) string { return u.Key },
})
