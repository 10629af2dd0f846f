package render

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// shareRow is what a node serves of a replica, or of all where group is nil.
type shareRow struct {
	*balance.Share
	group *balance.Group
}

// shareTable is a list of shares.
type shareTable struct {
	*table.Rows[shareRow]
	balance *Balance
	o       *Options
	// whole and most are the cost of all rows, and the largest.
	whole, most float64
	rowsWhole   int64
	// groups says that rows are of several replicas: a share is then one of its own replica.
	groups bool
	// partial says that of some node it is unknown how much it has, so that nobody's part of the whole is known.
	partial bool
}

func newShareTable(b *Balance, rows []shareRow, o *Options) *shareTable {
	t := &shareTable{balance: b, o: o}
	t.Rows = table.New(table.Schema{Name: "shares", Singular: "share", Handle: "node"}, rows, t.columns())
	for _, r := range rows {
		t.partial = t.partial || b.Report.Survey.Rowless(r.Share)
		if r.Known {
			t.whole += r.Cost
			t.most = max(t.most, r.Cost)
			t.rowsWhole += r.Rows()
		}
	}
	return t
}

// shareList are the shares of all replicas as a list that says whose they are.
func shareList(b *Balance, rows []shareRow, o *Options) *table.Rows[shareRow] {
	t := newShareTable(b, rows, o)
	t.perGroup()
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

// perGroup makes shares those of the row's own replica.
func (t *shareTable) perGroup() { t.groups = true }

// all is the search work that a row is a part of.
func (t *shareTable) all(r shareRow) float64 {
	if t.groups && r.group != nil {
		return r.group.Cost()
	}
	return t.whole
}

// newShareGrid is the table for people: all columns in wide ones, else those that are always there.
func newShareGrid(b *Balance, rows []shareRow, o *Options) *table.Grid {
	show := table.Always
	if o.Width == 0 && o.KeepColumns {
		show = table.Wide
	}
	plain := *o
	plain.KeepColumns = false
	return table.All(newShareTable(b, rows, &plain), show)
}

// fields are the columns of a row for scripts; of CSV those, too, that say of each line whose it is.
func (t *shareTable) fields(row int, show table.Show) []view.Field {
	var list []view.Field
	for _, i := range t.Schema().Usual(show, nil) {
		list = append(list, view.Field{Column: &t.Schema().Columns[i], Cell: t.Cell(row, i)})
	}
	return list
}

func whole(n int64) table.Cell        { return table.Cell{Int: n} }
func percentage(f float64) table.Cell { return table.Cell{Float: f} }
func textCell(s string) table.Cell    { return table.Cell{Text: s} }
func yesNo(b bool) table.Cell         { return table.Cell{Int: int64(BoolInt(b))} }
func noCell() table.Cell              { return table.Cell{Absent: table.None} }
func unknownCell() table.Cell         { return table.Cell{Absent: table.Unknown} }
func known(r shareRow, c table.Cell) table.Cell {
	if !r.Known {
		return unknownCell()
	}
	return c
}

// asked is known where the node itself said what it serves.
func asked(r shareRow, c table.Cell) table.Cell {
	if !r.Known || r.FromMetrics {
		return unknownCell()
	}
	return c
}

// rowsKnown is known where the node said what it serves, and the rows of that are.
func (t *shareTable) rowsKnown(r shareRow, c table.Cell) table.Cell {
	if t.balance.Report.Survey.Rowless(r.Share) {
		return unknownCell()
	}
	return known(r, c)
}

// costKnown is known where besides that the fields of its collections are: without them nothing costs anything.
func (t *shareTable) costKnown(r shareRow, c table.Cell) table.Cell {
	if r.Cost == 0 && r.Rows() > 0 {
		return unknownCell()
	}
	return t.rowsKnown(r, c)
}

// rowFigure is a figure of the rows of sealed segments.
func (t *shareTable) rowFigure(name, title, doc string, show table.Show, of func(shareRow) int64) table.ColumnOf[shareRow] {
	c := figure(name, title, doc, show, 0, of)
	c.Cell = func(r shareRow) table.Cell { return t.rowsKnown(r, whole(of(r))) }
	return c
}

// figure is a number that is known if the node said what it serves.
func figure(name, title, doc string, show table.Show, priority int, of func(shareRow) int64) table.ColumnOf[shareRow] {
	return table.ColumnOf[shareRow]{
		Column: table.Column{Name: name, Title: title, Kind: table.Int, Show: show, Priority: priority, Doc: doc},
		Cell:   func(r shareRow) table.Cell { return known(r, whole(of(r))) },
	}
}

// told is a number that a node's metrics do not tell.
func told(name, title, doc string, kind table.Kind, show table.Show, priority int, of func(shareRow) int64) table.ColumnOf[shareRow] {
	return table.ColumnOf[shareRow]{
		Column: table.Column{Name: name, Title: title, Kind: kind, Show: show, Priority: priority, Doc: doc},
		Cell:   func(r shareRow) table.Cell { return asked(r, whole(of(r))) },
	}
}

// columns are the columns of shares, in order.
func (t *shareTable) columns() []table.ColumnOf[shareRow] {
	return slices.Concat(t.shareNames(), t.shareFigures(), t.shareLoads(), t.shareCosts())
}

func (t *shareTable) shareNames() []table.ColumnOf[shareRow] {
	of := func(name string, kind table.Kind, doc string, cell func(shareRow) table.Cell) table.ColumnOf[shareRow] {
		return table.ColumnOf[shareRow]{Column: table.Column{Name: name, Kind: kind, Show: table.OnDemand, Doc: doc}, Cell: func(r shareRow) table.Cell {
			if r.group == nil {
				return noCell()
			}
			return cell(r)
		}}
	}
	flag := func(name, doc string, is func(shareRow) bool) table.ColumnOf[shareRow] {
		return table.ColumnOf[shareRow]{Column: table.Column{Name: name, Kind: table.Bool, Show: table.Hidden, Doc: doc}, Cell: func(r shareRow) table.Cell { return yesNo(is(r)) }}
	}
	return []table.ColumnOf[shareRow]{
		of("database", table.Text, "Name of the database.", func(r shareRow) table.Cell { return textCell(r.group.Database) }),
		of("collection", table.Text, "Name of the collection.", func(r shareRow) table.Cell {
			if r.group.Collection == nil {
				return noCell()
			}
			return textCell(r.group.Collection.Name)
		}),
		of("collection_id", table.ID, "Id of the collection.", func(r shareRow) table.Cell { return whole(int64(r.group.ID)) }),
		of("replica_id", table.ID, "Id of the replica.", func(r shareRow) table.Cell {
			if r.group.Replica == nil {
				return noCell()
			}
			return whole(int64(r.group.Replica.ID))
		}),
		of("resource_group", table.Text, "Resource group of the replica.", func(r shareRow) table.Cell { return textCell(r.group.ResourceGroup) }),
		{
			Column: table.Column{Name: "node", Kind: table.ID, Show: table.Hidden, Doc: "Server id of the query node."},
			Cell:   func(r shareRow) table.Cell { return whole(int64(r.Node)) },
		},
		{
			Column: table.Column{Name: "label", Title: "NODE", Kind: table.Text, For: table.People},
			Cell:   func(r shareRow) table.Cell { return textCell(t.label(r)) },
		},
		{
			Column: table.Column{Name: "address", Title: "ADDRESS", Kind: table.Text, Priority: 7, Doc: "Its address."},
			Cell:   func(r shareRow) table.Cell { return textCell(r.Address()) },
		},
		{
			Column: table.Column{Name: "state", Kind: table.Text, Show: table.Hidden, Doc: "Anything unusual: dead, stopping, read-only, streaming (takes only channels), outside (serves but not in any replica), or why its segments are unknown: timed out, refused, ..."},
			Cell:   func(r shareRow) table.Cell { return textCell(r.State()) },
		},
		flag("known", "Whether its segments are known.", func(r shareRow) bool { return r.Known }),
		flag("from_metrics", "Whether they are known only from its metrics: without bytes, leaders and channels, and with estimated indexed rows.", func(r shareRow) bool { return r.FromMetrics }),
		flag("member", "Whether the metadata has it in the replica; of all replicas, in any.", func(r shareRow) bool { return r.Member }),
		flag("takes_segments", "Whether Milvus gives it sealed segments: it is a member, registered, not leaving, not for channels only.", func(r shareRow) bool { return r.Takes() }),
	}
}

// label names a node for people, with what is unusual about it.
func (t *shareTable) label(r shareRow) string {
	label := r.Node.String()
	switch state := r.State(); {
	case state != "":
		label += " " + state
	case r.Known && r.Takes() && r.group == nil && r.Sealed+r.Growing == 0 && t.rowsWhole > 0:
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

func (t *shareTable) shareFigures() []table.ColumnOf[shareRow] {
	return []table.ColumnOf[shareRow]{
		figure("sealed_segments", "SEALED", "Sealed segments in its memory, L0 not counted.", table.Always, 0, func(r shareRow) int64 { return int64(r.Sealed) }),
		t.rowFigure("sealed_rows", "SEALED ROWS", "Their rows, from DataCoord.", table.Always, func(r shareRow) int64 { return r.SealedRows }),
		told("copied_segments", "COPIES", "Its sealed segments that are in memory twice and count elsewhere: on the node the shard leader queries, or as their compaction result.", table.Int, table.Wide, 0, func(r shareRow) int64 { return int64(r.Copies) }),
		told("copied_rows", "COPIED ROWS", "Their rows, not counted in any sum, cost or plan.", table.Int, table.Hidden, 0, func(r shareRow) int64 { return r.CopiedRows }),
		figure("growing_segments", "GROWING", "Growing segments of the shards it leads, except those already loaded as sealed.", table.Always, 6, func(r shareRow) int64 { return int64(r.Growing) }),
		figure("growing_rows", "GROWING ROWS", "Rows of them.", table.Always, 2, func(r shareRow) int64 { return r.GrowingRows }),
		figure("repeated_rows", "UP TO TWICE", "Growing rows that may also count as sealed, of a segment being handed over: metrics do not name segments. 0 if known.", table.Hidden, 0, func(r shareRow) int64 { return r.Repeated }),
		t.rowFigure("indexed_rows", "INDEXED ROWS", "Sealed rows with a vector index (for each vector field).", table.Wide, func(r shareRow) int64 { return r.IndexedRows }),
		t.rowFigure("brute_force_rows", "BRUTE ROWS", "All other rows, searched by brute force, including growing ones.", table.Wide, func(r shareRow) int64 { return r.BruteRows }),
		told("l0_segments", "L0", "Segments with only deletes.", table.Int, table.Wide, 0, func(r shareRow) int64 { return int64(r.LevelZero) }),
		told("unrecorded_segments", "UNRECORDED", "Sealed segments with unknown row count: not in any figure of rows or cost.", table.Int, table.Hidden, 0, func(r shareRow) int64 { return int64(r.Unrecorded) }),
		{
			Column: table.Column{Name: "size_bytes", Title: "SIZE", Kind: table.Bytes, Show: table.Wide, Doc: "Bytes of the logs of its sealed segments in storage."},
			Cell: func(r shareRow) table.Cell {
				if !t.balance.Report.Survey.Sized() {
					return unknownCell()
				}
				return asked(r, whole(r.Bytes))
			},
		},
		told("index_bytes", "INDEX SIZE", "Bytes of its loaded index files.", table.Bytes, table.Wide, 0, func(r shareRow) int64 { return r.IndexBytes }),
		told("shard_leaders", "LEADERS", "Shards that it leads.", table.Int, table.Always, 3, func(r shareRow) int64 { return int64(r.Leaders) }),
		{
			Column: table.Column{Name: "channels", Title: "CHANNELS", Kind: table.Int, Show: table.Wide, Doc: "Channels that it consumes."},
			Cell: func(r shareRow) table.Cell {
				if r.FromMetrics && r.group == nil {
					return whole(int64(r.Channels)) // metrics tell the sum
				}
				return asked(r, whole(int64(r.Channels)))
			},
		},
	}
}

func (t *shareTable) shareLoads() []table.ColumnOf[shareRow] {
	memory := func(of func(use, capacity int64) int64) func(shareRow) table.Cell {
		return func(r shareRow) table.Cell {
			use, capacity, ok := r.Memory()
			if n := of(use, capacity); ok && n > 0 {
				return whole(n)
			}
			return unknownCell()
		}
	}
	return []table.ColumnOf[shareRow]{
		{
			Column: table.Column{Name: "memory_use_bytes", Title: "MEMORY", Kind: table.Bytes, Priority: 4, Doc: "Memory used by the node's process, for everything it serves."},
			Cell:   memory(func(use, _ int64) int64 { return use }),
		},
		{
			Column: table.Column{Name: "memory_bytes", Title: "OF", Kind: table.Bytes, Show: table.Wide, Doc: "Memory that it may use."},
			Cell:   memory(func(_, capacity int64) int64 { return capacity }),
		},
		{
			Column: table.Column{Name: "cpu_percent", Title: "CPU", Kind: table.Percent, Priority: 5, Doc: "CPU used by the node's process; 100 is one core."},
			Cell: func(r shareRow) table.Cell {
				if cores, ok := r.CPU(); ok {
					return percentage(100 * cores)
				}
				return unknownCell()
			},
		},
	}
}

func (t *shareTable) shareCosts() []table.ColumnOf[shareRow] {
	cost := func(name, doc string, of func(shareRow) float64) table.ColumnOf[shareRow] {
		return table.ColumnOf[shareRow]{
			Column: table.Column{Name: name, Kind: table.Int, Show: table.Hidden, Doc: doc},
			Cell:   func(r shareRow) table.Cell { return t.costKnown(r, whole(int64(math.Round(of(r))))) },
		}
	}
	return []table.ColumnOf[shareRow]{
		cost("cost", "Search work: rows compared times dimensions, by the weights.", func(r shareRow) float64 { return r.Cost }),
		cost("brute_force_cost", "The part of it that is brute force.", func(r shareRow) float64 { return r.BruteCost }),
		cost("growing_cost", "The part of it that is growing rows.", func(r shareRow) float64 { return r.GrowingCost }),
		{
			Column: table.Column{Name: "brute_force_percent", Title: "BRUTE FORCE", Kind: table.Percent, Priority: 1, Doc: "The part of its search work that is brute force."},
			Cell: func(r shareRow) table.Cell {
				if r.Cost <= 0 {
					return t.costKnown(r, noCell())
				}
				return t.costKnown(r, percentage(100*r.BruteCost/r.Cost))
			},
		},
		{
			Column: table.Column{Name: "cost_share_percent", Kind: table.Percent, Show: table.Hidden, Doc: "Its part of the replica's search work; of all replicas, of all search work."},
			Cell: func(r shareRow) table.Cell {
				switch {
				case t.partial:
					return unknownCell()
				case t.all(r) <= 0:
					return t.costKnown(r, noCell())
				}
				return t.costKnown(r, percentage(100*r.Cost/t.all(r)))
			},
		},
		{
			Column: table.Column{Name: "bar", Title: "COST SHARE", Kind: table.Text, For: table.People},
			Cell:   func(r shareRow) table.Cell { return textCell(t.bar(r)) },
		},
	}
}
