package view

import (
	"strconv"

	"kitescope/inspect/model"
)

// targetRow is one shard of a collection's target.
type targetRow struct {
	*model.TargetVChannel
	target *model.Target
}

var targets = define(definition[targetRow]{
	Resource: Resource{
		Schema: Schema{
			Name: "targets", Singular: "target",
			Names:      []string{"vchannel"},
			Handle:     "vchannel",
			Shorthands: collectionShorthands("seek_age", "seek_age_seconds"),
		},
		Kind:  "Target",
		Doc:   "What QueryCoord last decided that the nodes should serve, by shard (2.4 and later).",
		Needs: model.PartObjects | model.PartChannels,
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
		[]column[targetRow]{{
			Column: Column{Name: "vchannel", Title: "VCHANNEL", Doc: "Virtual channel of the shard."},
			cell:   func(_ *Env, t targetRow) Cell { return text(t.Name) },
		}},
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
			list.Note = strconv.Itoa(n) + " more have left the metadata"
		}
		return []Section{list}
	},
	key: func(_ *Env, t targetRow) string { return t.target.Key },
})

var targetColumns = []column[targetRow]{
	{
		Column: Column{Name: "version", Title: "VERSION", Kind: ID, Show: Wide, Priority: 5, Doc: "Version of the target: a time in nanoseconds."},
		cell:   func(_ *Env, t targetRow) Cell { return id(model.NodeID(t.target.Version)) },
	},
	{
		Column: Column{Name: "segments", Title: "SEGMENTS", Kind: Int, Doc: "Sealed segments to be loaded."},
		cell:   func(_ *Env, t targetRow) Cell { return count(int64(len(t.Segments))) },
	},
	{
		Column: Column{Name: "rows", Title: "ROWS", Kind: Int, Doc: "Their rows."},
		cell:   func(_ *Env, t targetRow) Cell { return count(t.Rows) },
	},
	{
		Column: Column{Name: "growing", Title: "GROWING", Kind: Int, Priority: 2, Doc: "Segments that the shard's leader is told to keep growing."},
		cell:   func(_ *Env, t targetRow) Cell { return count(int64(len(t.Growing))) },
	},
	{
		Column: Column{Name: "dropped", Title: "DROPPED", Kind: Int, Priority: 3, Doc: "Segments that the shard's leader is told to forget."},
		cell:   func(_ *Env, t targetRow) Cell { return count(int64(len(t.Dropped))) },
	},
	{
		Column: Column{Name: "seek_at", Title: "SEEK", Kind: Time, Show: Wide, Priority: 4, Doc: "Time from which the leader consumes the channel."},
		cell:   func(_ *Env, t targetRow) Cell { return tso(t.SeekAt) },
	},
	{
		Column: Column{Name: "seek_age_seconds", Title: "SEEK AGE", Kind: Duration, Priority: 4, Doc: "Time since seek_at."},
		cell:   func(e *Env, t targetRow) Cell { return age(e, t.SeekAt.Time()) },
	},
	{
		Column: Column{Name: "segment_ids", Title: "SEGMENT IDS", Kind: List, Show: Hidden, Doc: "Ids of the sealed segments."},
		cell:   func(_ *Env, t targetRow) Cell { return ids(t.Segments) },
	},
	{
		Column: Column{Name: "growing_ids", Title: "GROWING IDS", Kind: List, Show: Hidden, Doc: "Ids of the growing segments."},
		cell:   func(_ *Env, t targetRow) Cell { return ids(t.Growing) },
	},
}
