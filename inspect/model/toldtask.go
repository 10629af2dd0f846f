package model

import (
	"cmp"
	"slices"
	"time"
)

// ToldTask is what only the process says of a Task that has it in memory.
type ToldTask struct {
	// Role and Node are the session that tells of it, At is when it did.
	Role string
	Node NodeID
	At   time.Time
	// State is in that process's words, "" if it does not say: etcd may have an older one.
	State string
	// Source is who made it: a checker of QueryCoord. Priority is QueryCoord's word.
	Source, Priority string
	// Actions are what it does, one after the other, in QueryCoord's words.
	Actions []string
	Replica ReplicaID
	// Rows and Bytes are what it works on, 0 if not said.
	Rows, Bytes int64
	// Took is how long it took, 0 if not said.
	Took time.Duration
	// Started and Ended are times as the process writes them, which does not say in which time zone.
	Started, Ended string
	// Mark tells tasks apart that have the same id.
	Mark string
}

// By is the name of the session that tells of it: "querycoord-3".
func (t *ToldTask) By() string { return t.Node.Name(t.Role) }

// Name tells a task from all others: its type, its id, and what else is needed.
func (t *Task) Name() string {
	name := t.Type + "/" + NodeID(t.ID).String()
	if t.Told != nil && t.Told.Mark != "" {
		name += "/" + t.Told.Mark
	}
	return name
}

// InEtcd reports whether a task has a record in etcd.
func (t *Task) InEtcd() bool { return t.Key != "" }

// AllTasks are the tasks of etcd, with what processes say of them, and those of which only processes say anything.
func (c *Cluster) AllTasks() []*Task {
	if c.Runtime == nil || len(c.Runtime.Tasks) == 0 || c.onces == nil {
		return c.Tasks
	}
	c.onces.lock.Lock()
	defer c.onces.lock.Unlock()
	if c.onces.tasks == nil {
		c.onces.tasks = c.joinTasks()
	}
	return c.onces.tasks
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
			both.Told, t = told.Told, &both
			joined[told] = true
		}
		all = append(all, t)
	}
	for _, t := range c.Runtime.Tasks {
		if !joined[t] {
			all = append(all, c.placed(t))
		}
	}
	slices.SortFunc(all, func(a, b *Task) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// placed adds to a task of one segment where that segment is, if who tells of it does not say.
func (c *Cluster) placed(t *Task) *Task {
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
