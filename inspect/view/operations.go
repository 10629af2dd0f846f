package view

import (
	"kitescope/inspect/model"
	"kitescope/table"
)

var configEntries = define(definition[*model.ConfigEntry]{
	Resource: Resource{
		Schema:  table.Schema{Name: "config", Singular: "config-entry", Names: []string{"name"}, Shorthands: map[string]string{"key": "name"}},
		Aliases: []string{"configs", "configuration", "cfg"},
		Doc:     "Dynamic configuration keys that operators have set in etcd.",
		Needs:   model.PartConfig,
	},
	rows: func(e *Env) []*model.ConfigEntry { return e.Cluster.Config },
	columns: []column[*model.ConfigEntry]{
		col(table.Column{Name: "name", Doc: "Name of the key, as written after config/."}, func(_ *Env, c *model.ConfigEntry) table.Cell { return text(c.Name) }),
		col(table.Column{Name: "value", Doc: "Its value, <redacted> where the name says that it is a secret."},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return text(c.Value) }),
		col(table.Column{Name: "redacted", Kind: table.Bool, Show: table.Hidden, Doc: "The value is hidden."},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return yesNo(c.Redacted) }),
		col(table.Column{Name: "mod_revision", Title: "REVISION", Kind: table.Int, Show: table.Wide, Priority: 1, Doc: "etcd revision at which it was last set, where the source knows it."},
			func(_ *Env, c *model.ConfigEntry) table.Cell { return someCount(c.ModRevision) }),
	},
	ref: func(_ *Env, c *model.ConfigEntry) Ref { return Ref{ID: c.Name, Name: c.Name} },
})

var tasks = define(definition[*model.Task]{
	Resource: Resource{
		Schema:  table.Schema{Name: "tasks", Names: []string{"id"}, Shorthands: collectionShorthands("age", "age_seconds")},
		Aliases: []string{"jobs", "job"},
		Doc:     "Background work that is kept in etcd: import, compaction, stats, analyze, broadcast (2.4 and later).",
		Needs:   model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.Task { return e.Cluster.Tasks },
	columns: concat(
		[]column[*model.Task]{
			col(table.Column{Name: "id", Kind: table.ID, Doc: "Task id."}, func(_ *Env, t *model.Task) table.Cell { return id(t.ID) }),
			col(table.Column{Name: "type", Doc: "import-job, preimport, import, compaction, stats, analyze or broadcast.", Vocabulary: true},
				func(_ *Env, t *model.Task) table.Cell { return text(t.Type) }),
			col(table.Column{Name: "sub_type", Title: "SUBTYPE", Priority: 3, Doc: "Kind of compaction or of stats: MixCompaction, Sort, ...", Vocabulary: true},
				func(_ *Env, t *model.Task) table.Cell { return text(t.SubType) }),
		},
		taskCollection, taskState, taskDetail,
	),
	ref: func(_ *Env, t *model.Task) Ref {
		return Ref{ID: t.Type + "/" + model.NodeID(t.ID).String(), Name: t.Type + " " + model.NodeID(t.ID).String()}
	},
	owner: func(e *Env, t *model.Task) (Ref, bool) {
		if t.Collection == 0 {
			return Ref{}, false
		}
		return collectionRef(e, t.Collection)
	},
	links: func(_ *Env, t *model.Task) []Link {
		if t.Collection == 0 {
			return nil
		}
		return []Link{link("segments", "segments", "collection_id="+t.Collection.String())}
	},
	sections: func(s *scope, t *model.Task) []Section {
		return []Section{
			section(s, "input segments", "segments", segmentsByID(s.Env, t.Segments)),
			section(s, "result segments", "segments", segmentsByID(s.Env, t.Results)),
		}
	},
	key: func(_ *Env, t *model.Task) string { return t.Key },
})

// taskCollection differs from collectionColumns: a broadcast has no collection.
var taskCollection = []column[*model.Task]{
	col(table.Column{Name: "collection_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the collection, none if the task has no single one."},
		func(_ *Env, t *model.Task) table.Cell { return someID(t.Collection) }),
	col(table.Column{Name: "collection", Priority: 1, By: "collection_id", Doc: "Name of the collection."},
		func(e *Env, t *model.Task) table.Cell { return text(e.Cluster.CollectionName(t.Collection)) }),
	col(table.Column{Name: "database", Show: table.Wide, Priority: 6, Doc: "Name of the collection's database."},
		func(e *Env, t *model.Task) table.Cell { return databaseOf(e, t.Collection) }),
	col(table.Column{Name: "partition_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the partition, none if the task has no single one."},
		func(_ *Env, t *model.Task) table.Cell { return someID(t.Partition) }),
	col(table.Column{Name: "partition", Show: table.Wide, Priority: 6, Doc: "Name of the partition."}, func(e *Env, t *model.Task) table.Cell {
		if t.Partition == 0 {
			return none()
		}
		return text(e.Cluster.PartitionName(t.Partition))
	}),
}

var taskState = []column[*model.Task]{
	col(table.Column{Name: "state", Kind: table.State, Doc: "State in Milvus's words."}, func(_ *Env, t *model.Task) table.Cell { return text(t.State) }),
	col(table.Column{Name: "progress", Priority: 2, Doc: "How far it is, where recorded."}, func(_ *Env, t *model.Task) table.Cell { return text(t.Progress) }),
	col(table.Column{Name: "node", Kind: table.ID, Priority: 3, Doc: "Id of the node that works on it."},
		func(_ *Env, t *model.Task) table.Cell { return someID(t.Node) }),
	col(table.Column{Name: "node_address", Title: "ADDRESS", Show: table.Hidden, Doc: "Address of that node, none if it has no session."},
		func(e *Env, t *model.Task) table.Cell { return text(nodeAddress(e, t.Node, "datanode", "indexnode")) }),
	col(table.Column{Name: "reason", Priority: 4, Doc: "Why it failed, as Milvus wrote it."}, func(_ *Env, t *model.Task) table.Cell { return text(t.Reason) }),
	col(table.Column{Name: "age_seconds", Kind: table.Duration, Priority: 2, Doc: "Time since started_at."},
		func(e *Env, t *model.Task) table.Cell { return age(e, t.StartedAt) }),
}

var taskDetail = []column[*model.Task]{
	col(table.Column{Name: "trigger", Kind: table.ID, Show: table.Hidden, Doc: "Of a compaction the trigger's id, of an import the job's."},
		func(_ *Env, t *model.Task) table.Cell { return someID(model.NodeID(t.Trigger)) }),
	col(table.Column{Name: "segments", Kind: table.List, Show: table.Hidden, Doc: "Ids of the segments that it reads."},
		func(_ *Env, t *model.Task) table.Cell { return ids(t.Segments) }),
	col(table.Column{Name: "results", Kind: table.List, Show: table.Hidden, Doc: "Ids of the segments that it makes."},
		func(_ *Env, t *model.Task) table.Cell { return ids(t.Results) }),
	col(table.Column{Name: "vchannel", Show: table.Wide, Priority: 6, Doc: "Virtual channel that it works on."},
		func(_ *Env, t *model.Task) table.Cell { return text(t.VChannel) }),
	col(table.Column{Name: "started_at", Title: "STARTED", Kind: table.Time, Show: table.Wide, Priority: 5, Doc: "When it started, where recorded."},
		func(_ *Env, t *model.Task) table.Cell { return at(t.StartedAt) }),
	col(table.Column{Name: "ended_at", Title: "ENDED", Kind: table.Time, Show: table.Wide, Priority: 5, Doc: "When it ended, where recorded."},
		func(_ *Env, t *model.Task) table.Cell { return at(t.EndedAt) }),
}

func segmentsByID(e *Env, list []model.SegmentID) []*model.Segment {
	var found []*model.Segment
	for _, id := range list {
		if s := e.Cluster.Segment(id); s != nil {
			found = append(found, s)
		}
	}
	return found
}
