package clusters

import (
	"math"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// shareRow is the share of a node in a replica, or in all replicas if group is nil.
type shareRow struct {
	*balance.Share
	group *balance.Group
}

// shareTable is a table of shares.
type shareTable struct {
	*table.Rows[shareRow]
	survey *balance.Survey
	o      *render.Options
	// total is the sum of the costs of all rows; maxCost is the largest cost.
	total, maxCost float64
	totalRows      int64
	// partial is set if the rows of some node are unknown. Then no share of the whole is known.
	partial bool
}

func newShareTable(b *Balance, rows []shareRow, o *render.Options) *shareTable {
	t := &shareTable{survey: b.Report.Survey, o: o}
	t.Rows = table.New(table.Schema{Name: "shares", Singular: "share", Handle: "node"}, rows, t.columns())
	for _, r := range rows {
		t.partial = t.partial || t.survey.Rowless(r.Share)
		if r.Known {
			t.total += r.Cost
			t.maxCost = max(t.maxCost, r.Cost)
			t.totalRows += r.Rows()
		}
	}
	return t
}

// shareList returns the shares of all replicas as a list that names the replica of each.
func shareList(b *Balance, rows []shareRow, o *render.Options) *table.Rows[shareRow] {
	t := newShareTable(b, rows, o)
	columns := t.columns()
	for i := range columns {
		if c := &columns[i]; c.Show == table.OnDemand {
			c.Show, c.Title = table.Hidden, strings.ToUpper(strings.ReplaceAll(c.Name, "_", " "))
		}
		if columns[i].Name == "collection" {
			columns[i].Show = table.Always
		}
	}
	return table.New(*t.Schema(), rows, columns)
}

// need is the data about a node that a figure requires.
type need uint8

// Each need includes the needs before it, except needReport.
const (
	needSegments need = iota // the segments that the node serves
	needRows                 // and their rows
	needFields               // and the fields of its collections: without them the cost is 0
	needReport               // the segments as reported by the node, not from its metrics
)

// known reports whether the data that a figure requires is known for a share.
func (t *shareTable) known(r shareRow, n need) bool {
	switch {
	case !r.Known, n == needReport && r.FromMetrics, n == needFields && r.Cost == 0 && r.Rows() > 0:
		return false
	}
	return n != needRows && n != needFields || !t.survey.Rowless(r.Share)
}

// figure returns a function that returns the cell of a number. The cell is unknown if the required data is.
func (t *shareTable) figure(n need, get func(shareRow) int64) func(shareRow) table.Cell {
	return func(r shareRow) table.Cell {
		if !t.known(r, n) {
			return table.OfUnknown()
		}
		return table.OfInt(get(r))
	}
}

// percentage returns a function that returns the cell of a percentage of a whole. The cell is empty if the
// whole is 0.
func (t *shareTable) percentage(get func(shareRow) (part, whole float64)) func(shareRow) table.Cell {
	return func(r shareRow) table.Cell {
		part, whole := get(r)
		switch {
		case !t.known(r, needFields):
			return table.OfUnknown()
		case whole <= 0:
			return table.OfNone()
		}
		return table.OfFloat(100 * part / whole)
	}
}

// columns returns the columns of shares, in order.
func (t *shareTable) columns() []table.ColumnOf[shareRow] {
	var list []table.ColumnOf[shareRow]
	add := func(
		name, title string, kind table.Kind, show table.Show, priority int, cell func(shareRow) table.Cell, doc string,
	) {
		list = append(list, table.ColumnOf[shareRow]{
			Column: table.Column{Name: name, Title: title, Kind: kind, Show: show, Priority: priority, Doc: doc},
			Cell:   cell,
		})
	}
	t.names(add)
	people := func(name, title string, cell func(shareRow) string) {
		add(name, title, table.Text, table.Always, 0, func(r shareRow) table.Cell { return table.Of(cell(r)) }, "")
		list[len(list)-1].For = table.People
	}
	add("node", "", table.ID, table.Hidden, 0, func(r shareRow) table.Cell { return table.OfInt(int64(r.Node)) },
		"Server id of the query node.")
	people("label", "NODE", t.label)
	t.states(add)
	t.figures(add)
	t.costs(add)
	people("bar", "SPLIT", func(r shareRow) string {
		if !t.known(r, needFields) {
			return words.UnknownMark
		}
		return costBar(r.Share, t.maxCost, t.o)
	})
	return list
}

type addColumn func(
	name, title string, kind table.Kind, show table.Show, priority int, cell func(shareRow) table.Cell, doc string,
)

// names adds the columns that name the replica.
func (t *shareTable) names(add addColumn) {
	of := func(has func(*balance.Group) bool, cell func(*balance.Group) table.Cell) func(shareRow) table.Cell {
		return func(r shareRow) table.Cell {
			if r.group == nil || !has(r.group) {
				return table.OfNone()
			}
			return cell(r.group)
		}
	}
	always := func(*balance.Group) bool { return true }
	add("database", "", table.Text, table.OnDemand, 0,
		of(always, func(g *balance.Group) table.Cell { return table.Of(g.Database) }), "Name of the database.")
	add("collection", "", table.Text, table.OnDemand, 0, of(func(g *balance.Group) bool { return g.Collection != nil },
		func(g *balance.Group) table.Cell { return table.Of(g.Collection.Name) }), "Name of the collection.")
	add("collection_id", "", table.ID, table.OnDemand, 0,
		of(always, func(g *balance.Group) table.Cell { return table.OfInt(int64(g.ID)) }),
		"Id of the collection.")
	add("replica_id", "", table.ID, table.OnDemand, 0, of(func(g *balance.Group) bool { return g.Replica != nil },
		func(g *balance.Group) table.Cell { return table.OfInt(int64(g.Replica.ID)) }), "Id of the replica.")
	add("resource_group", "", table.Text, table.OnDemand, 0,
		of(always, func(g *balance.Group) table.Cell { return table.Of(g.ResourceGroup) }),
		"Resource group of the replica.")
}

// states adds the columns with the state of a node.
func (t *shareTable) states(add addColumn) {
	flag := func(name, doc string, is func(shareRow) bool) {
		add(name, "", table.Bool, table.Hidden, 0, func(r shareRow) table.Cell { return table.OfBool(is(r)) }, doc)
	}
	add("address", "ADDRESS", table.Text, table.Always, 7, func(r shareRow) table.Cell { return table.Of(r.Address()) },
		"Its address.")
	add("state", "", table.Text, table.Hidden, 0, func(r shareRow) table.Cell { return table.Of(r.State()) },
		"Anything unusual: dead, stopping, read-only, streaming (takes only channels), outside (serves but not in "+
			"any replica), or why its segments are unknown: timed out, refused, ...")
	flag("known", "Whether its segments are known.", func(r shareRow) bool { return r.Known })
	flag("from_metrics",
		"Whether they are known only from its metrics: without bytes, leaders and channels, and with estimated "+
			"indexed rows.",
		func(r shareRow) bool { return r.FromMetrics })
	flag("member", "Whether it is in the replica, from metadata; in the table of all replicas, in any.",
		func(r shareRow) bool { return r.Member })
	flag("takes_segments",
		"Whether Milvus gives it sealed segments: it is a member, registered, not leaving, not for channels only.",
		func(r shareRow) bool { return r.Assignable() })
}

// figures adds the columns with the segments of a node and the resources of its process.
func (t *shareTable) figures(add addColumn) {
	count := func(name, title string, show table.Show, priority int, n need, of func(shareRow) int64, doc string) {
		add(name, title, table.Int, show, priority, t.figure(n, of), doc)
	}
	count("sealed_segments", "SEALED", table.Always, 1, needSegments, func(r shareRow) int64 { return int64(r.Sealed) },
		"Sealed segments in its memory, L0 not counted.")
	count("sealed_rows", "SEALED ROWS", table.Always, 0, needRows, func(r shareRow) int64 { return r.SealedRows },
		"Their rows, from DataCoord.")
	count("copied_segments", "COPIES", table.Wide, 0, needReport, func(r shareRow) int64 { return int64(r.Copies) },
		"Its sealed segments that are in memory twice and count elsewhere: on the node the shard leader queries, or "+
			"as their compaction result.")
	count("copied_rows", "COPIED ROWS", table.Hidden, 0, needReport, func(r shareRow) int64 { return r.CopiedRows },
		"Their rows, not counted in any sum, cost or plan.")
	count("growing_segments", "GROWING", table.Always, 6, needSegments, func(r shareRow) int64 {
		return int64(r.Growing)
	},
		"Growing segments of the shards it leads, except those already loaded as sealed.")
	count("growing_rows", "GROWING ROWS", table.Always, 2, needSegments,
		func(r shareRow) int64 { return r.GrowingRows },
		"Their rows.")
	count("repeated_rows", "UP TO TWICE", table.Hidden, 0, needSegments, func(r shareRow) int64 {
		return r.RepeatedRows
	},
		"Growing rows that may also count as sealed, of a segment being handed over: metrics do not name segments. 0 "+
			"if known.")
	count("indexed_rows", "INDEXED ROWS", table.Wide, 0, needRows, func(r shareRow) int64 { return r.IndexedRows },
		"Sealed rows with a vector index (for each vector field).")
	count("brute_force_rows", "BRUTE ROWS", table.Wide, 0, needRows, func(r shareRow) int64 { return r.BruteRows },
		"All other rows, searched by brute force, including growing ones.")
	count("l0_segments", "L0", table.Wide, 0, needReport, func(r shareRow) int64 { return int64(r.LevelZero) },
		"Segments with only deletes.")
	count("unrecorded_segments", "UNRECORDED", table.Hidden, 0, needReport, func(r shareRow) int64 {
		return int64(r.Unrecorded)
	},
		"Sealed segments with unknown row count: not in any figure of rows or cost.")
	add("size_bytes", "SIZE", table.Bytes, table.Wide, 0, func(r shareRow) table.Cell {
		if !t.survey.Sized() || !t.known(r, needReport) {
			return table.OfUnknown()
		}
		return table.OfInt(r.Bytes)
	}, "Bytes of the logs of its sealed segments in storage.")
	add("index_bytes", "INDEX SIZE", table.Bytes, table.Wide, 0,
		t.figure(needReport, func(r shareRow) int64 { return r.IndexBytes }), "Bytes of its loaded index files.")
	count("shard_leaders", "LEADERS", table.Always, 3, needReport, func(r shareRow) int64 { return int64(r.Leaders) },
		"Shards that it leads.")
	add("channels", "CHANNELS", table.Int, table.Wide, 0, func(r shareRow) table.Cell {
		if !t.known(r, needReport) && !(r.FromMetrics && r.group == nil) { // metrics have the sum over all replicas
			return table.OfUnknown()
		}
		return table.OfInt(int64(r.Channels))
	}, "Channels that it consumes.")
	add("memory_use_bytes", "MEMORY", table.Bytes, table.Always, 4, func(r shareRow) table.Cell {
		use, _, ok := r.Memory()
		return positive(use, ok)
	}, "Memory used by the node's process, for everything it serves.")
	add("memory_bytes", "OF", table.Bytes, table.Wide, 0, func(r shareRow) table.Cell {
		_, capacity, ok := r.Memory()
		return positive(capacity, ok)
	}, "Memory that it may use.")
	add("cpu_percent", "CPU", table.Percent, table.Always, 5, func(r shareRow) table.Cell {
		cores, ok := r.CPU()
		if !ok {
			return table.OfUnknown()
		}
		return table.OfFloat(100 * cores)
	}, "CPU used by the node's process; 100 is one core.")
}

// positive returns the cell of a number that is unknown unless it is above 0.
func positive(n int64, known bool) table.Cell {
	if !known || n <= 0 {
		return table.OfUnknown()
	}
	return table.OfInt(n)
}

// costs adds the columns of the search work.
func (t *shareTable) costs(add addColumn) {
	cost := func(name, doc string, of func(shareRow) float64) {
		add(name, "", table.Int, table.Hidden, 0,
			t.figure(needFields, func(r shareRow) int64 { return int64(math.Round(of(r))) }), doc)
	}
	cost("cost", "Search work: rows compared times dimensions, by the weights.", func(r shareRow) float64 {
		return r.Cost
	})
	cost("brute_force_cost", "Part of the cost that is brute force.", func(r shareRow) float64 { return r.BruteCost })
	cost("growing_cost", "Part of the cost that is growing rows.", func(r shareRow) float64 { return r.GrowingCost })
	add("brute_force_percent", "BRUTE FORCE", table.Percent, table.Always, 1,
		t.percentage(func(r shareRow) (part, whole float64) { return r.BruteCost, r.Cost }),
		"Part of its search work that is brute force.")
	share := t.percentage(func(r shareRow) (part, whole float64) {
		if r.group != nil {
			return r.Cost, r.group.Cost()
		}
		return r.Cost, t.total
	})
	add("cost_share_percent", "COST SHARE", table.Percent, table.Always, 0, func(r shareRow) table.Cell {
		if t.partial {
			return table.OfUnknown()
		}
		return share(r)
	}, "Its part of the replica's search work; in the table of all replicas, of all search work.")
}

// label returns the name of a node and its unusual properties.
func (t *shareTable) label(r shareRow) string {
	label := r.Name()
	switch state := r.State(); {
	case state != "":
		label += " " + state
	case r.Known && r.Assignable() && r.group == nil && r.Sealed+r.Growing == 0 && t.totalRows > 0:
		label += " idle"
	}
	if r.FromMetrics {
		label += " (metrics)"
	}
	if r.Unrecorded > 0 {
		label += " (+" + strconv.Itoa(r.Unrecorded) + " of unknown rows)"
	}
	if r.Copies > 0 {
		label += " (" + words.Count(int64(r.Copies), "copy", "copies") + ")"
	}
	return label
}
