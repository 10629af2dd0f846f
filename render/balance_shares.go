package render

import (
	"math"
	"slices"
	"strconv"

	"kitescope/inspect/balance"
	"kitescope/inspect/view"
	"kitescope/words"
)

// shareRow is what a node serves of a replica, or of all where group is nil.
type shareRow struct {
	*balance.Share
	group *balance.Group
}

// shareAudience says who sees a column.
type shareAudience uint8

const (
	everyone shareAudience = iota
	people                 // tables
	scripts                // JSON, YAML, CSV
	lines                  // CSV, where each line says whose it is
)

type shareColumn struct {
	view.Column
	who  shareAudience
	cell func(t *shareTable, r shareRow) view.Cell
}

// shareTable is a list of shares as a table of package view, so that all formats of lists can write it.
type shareTable struct {
	balance  *Balance
	rows     []shareRow
	columns  []shareColumn
	resource *view.Resource
	o        *Options
	// whole and most are the cost of all rows, and the largest.
	whole, most float64
	rowsWhole   int64
	// groups says that rows are of several replicas: a share is then one of its own replica.
	groups bool
	// partial says that of some node it is unknown how much it has, so that nobody's part of the whole is known.
	partial bool
}

func newShareTable(b *Balance, rows []shareRow, o *Options) *shareTable {
	t := &shareTable{balance: b, rows: rows, columns: shareColumns(), o: o, resource: &view.Resource{Name: "shares", Singular: "share", Kind: "Share", Handle: "node"}}
	for i := range t.columns {
		t.resource.Columns = append(t.resource.Columns, t.columns[i].Column)
	}
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
func newShareGrid(b *Balance, rows []shareRow, o *Options) *view.Grid {
	t := newShareTable(b, rows, o)
	wide := o.Width == 0 && o.KeepColumns
	var columns []int
	for i := range t.columns {
		c := &t.columns[i]
		if c.who <= people && (c.Show == view.Always || wide && c.Show == view.Wide) {
			columns = append(columns, i)
		}
	}
	plain := *o
	plain.KeepColumns = false
	t.o = &plain
	return &view.Grid{Table: t, Columns: columns, Matched: len(rows)}
}

// fields are the columns of a row for scripts.
func (t *shareTable) fields(row int, who shareAudience) []view.Field {
	var list []view.Field
	for i := range t.columns {
		if c := &t.columns[i]; c.who == everyone || c.who == scripts || who == lines && c.who == lines {
			list = append(list, view.Field{Column: &c.Column, Cell: t.Cell(row, i)})
		}
	}
	return list
}

// Resource implements view.Table.
func (t *shareTable) Resource() *view.Resource { return t.resource }

// Env implements view.Table.
func (t *shareTable) Env() *view.Env { return t.balance.Env }

// Len implements view.Table.
func (t *shareTable) Len() int { return len(t.rows) }

// Cell implements view.Table.
func (t *shareTable) Cell(row, col int) view.Cell { return t.columns[col].cell(t, t.rows[row]) }

// Ref implements view.Table.
func (t *shareTable) Ref(row int) view.Ref {
	name := t.rows[row].Name()
	return view.Ref{Resource: "nodes", ID: name, Name: name}
}

// Owner implements view.Table.
func (t *shareTable) Owner(int) (view.Ref, bool) { return view.Ref{}, false }

// Links implements view.Table.
func (t *shareTable) Links(int) []view.Link { return nil }

// Describe implements view.Table.
func (t *shareTable) Describe(row int) *view.Description {
	return &view.Description{Ref: t.Ref(row), Resource: t.resource, Fields: t.fields(row, lines)}
}

func whole(n int64) view.Cell        { return view.Cell{Int: n} }
func percentage(f float64) view.Cell { return view.Cell{Float: f} }
func textCell(s string) view.Cell    { return view.Cell{Text: s} }
func yesNo(b bool) view.Cell         { return view.Cell{Int: int64(b2i(b))} }
func noCell() view.Cell              { return view.Cell{Absent: view.None} }
func unknownCell() view.Cell         { return view.Cell{Absent: view.Unknown} }
func known(r shareRow, c view.Cell) view.Cell {
	if !r.Known {
		return unknownCell()
	}
	return c
}

// asked is known where the node itself said what it serves.
func asked(r shareRow, c view.Cell) view.Cell {
	if !r.Known || r.FromMetrics {
		return unknownCell()
	}
	return c
}

// rowsKnown is known where the node said what it serves, and the rows of that are.
func (t *shareTable) rowsKnown(r shareRow, c view.Cell) view.Cell {
	if t.balance.Report.Survey.Rowless(r.Share) {
		return unknownCell()
	}
	return known(r, c)
}

// costKnown is known where besides that the fields of its collections are: without them nothing costs anything.
func (t *shareTable) costKnown(r shareRow, c view.Cell) view.Cell {
	if r.Cost == 0 && r.Rows() > 0 {
		return unknownCell()
	}
	return t.rowsKnown(r, c)
}

// rowFigure is a figure of the rows of sealed segments.
func rowFigure(name, title, doc string, show view.Show, of func(shareRow) int64) shareColumn {
	c := figure(name, title, doc, show, 0, of)
	c.cell = func(t *shareTable, r shareRow) view.Cell { return t.rowsKnown(r, whole(of(r))) }
	return c
}

// figure is a number that is known if the node said what it serves.
func figure(name, title, doc string, show view.Show, priority int, of func(shareRow) int64) shareColumn {
	return shareColumn{
		view.Column{Name: name, Title: title, Kind: view.Int, Show: show, Priority: priority, Doc: doc},
		everyone,
		func(_ *shareTable, r shareRow) view.Cell { return known(r, whole(of(r))) },
	}
}

// told is a number that a node's metrics do not tell.
func told(name, title, doc string, kind view.Kind, show view.Show, priority int, of func(shareRow) int64) shareColumn {
	return shareColumn{
		view.Column{Name: name, Title: title, Kind: kind, Show: show, Priority: priority, Doc: doc},
		everyone,
		func(_ *shareTable, r shareRow) view.Cell { return asked(r, whole(of(r))) },
	}
}

// shareColumns are the columns of shares, in order.
func shareColumns() []shareColumn {
	return slices.Concat(shareNames(), shareFigures(), shareLoads(), shareCosts())
}

func shareNames() []shareColumn {
	of := func(name string, kind view.Kind, doc string, cell func(shareRow) view.Cell) shareColumn {
		return shareColumn{view.Column{Name: name, Kind: kind, Show: view.Hidden, Doc: doc}, lines, func(_ *shareTable, r shareRow) view.Cell {
			if r.group == nil {
				return noCell()
			}
			return cell(r)
		}}
	}
	flag := func(name, doc string, is func(shareRow) bool) shareColumn {
		return shareColumn{view.Column{Name: name, Kind: view.Bool, Show: view.Hidden, Doc: doc}, scripts, func(_ *shareTable, r shareRow) view.Cell { return yesNo(is(r)) }}
	}
	return []shareColumn{
		of("database", view.Text, "Name of the database.", func(r shareRow) view.Cell { return textCell(r.group.Database) }),
		of("collection", view.Text, "Name of the collection.", func(r shareRow) view.Cell {
			if r.group.Collection == nil {
				return noCell()
			}
			return textCell(r.group.Collection.Name)
		}),
		of("collection_id", view.ID, "Id of the collection.", func(r shareRow) view.Cell { return whole(int64(r.group.ID)) }),
		of("replica_id", view.ID, "Id of the replica.", func(r shareRow) view.Cell {
			if r.group.Replica == nil {
				return noCell()
			}
			return whole(int64(r.group.Replica.ID))
		}),
		of("resource_group", view.Text, "Resource group of the replica.", func(r shareRow) view.Cell { return textCell(r.group.ResourceGroup) }),
		{
			view.Column{Name: "node", Kind: view.ID, Show: view.Hidden, Doc: "Server id of the query node."},
			scripts,
			func(_ *shareTable, r shareRow) view.Cell { return whole(int64(r.Node)) },
		},
		{
			view.Column{Name: "label", Title: "NODE", Kind: view.Text},
			people,
			func(t *shareTable, r shareRow) view.Cell { return textCell(t.label(r)) },
		},
		{
			view.Column{Name: "address", Title: "ADDRESS", Kind: view.Text, Priority: 7, Doc: "Its address."},
			everyone,
			func(_ *shareTable, r shareRow) view.Cell { return textCell(r.Address()) },
		},
		{
			view.Column{Name: "state", Kind: view.Text, Show: view.Hidden, Doc: "What is unusual about it: dead, stopping, read-only, streaming (takes channels only), outside (serves and is in no replica), or why it did not say what it serves: timed out, refused, ..."},
			scripts, func(_ *shareTable, r shareRow) view.Cell { return textCell(r.State()) },
		},
		flag("known", "Whether it is known what it serves.", func(r shareRow) bool { return r.Known }),
		flag("from_metrics", "Whether that is known from its metrics only: bytes, leaders and channels are not then, and which rows are indexed is estimated.", func(r shareRow) bool { return r.FromMetrics }),
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

func shareFigures() []shareColumn {
	return []shareColumn{
		figure("sealed_segments", "SEALED", "Sealed segments in its memory, L0 not counted.", view.Always, 0, func(r shareRow) int64 { return int64(r.Sealed) }),
		rowFigure("sealed_rows", "SEALED ROWS", "Rows of them, as DataCoord recorded.", view.Always, func(r shareRow) int64 { return r.SealedRows }),
		told("copied_segments", "COPIES", "Those of its sealed segments that are in memory twice and count elsewhere: on the node that the shard leader asks, or as what they were compacted into.", view.Int, view.Wide, 0, func(r shareRow) int64 { return int64(r.Copies) }),
		told("copied_rows", "COPIED ROWS", "Rows of them, which no sum, cost or plan counts.", view.Int, view.Hidden, 0, func(r shareRow) int64 { return r.CopiedRows }),
		figure("growing_segments", "GROWING", "Growing segments of the shards that it leads; not those that are loaded as sealed already.", view.Always, 6, func(r shareRow) int64 { return int64(r.Growing) }),
		figure("growing_rows", "GROWING ROWS", "Rows of them.", view.Always, 2, func(r shareRow) int64 { return r.GrowingRows }),
		figure("repeated_rows", "UP TO TWICE", "Those of them that may be among the sealed ones, too, as of a segment that is being handed over: metrics do not name segments. 0 where it is known.", view.Hidden, 0, func(r shareRow) int64 { return r.Repeated }),
		rowFigure("indexed_rows", "INDEXED ROWS", "Sealed rows behind a vector index; behind one of each vector field where there are several.", view.Wide, func(r shareRow) int64 { return r.IndexedRows }),
		rowFigure("brute_force_rows", "BRUTE ROWS", "All other rows, which searches compare one by one, growing ones included.", view.Wide, func(r shareRow) int64 { return r.BruteRows }),
		told("l0_segments", "L0", "Segments that hold deletes only.", view.Int, view.Wide, 0, func(r shareRow) int64 { return int64(r.LevelZero) }),
		told("unrecorded_segments", "UNRECORDED", "Sealed segments of which nobody says the rows: no figure of rows or cost has them.", view.Int, view.Hidden, 0, func(r shareRow) int64 { return int64(r.Unrecorded) }),
		{
			view.Column{Name: "size_bytes", Title: "SIZE", Kind: view.Bytes, Show: view.Wide, Doc: "Bytes of the logs of its sealed segments in storage."},
			everyone,
			func(t *shareTable, r shareRow) view.Cell {
				if !t.balance.Report.Survey.Sized() {
					return unknownCell()
				}
				return asked(r, whole(r.Bytes))
			},
		},
		told("index_bytes", "INDEX SIZE", "Bytes of the index files that it has loaded.", view.Bytes, view.Wide, 0, func(r shareRow) int64 { return r.IndexBytes }),
		told("shard_leaders", "LEADERS", "Shards that it leads.", view.Int, view.Always, 3, func(r shareRow) int64 { return int64(r.Leaders) }),
		{
			view.Column{Name: "channels", Title: "CHANNELS", Kind: view.Int, Show: view.Wide, Doc: "Channels that it consumes."},
			everyone,
			func(_ *shareTable, r shareRow) view.Cell {
				if r.FromMetrics && r.group == nil {
					return whole(int64(r.Channels)) // metrics tell the sum
				}
				return asked(r, whole(int64(r.Channels)))
			},
		},
	}
}

func shareLoads() []shareColumn {
	memory := func(of func(use, capacity int64) int64) func(*shareTable, shareRow) view.Cell {
		return func(_ *shareTable, r shareRow) view.Cell {
			use, capacity, ok := r.Memory()
			if n := of(use, capacity); ok && n > 0 {
				return whole(n)
			}
			return unknownCell()
		}
	}
	return []shareColumn{
		{
			view.Column{Name: "memory_use_bytes", Title: "MEMORY", Kind: view.Bytes, Priority: 4, Doc: "Memory that the node's process uses, for all that it serves."},
			everyone,
			memory(func(use, _ int64) int64 { return use }),
		},
		{
			view.Column{Name: "memory_bytes", Title: "OF", Kind: view.Bytes, Show: view.Wide, Doc: "Memory that it may use."},
			everyone,
			memory(func(_, capacity int64) int64 { return capacity }),
		},
		{
			view.Column{Name: "cpu_percent", Title: "CPU", Kind: view.Percent, Priority: 5, Doc: "Processor time that the node's process uses; 100 is one core."},
			everyone,
			func(_ *shareTable, r shareRow) view.Cell {
				if cores, ok := r.CPU(); ok {
					return percentage(100 * cores)
				}
				return unknownCell()
			},
		},
	}
}

func shareCosts() []shareColumn {
	cost := func(name, doc string, of func(shareRow) float64) shareColumn {
		return shareColumn{
			view.Column{Name: name, Kind: view.Int, Show: view.Hidden, Doc: doc},
			scripts,
			func(t *shareTable, r shareRow) view.Cell { return t.costKnown(r, whole(int64(math.Round(of(r))))) },
		}
	}
	return []shareColumn{
		cost("cost", "Search work: rows compared times dimensions, as the weights say.", func(r shareRow) float64 { return r.Cost }),
		cost("brute_force_cost", "The part of it that is brute force.", func(r shareRow) float64 { return r.BruteCost }),
		cost("growing_cost", "The part of it that is growing rows.", func(r shareRow) float64 { return r.GrowingCost }),
		{
			view.Column{Name: "brute_force_percent", Title: "BRUTE FORCE", Kind: view.Percent, Priority: 1, Doc: "The part of its search work that is brute force."},
			everyone,
			func(t *shareTable, r shareRow) view.Cell {
				if r.Cost <= 0 {
					return t.costKnown(r, noCell())
				}
				return t.costKnown(r, percentage(100*r.BruteCost/r.Cost))
			},
		},
		{
			view.Column{Name: "cost_share_percent", Kind: view.Percent, Show: view.Hidden, Doc: "Its part of the replica's search work; of all replicas, of all search work."},
			scripts,
			func(t *shareTable, r shareRow) view.Cell {
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
			view.Column{Name: "bar", Title: "COST SHARE", Kind: view.Text},
			people,
			func(t *shareTable, r shareRow) view.Cell { return textCell(t.bar(r)) },
		},
	}
}
