package view

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// targetRow is one shard of the target of a collection.
type targetRow struct {
	*model.TargetVChannel
	target *model.Target
}

var targets = define(definition[targetRow]{
	Resource: Resource{
		Schema: table.Schema{Name: "targets", Names: []string{"vchannel"}, Shorthands: collectionShorthands()},
		Doc:    "QueryCoord's latest decision on what the nodes should serve, by shard (2.4 and later).",
		Needs:  model.PartObjects | model.PartChannels,
	},
	rows: func(e *Env) []targetRow {
		var rows []targetRow
		for _, t := range e.Cluster.Targets {
			for i := range t.VChannels {
				rows = append(rows, targetRow{&t.VChannels[i], t})
			}
		}
		return rows
	},
	columns: concat(
		[]column[targetRow]{
			col(table.Column{Name: "vchannel", Doc: "Virtual channel of the shard."},
				func(_ *Env, t targetRow) table.Cell { return text(t.Name) }),
		},
		collectionColumns(func(t targetRow) model.CollectionID { return t.target.Collection }),
		targetColumns,
	),
	ref:   func(_ *Env, t targetRow) Ref { return Ref{ID: t.Name, Name: t.Name} },
	owner: func(e *Env, t targetRow) (Ref, bool) { return collectionRef(e, t.target.Collection) },
	links: func(_ *Env, t targetRow) []Link {
		return []Link{link("segments", "segments", "vchannel="+t.Name), link("vchannel", "vchannels", "name="+t.Name)}
	},
	sections: func(s *scope, t targetRow) []Section {
		found := segmentsByID(s.Env, t.Segments)
		list := section(s, "sealed segments", "segments", found)
		if n := len(t.Segments) - len(found); n > 0 {
			list.Note = strconv.Itoa(n) + " more no longer in the metadata"
		}
		return []Section{list}
	},
	key: func(_ *Env, t targetRow) string { return t.target.Key },
})

var targetColumns = []column[targetRow]{
	col(table.Column{
		Name: "version", Kind: table.ID, Show: table.Wide, Priority: 5,
		Doc: "Version of the target: a time in nanoseconds.",
	},
		func(_ *Env, t targetRow) table.Cell { return id(model.NodeID(t.target.Version)) }),
	col(table.Column{Name: "segments", Kind: table.Int, Doc: "Sealed segments to be loaded."},
		func(_ *Env, t targetRow) table.Cell { return count(int64(len(t.Segments))) }),
	col(table.Column{Name: "rows", Kind: table.Int, Doc: "Their rows."}, func(_ *Env, t targetRow) table.Cell {
		return count(t.Rows)
	}),
	col(table.Column{
		Name: "growing", Kind: table.Int, Priority: 2, Doc: "Segments the shard leader should keep growing.",
	},
		func(_ *Env, t targetRow) table.Cell { return count(int64(len(t.Growing))) }),
	col(table.Column{Name: "dropped", Kind: table.Int, Priority: 3, Doc: "Segments the shard leader should forget."},
		func(_ *Env, t targetRow) table.Cell { return count(int64(len(t.Dropped))) }),
	col(table.Column{
		Name: "seek_at", Title: "SEEK", Kind: table.Time, Show: table.Wide, Priority: 4,
		Doc: "Time from which the leader consumes the channel.",
	},
		func(_ *Env, t targetRow) table.Cell { return tso(t.SeekAt) }),
	col(table.Column{Name: "seek_age_seconds", Kind: table.Duration, Priority: 4, Doc: "Time since seek_at."},
		func(e *Env, t targetRow) table.Cell { return age(e, t.SeekAt.Time()) }),
	col(table.Column{Name: "segment_ids", Kind: table.List, Show: table.Hidden, Doc: "Ids of the sealed segments."},
		func(_ *Env, t targetRow) table.Cell { return ids(t.Segments) }),
	col(table.Column{Name: "growing_ids", Kind: table.List, Show: table.Hidden, Doc: "Ids of the growing segments."},
		func(_ *Env, t targetRow) table.Cell { return ids(t.Growing) }),
}
