package view

import (
	"fmt"
	"maps"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// processColumns lists the columns of nodes whose values are of the whole process.
var processColumns = []string{"cpu_percent", "memory_bytes", "resident_bytes", "memory_limit_bytes"}

// sameProcess returns the data of a session that was not queried from another session of its process: all
// roles of a process share one server id. It returns nil if there is none.
func sameProcess(e *Env, s *model.Session) *model.LiveNode {
	if e.Cluster.Runtime == nil {
		return nil
	}
	for _, n := range e.Cluster.Runtime.Nodes {
		if n.Node == s.Node && n.Process != nil {
			return &model.LiveNode{Role: s.Role, Node: s.Node, Address: s.Address, Process: n.Process}
		}
	}
	return nil
}

// SharedProcessWarning returns a warning not to add up columns of nodes if several rows are one process and each shows
// the values of the whole process. Otherwise it returns "".
func SharedProcessWarning(g *Grid) string {
	r := g.Table.Resource()
	if r.Name != nodes.Name {
		return ""
	}
	shown := slices.DeleteFunc(slices.Clone(g.Columns), func(j int) bool {
		return !slices.Contains(processColumns, r.Columns[j].Name)
	})
	id := slices.IndexFunc(r.Columns, func(c table.Column) bool { return c.Name == "id" })
	rows := map[int64]int{}
	for i := range g.Len() {
		if slices.ContainsFunc(shown, func(j int) bool { return g.Table.Cell(g.Row(i), j).Absent == table.Present }) {
			rows[g.Table.Cell(g.Row(i), id).Int]++
		}
	}
	maps.DeleteFunc(rows, func(_ int64, n int) bool { return n < 2 })
	if len(rows) == 0 {
		return ""
	}
	var titles []string
	for _, j := range shown {
		titles = append(titles, r.Columns[j].Title)
	}
	first := slices.Sorted(maps.Keys(rows))[0]
	text := fmt.Sprintf("the %d sessions of id %d are one process", rows[first], first)
	if len(rows) > 1 {
		text = fmt.Sprintf("sessions with the same id are one process, like the %d with id %d", rows[first], first)
	}
	return text + ": do not add up their " + words.List("and", titles...)
}
