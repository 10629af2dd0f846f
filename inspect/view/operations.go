package view

import "kitescope/inspect/model"

var configEntries = define(definition[*model.ConfigEntry]{
	Resource: Resource{
		Schema: Schema{
			Name: "config", Singular: "config-entry",
			Names:      []string{"name"},
			Handle:     "name",
			Shorthands: map[string]string{"key": "name"},
		},
		Aliases: []string{"configs", "configuration", "cfg"}, Kind: "ConfigEntry",
		Doc:   "Dynamic configuration keys that operators have set in etcd.",
		Needs: model.PartConfig,
	},
	rows: func(e *Env) []*model.ConfigEntry { return e.Cluster.Config },
	columns: []column[*model.ConfigEntry]{
		{
			Column: Column{Name: "name", Title: "NAME", Doc: "Name of the key, as written after config/."},
			cell:   func(_ *Env, c *model.ConfigEntry) Cell { return text(c.Name) },
		},
		{
			Column: Column{Name: "value", Title: "VALUE", Doc: "Its value, <redacted> where the name says that it is a secret."},
			cell:   func(_ *Env, c *model.ConfigEntry) Cell { return text(c.Value) },
		},
		{
			Column: Column{Name: "redacted", Title: "REDACTED", Kind: Bool, Show: Hidden, Doc: "The value is hidden."},
			cell:   func(_ *Env, c *model.ConfigEntry) Cell { return yesNo(c.Redacted) },
		},
		{
			Column: Column{Name: "mod_revision", Title: "REVISION", Kind: Int, Show: Wide, Priority: 1, Doc: "etcd revision at which it was last set, where the source knows it."},
			cell:   func(_ *Env, c *model.ConfigEntry) Cell { return someCount(c.ModRevision) },
		},
	},
	ref: func(_ *Env, c *model.ConfigEntry) Ref { return Ref{ID: c.Name, Name: c.Name} },
})

var tasks = define(definition[*model.Task]{
	Resource: Resource{
		Schema: Schema{
			Name: "tasks", Singular: "task",
			Names:      []string{"id"},
			Handle:     "id",
			Shorthands: collectionShorthands("age", "age_seconds"),
		},
		Aliases: []string{"jobs", "job"}, Kind: "Task",
		Doc:   "Background work that is kept in etcd: import, compaction, stats, analyze, broadcast (2.4 and later).",
		Needs: model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.Task { return e.Cluster.Tasks },
	columns: concat(
		[]column[*model.Task]{
			{
				Column: Column{Name: "id", Title: "ID", Kind: ID, Doc: "Task id."},
				cell:   func(_ *Env, t *model.Task) Cell { return id(t.ID) },
			},
			{
				Column: Column{Name: "type", Title: "TYPE", Doc: "import-job, preimport, import, compaction, stats, analyze or broadcast.", Vocabulary: true},
				cell:   func(_ *Env, t *model.Task) Cell { return text(t.Type) },
			},
			{
				Column: Column{Name: "sub_type", Title: "SUBTYPE", Priority: 3, Doc: "Kind of compaction or of stats: MixCompaction, Sort, ...", Vocabulary: true},
				cell:   func(_ *Env, t *model.Task) Cell { return text(t.SubType) },
			},
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
	{
		Column: Column{Name: "collection_id", Title: "COLLECTION ID", Kind: ID, Show: Hidden, Doc: "Id of the collection, none if the task has no single one."},
		cell:   func(_ *Env, t *model.Task) Cell { return someID(t.Collection) },
	},
	{
		Column: Column{Name: "collection", Title: "COLLECTION", Priority: 1, By: "collection_id", Doc: "Name of the collection."},
		cell:   func(e *Env, t *model.Task) Cell { return text(e.Cluster.CollectionName(t.Collection)) },
	},
	{
		Column: Column{Name: "database", Title: "DATABASE", Show: Wide, Priority: 6, Doc: "Name of the collection's database."},
		cell:   func(e *Env, t *model.Task) Cell { return databaseOf(e, t.Collection) },
	},
	{
		Column: Column{Name: "partition_id", Title: "PARTITION ID", Kind: ID, Show: Hidden, Doc: "Id of the partition, none if the task has no single one."},
		cell:   func(_ *Env, t *model.Task) Cell { return someID(t.Partition) },
	},
	{
		Column: Column{Name: "partition", Title: "PARTITION", Show: Wide, Priority: 6, Doc: "Name of the partition."},
		cell: func(e *Env, t *model.Task) Cell {
			if t.Partition == 0 {
				return none()
			}
			return text(e.Cluster.PartitionName(t.Partition))
		},
	},
}

var taskState = []column[*model.Task]{
	{
		Column: Column{Name: "state", Title: "STATE", Kind: State, Doc: "State in Milvus's words."},
		cell:   func(_ *Env, t *model.Task) Cell { return text(t.State) },
	},
	{
		Column: Column{Name: "progress", Title: "PROGRESS", Priority: 2, Doc: "How far it is, where recorded."},
		cell:   func(_ *Env, t *model.Task) Cell { return text(t.Progress) },
	},
	{
		Column: Column{Name: "node", Title: "NODE", Kind: ID, Priority: 3, Doc: "Id of the node that works on it."},
		cell:   func(_ *Env, t *model.Task) Cell { return someID(t.Node) },
	},
	{
		Column: Column{Name: "node_address", Title: "ADDRESS", Show: Hidden, Doc: "Address of that node, none if it has no session."},
		cell:   func(e *Env, t *model.Task) Cell { return text(nodeAddress(e, t.Node, "datanode", "indexnode")) },
	},
	{
		Column: Column{Name: "reason", Title: "REASON", Priority: 4, Doc: "Why it failed, as Milvus wrote it."},
		cell:   func(_ *Env, t *model.Task) Cell { return text(t.Reason) },
	},
	{
		Column: Column{Name: "age_seconds", Title: "AGE", Kind: Duration, Priority: 2, Doc: "Time since started_at."},
		cell:   func(e *Env, t *model.Task) Cell { return age(e, t.StartedAt) },
	},
}

var taskDetail = []column[*model.Task]{
	{
		Column: Column{Name: "trigger", Title: "TRIGGER", Kind: ID, Show: Hidden, Doc: "Of a compaction the trigger's id, of an import the job's."},
		cell:   func(_ *Env, t *model.Task) Cell { return someID(model.NodeID(t.Trigger)) },
	},
	{
		Column: Column{Name: "segments", Title: "SEGMENTS", Kind: List, Show: Hidden, Doc: "Ids of the segments that it reads."},
		cell:   func(_ *Env, t *model.Task) Cell { return ids(t.Segments) },
	},
	{
		Column: Column{Name: "results", Title: "RESULTS", Kind: List, Show: Hidden, Doc: "Ids of the segments that it makes."},
		cell:   func(_ *Env, t *model.Task) Cell { return ids(t.Results) },
	},
	{
		Column: Column{Name: "vchannel", Title: "VCHANNEL", Show: Wide, Priority: 6, Doc: "Virtual channel that it works on."},
		cell:   func(_ *Env, t *model.Task) Cell { return text(t.VChannel) },
	},
	{
		Column: Column{Name: "started_at", Title: "STARTED", Kind: Time, Show: Wide, Priority: 5, Doc: "When it started, where recorded."},
		cell:   func(_ *Env, t *model.Task) Cell { return at(t.StartedAt) },
	},
	{
		Column: Column{Name: "ended_at", Title: "ENDED", Kind: Time, Show: Wide, Priority: 5, Doc: "When it ended, where recorded."},
		cell:   func(_ *Env, t *model.Task) Cell { return at(t.EndedAt) },
	},
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
