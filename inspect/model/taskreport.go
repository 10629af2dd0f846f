package model

import (
	"cmp"
	"slices"
	"time"
)

// TaskReport holds the facts about a Task that only the process with the task in memory reports.
type TaskReport struct {
	// Role and Node are the reporting session. At is the time of the report.
	Role string
	Node NodeID
	At   time.Time
	// State is the state in the process's terms, "" if not reported. The state in etcd may be older.
	State string
	// Source is the checker of QueryCoord that created the task. Priority is in QueryCoord's terms.
	Source, Priority string
	// Actions are the steps of the task in order, in QueryCoord's terms.
	Actions []string
	Replica ReplicaID
	// Rows and Bytes are the size of the task's input, 0 if not reported.
	Rows, Bytes int64
	// Took is the duration, 0 if not reported.
	Took time.Duration
	// Started and Ended are times as formatted by the process, in an unknown time zone.
	Started, Ended string
	// Mark distinguishes tasks with the same id.
	Mark string
}

// Reporter returns the name of the reporting session, e.g. "querycoord-3".
func (t *TaskReport) Reporter() string { return t.Node.Name(t.Role) }

// Name returns the unique name of a task: its type, its id and, if needed, its Mark.
func (t *Task) Name() string {
	name := t.Type + "/" + NodeID(t.ID).String()
	if t.Report != nil && t.Report.Mark != "" {
		name += "/" + t.Report.Mark
	}
	return name
}

// InEtcd reports whether a task has a record in etcd.
func (t *Task) InEtcd() bool { return t.Key != "" }

// AllTasks returns the tasks in etcd, merged with the reports of processes, and the tasks that only processes
// report.
func (c *Cluster) AllTasks() []*Task {
	if c.Runtime == nil || len(c.Runtime.Tasks) == 0 || c.cache == nil {
		return c.Tasks
	}
	c.cache.lock.Lock()
	defer c.cache.lock.Unlock()
	if c.cache.tasks == nil {
		c.cache.tasks = c.joinTasks()
	}
	return c.cache.tasks
}

func (c *Cluster) joinTasks() []*Task {
	byName := make(map[string]*Task, len(c.Runtime.Tasks))
	for _, t := range c.Runtime.Tasks {
		byName[t.Name()] = t
	}
	all, joined := make([]*Task, 0, len(c.Tasks)+len(c.Runtime.Tasks)), make(map[*Task]bool)
	for _, t := range c.Tasks {
		if told := byName[t.Name()]; told != nil && told.Collection == t.Collection {
			both := *t
			both.Report, t = told.Report, &both
			joined[told] = true
		}
		all = append(all, t)
	}
	for _, t := range c.Runtime.Tasks {
		if !joined[t] {
			all = append(all, c.withPlacement(t))
		}
	}
	slices.SortFunc(all, func(a, b *Task) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name(), b.Name()),
			cmp.Compare(a.Key, b.Key))
	})
	return all
}

// withPlacement returns the task with the collection, partition and vchannel of its segment if it has one segment and
// no collection.
func (c *Cluster) withPlacement(t *Task) *Task {
	if t.Collection != 0 || len(t.Segments) != 1 {
		return t
	}
	s := c.Segment(t.Segments[0])
	if s == nil {
		return t
	}
	whole := *t
	whole.Collection, whole.Partition, whole.VChannel = s.Collection, s.Partition, cmp.Or(t.VChannel, s.VChannel)
	return &whole
}
