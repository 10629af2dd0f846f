package view

import (
	"fmt"
	"maps"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// ofProcess are the columns of nodes whose figures are of the whole process.
var ofProcess = []string{"cpu_percent", "memory_bytes", "resident_bytes", "memory_limit_bytes"}

// sameProcess is a session that nobody asked, as far as another of its process tells of it: a process takes one server id for all of its
// roles. nil if none does.
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

// OneProcess says which rows of a table of nodes are one process and show its figures each, as if they were to be added up. "" if none are.
func OneProcess(g *Grid) string {
	r := g.Table.Resource()
	if r.Name != nodes.Name {
		return ""
	}
	shown := slices.DeleteFunc(slices.Clone(g.Columns), func(j int) bool { return !slices.Contains(ofProcess, r.Columns[j].Name) })
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
