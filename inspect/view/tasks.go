package view

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

var tasks = define(definition[*model.Task]{
	Resource: Resource{
		Schema:  table.Schema{Name: "tasks", Names: []string{"id"}, Shorthands: collectionShorthands()},
		Aliases: []string{"jobs", "job"},
		Doc:     "Background work in etcd: import, compaction, stats, ...; with --live also tasks in process memory.",
		Needs:   model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.Task { return e.Cluster.AllTasks() },
	columns: concat(
		[]column[*model.Task]{
			col(table.Column{Name: "id", Kind: table.ID, Doc: "Task id; for a sync, the segment id."},
				func(_ *Env, t *model.Task) table.Cell { return id(t.ID) }),
			col(table.Column{
				Name: "type", Vocabulary: true,
				Doc: "import-job, preimport, import, compaction, stats, analyze, broadcast, copy-segment-job, " +
					"copy-segment, export-snapshot-job, external-refresh-job or external-refresh in etcd; in memory " +
					"segment-task, channel-task and leader-task of QueryCoord, index-build, compaction, preimport " +
					"and import of DataCoord, sync of a data node.",
			}, func(_ *Env, t *model.Task) table.Cell { return text(t.Type) }),
			col(table.Column{
				Name: "sub_type", Title: "SUBTYPE", Priority: 3,
				Doc: "Kind of compaction or of stats: MixCompaction, Sort, ...; of QueryCoord's tasks Grow " +
					"(load), Reduce (release), Move (balance); of a sync the segment's level.",
				Vocabulary: true,
			},
				func(_ *Env, t *model.Task) table.Cell { return text(t.SubType) }),
		},
		taskCollection, taskState, taskDetail, taskReports,
	),
	ref: func(_ *Env, t *model.Task) Ref {
		return Ref{ID: t.Name(), Name: t.Type + " " + model.NodeID(t.ID).String()}
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

// taskCollection is used instead of collectionColumns because a broadcast has no collection.
var taskCollection = []column[*model.Task]{
	col(table.Column{
		Name: "collection_id", Kind: table.ID, Show: table.Hidden,
		Doc: "Id of the collection, none if the task has no single one.",
	},
		func(_ *Env, t *model.Task) table.Cell { return idOrNone(t.Collection) }),
	col(table.Column{Name: "collection", Priority: 1, IDColumn: "collection_id", Doc: "Name of the collection."},
		func(e *Env, t *model.Task) table.Cell { return text(e.Cluster.CollectionName(t.Collection)) }),
	col(table.Column{Name: "database", Show: table.Wide, Priority: 6, Doc: "Name of the collection's database."},
		func(e *Env, t *model.Task) table.Cell { return databaseOf(e, t.Collection) }),
	col(table.Column{
		Name: "partition_id", Kind: table.ID, Show: table.Hidden,
		Doc: "Id of the partition, none if the task has no single one.",
	},
		func(_ *Env, t *model.Task) table.Cell { return idOrNone(t.Partition) }),
	col(table.Column{Name: "partition", Show: table.Wide, Priority: 6, Doc: "Name of the partition."},
		func(e *Env, t *model.Task) table.Cell {
			if t.Partition == 0 {
				return none()
			}
			return text(e.Cluster.PartitionName(t.Partition))
		}),
}

var taskState = []column[*model.Task]{
	col(table.Column{
		Name: "state", Kind: table.State,
		Doc: "State as named by Milvus.",
	},
		func(_ *Env, t *model.Task) table.Cell { return text(t.State) }),
	col(table.Column{
		Name: "progress", Priority: 2,
		Doc: "Progress, if recorded or reported; applied: the collection shows the data of a refresh.",
	},
		func(_ *Env, t *model.Task) table.Cell { return text(t.Progress) }),
	col(table.Column{Name: "node", Kind: table.NamedID, Priority: 3, Doc: "The node that works on it."},
		func(e *Env, t *model.Task) table.Cell { return nodeCell(e, t.Node, "", "datanode", "indexnode") }),
	col(table.Column{
		Name: "node_address", Title: "ADDRESS", Show: table.Hidden,
		Doc: "Address of that node, none if it has no session.",
	},
		func(e *Env, t *model.Task) table.Cell { return text(nodeAddress(e, t.Node, "datanode", "indexnode")) }),
	col(table.Column{
		Name: "reason", Priority: 4, Doc: "Why it failed, from Milvus; for QueryCoord tasks why it was created.",
	}, func(_ *Env, t *model.Task) table.Cell { return text(t.Reason) }),
	col(table.Column{Name: "age_seconds", Kind: table.Duration, Priority: 2, Doc: "Time since started_at."},
		func(e *Env, t *model.Task) table.Cell { return age(e, t.StartedAt) }),
}

var taskDetail = []column[*model.Task]{
	col(table.Column{
		Name: "trigger", Kind: table.ID, Show: table.Hidden,
		Doc: "For a compaction the id of its trigger, for an import the id of its job.",
	},
		func(_ *Env, t *model.Task) table.Cell { return idOrNone(model.NodeID(t.Trigger)) }),
	col(table.Column{Name: "segments", Kind: table.List, Show: table.Hidden, Doc: "Ids of the segments that it reads."},
		func(_ *Env, t *model.Task) table.Cell { return ids(t.Segments) }),
	col(table.Column{
		Name: "results", Kind: table.List, Show: table.Hidden,
		Doc: "Ids of the segments that it creates.",
	},
		func(_ *Env, t *model.Task) table.Cell { return ids(t.Results) }),
	col(table.Column{
		Name: "details", Rare: true, Kind: table.List, Show: table.Wide, Priority: 7,
		Doc: "Other values in its record, as name=value: retries, state_since, ready_vchannels, ...",
	},
		func(_ *Env, t *model.Task) table.Cell { return list(t.Details) }),
	col(table.Column{
		Name: "snapshot", Rare: true, Show: table.Hidden, Doc: "The snapshot that it restores or exports (3.0).",
	},
		func(_ *Env, t *model.Task) table.Cell { return text(t.Snapshot) }),
	col(table.Column{Name: "vchannel", Show: table.Wide, Priority: 6, Doc: "Virtual channel that it works on."},
		func(_ *Env, t *model.Task) table.Cell { return text(t.VChannel) }),
	col(table.Column{
		Name: "started_at", Title: "STARTED", Kind: table.Time, Show: table.Wide, Priority: 5,
		Doc: "Start time, if recorded: QueryCoord does not report it; see also told_started.",
	},
		func(_ *Env, t *model.Task) table.Cell { return timeCell(t.StartedAt) }),
	col(table.Column{
		Name: "ended_at", Title: "ENDED", Kind: table.Time, Show: table.Wide, Priority: 5,
		Doc: "When it ended, where recorded.",
	},
		func(_ *Env, t *model.Task) table.Cell { return timeCell(t.EndedAt) }),
}

// taskReports holds the columns with the sources of a task, and the data that only the process has in memory.
var taskReports = []column[*model.Task]{
	col(table.Column{
		Name: "known_from", Title: "KNOWN FROM", Kind: table.List, Show: table.Hidden, Priority: 5,
		Doc: "etcd, the session of the process that has it in memory, or both. Processes also report ended tasks, " +
			"for up to half an hour, and only the last 32 to 1,024.",
	}, func(_ *Env, t *model.Task) table.Cell {
		var sources []string
		if t.InEtcd() {
			sources = append(sources, "etcd")
		}
		if t.Report != nil {
			sources = append(sources, t.Report.Reporter())
		}
		return list(sources)
	}).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "told_state", Kind: table.State, Show: table.Hidden,
		Doc: "State in the memory of the process: newer than in etcd if they differ. Unknown for a task that is only " +
			"in etcd.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return text(t.State) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "source", Show: table.Hidden,
		Doc: "Which checker of QueryCoord made the task: segment_checker, balance_checker, ...", Vocabulary: true,
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return text(t.Source) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "priority", Show: table.Hidden, Doc: "QueryCoord's priority of the task: Low, Normal, High.",
		Vocabulary: true,
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return text(t.Priority) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "actions", Kind: table.List, Show: table.Hidden,
		Doc: "Actions of QueryCoord's task, in order, as it names them.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return list(t.Actions) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "replica_id", Kind: table.ID, Show: table.Hidden, Doc: "Replica that QueryCoord's task is for.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return idOrNone(t.Replica) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "rows", Kind: table.Int, Show: table.Hidden, Doc: "Rows it works on, if reported by the process.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return countOrNone(t.Rows) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes written, if reported by the process: for an index its size in memory.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return countOrNone(t.Bytes) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "took_seconds", Kind: table.Duration, Show: table.Hidden,
		Doc: "How long a sync took, none while it runs.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return countOrNone(int64(t.Took)) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "told_started", Show: table.Hidden,
		Doc: "Start time as the process writes it: in its own, unnamed time zone.",
	},
		reportColumn(func(t *model.TaskReport) table.Cell { return text(t.Started) })).withNeeds(model.PartRuntime),
	col(table.Column{Name: "told_ended", Show: table.Hidden, Doc: "When it ended, likewise."},
		reportColumn(func(t *model.TaskReport) table.Cell { return text(t.Ended) })).withNeeds(model.PartRuntime),
}

// reportColumn returns a column function for a process's report of a task. The cell is unknown without a report.
func reportColumn(cell func(*model.TaskReport) table.Cell) func(*Env, *model.Task) table.Cell {
	return func(_ *Env, t *model.Task) table.Cell {
		if t.Report == nil {
			return unknown()
		}
		return cell(t.Report)
	}
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

// MissingTasks returns a note for a table of tasks with the processes whose tasks in memory are unknown, though
// they were or could have been queried. It returns "" if none are missing or no process was queried.
func MissingTasks(g *Grid) string {
	r := g.Table.Env().Cluster.Runtime
	if g.Table.Resource().Name != tasks.Name || r == nil {
		return ""
	}
	var lacking []string
	for _, n := range r.Nodes {
		for i := range n.Calls {
			if c := &n.Calls[i]; c.OfTasks() && c.Outcome != model.Answered {
				lacking = append(lacking, c.About+" of "+n.Name()+" ("+c.Outcome.String()+")")
			}
		}
	}
	for _, s := range r.Skipped {
		if strings.Contains(s.What, "_tasks of ") || strings.HasPrefix(s.What, "tasks_all of ") {
			lacking = append(lacking, s.What+" ("+s.Reason+")")
		}
	}
	switch {
	case len(lacking) > 0:
		return "tasks in memory are unknown in part: " + words.Summarize(lacking)
	case r.Tasks == nil:
		return "tasks in memory unknown: processes report them only since Milvus 2.5"
	}
	return ""
}
