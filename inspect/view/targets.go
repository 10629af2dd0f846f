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
		Schema: Schema{Name: "targets", Names: []string{"vchannel"}, Shorthands: collectionShorthands("seek_age", "seek_age_seconds")},
		Doc:    "What QueryCoord last decided that the nodes should serve, by shard (2.4 and later).",
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
		[]column[targetRow]{col(Column{Name: "vchannel", Doc: "Virtual channel of the shard."}, func(_ *Env, t targetRow) Cell { return text(t.Name) })},
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
	col(Column{Name: "version", Kind: ID, Show: Wide, Priority: 5, Doc: "Version of the target: a time in nanoseconds."},
		func(_ *Env, t targetRow) Cell { return id(model.NodeID(t.target.Version)) }),
	col(Column{Name: "segments", Kind: Int, Doc: "Sealed segments to be loaded."},
		func(_ *Env, t targetRow) Cell { return count(int64(len(t.Segments))) }),
	col(Column{Name: "rows", Kind: Int, Doc: "Their rows."}, func(_ *Env, t targetRow) Cell { return count(t.Rows) }),
	col(Column{Name: "growing", Kind: Int, Priority: 2, Doc: "Segments that the shard's leader is told to keep growing."},
		func(_ *Env, t targetRow) Cell { return count(int64(len(t.Growing))) }),
	col(Column{Name: "dropped", Kind: Int, Priority: 3, Doc: "Segments that the shard's leader is told to forget."},
		func(_ *Env, t targetRow) Cell { return count(int64(len(t.Dropped))) }),
	col(Column{Name: "seek_at", Title: "SEEK", Kind: Time, Show: Wide, Priority: 4, Doc: "Time from which the leader consumes the channel."},
		func(_ *Env, t targetRow) Cell { return tso(t.SeekAt) }),
	col(Column{Name: "seek_age_seconds", Kind: Duration, Priority: 4, Doc: "Time since seek_at."},
		func(e *Env, t targetRow) Cell { return age(e, t.SeekAt.Time()) }),
	col(Column{Name: "segment_ids", Kind: List, Show: Hidden, Doc: "Ids of the sealed segments."},
		func(_ *Env, t targetRow) Cell { return ids(t.Segments) }),
	col(Column{Name: "growing_ids", Kind: List, Show: Hidden, Doc: "Ids of the growing segments."},
		func(_ *Env, t targetRow) Cell { return ids(t.Growing) }),
}
