package clusters

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
)

// Balance is what there is to write about the balance of a cluster.
type Balance struct {
	Env    *view.Env
	Report *balance.Report
	// Version is kitescope's, for pages that are kept.
	Version string
}

// BalanceFormats are the formats of balance.
func BalanceFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "nodes of each replica, a map of nodes and collections, plans (default)",
		"wide":  "the same with all figures of a node",
		"json":  "one JSON object (docs/reference/json.md)",
		"jsonl": "one replica a line",
		"csv":   "one line per replica and node (RFC 4180)",
		"name":  "",
		"html":  "a self-contained page, with bars and map",
	})
}

// WriteBalance writes a report of the balance.
func WriteBalance(w io.Writer, b *Balance, f render.Format, o render.ReportOptions) error {
	own := func(write func(w io.Writer, b *Balance, o *render.Options) error) func(io.Writer) error {
		return func(w io.Writer) error { return write(w, b, &o.Options) }
	}
	return b.sheet(&o, map[string]func(io.Writer) error{"table": own(writeBalance), "wide": own(writeBalanceWide), "html": own(writeBalancePage)}).Write(w, f)
}

// BalanceSchema is what can be asked of the shares that WriteBalance writes: of each replica a row for each node.
func BalanceSchema(o render.ReportOptions) *table.Schema {
	return shareList(&Balance{Report: &balance.Report{Survey: &balance.Survey{}}}, nil, &o.Options).Schema()
}

func writeBalanceWide(w io.Writer, b *Balance, o *render.Options) error {
	wide := *o
	wide.Width, wide.KeepColumns = 0, true
	return writeBalance(w, b, &wide)
}

// writeBalance writes for people: all nodes, the map, then each replica with its plan.
func writeBalance(w io.Writer, b *Balance, o *render.Options) error {
	t := &balanceText{Output: encode.NewOutput(w, encode.Pieces), painter: render.NewPainter(o), o: o, b: b, r: b.Report}
	t.head()
	if !t.r.Survey.Asked {
		t.line(render.RoleWarn, "nodes not queried: which node serves what is unknown; use a live source, a bundle saved with --live, or --runtime FILE")
		return t.Flush()
	}
	t.nodes()
	t.heatMap()
	for i, g := range t.r.Groups {
		t.group(i, g)
	}
	t.foot()
	return t.Flush()
}

type balanceText struct {
	encode.Output
	painter render.Painter
	o       *render.Options
	b       *Balance
	r       *balance.Report
}

func (t *balanceText) line(role render.Role, text string) {
	for _, s := range render.WrapLine(text, t.o.Width, t.ellipsis()) {
		t.Buf = append(t.painter.Paint(t.Buf, role, s), '\n')
	}
	t.Drain()
}

func (t *balanceText) ellipsis() string {
	if t.o.ASCII {
		return "~"
	}
	return "…"
}

func (t *balanceText) head() {
	c := t.b.Env.Cluster
	t.Buf = t.painter.Paint(t.Buf, render.RoleTitle, render.Fit(render.Harmless(c.Origin.Root)+" @ "+render.Harmless(c.Origin.Location), max(t.o.Width, 1<<16*render.BoolInt(t.o.Width == 0)), t.ellipsis()))
	t.Buf = append(t.Buf, '\n')
	t.line(render.RolePlain, "auto-balance "+AutoText(&t.r.Survey.Auto))
	if t.r.Survey.Asked {
		for _, text := range UnreadText(t.b.Env.Cluster.Loaded) {
			t.line(render.RoleWarn, text)
		}
	}
	if len(t.r.Survey.Unknown) > 0 {
		t.line(render.RoleWarn, "unknown, not included: "+unknownNames(t.r.Survey.Unknown))
	}
	if text := RepeatedText(t.r.Survey); text != "" {
		t.line(render.RoleWarn, text)
	}
}

// RepeatedText says how many rows may be counted twice as metrics do not name segments, "" if none are.
func RepeatedText(s *balance.Survey) string {
	sum, all := int64(0), int64(0)
	for _, n := range s.Nodes {
		sum, all = sum+n.Repeated, all+n.Rows()
	}
	if sum == 0 {
		return ""
	}
	return "metrics do not name segments: up to " + words.Number(sum) + " of " + words.Number(all) +
		" growing rows may count twice: segments being handed over"
}

// UnreadText says what of the metadata was not read, and what of the balance is unknown for it.
func UnreadText(loaded model.Part) (lines []string) {
	for _, x := range []struct {
		part model.Part
		text string
	}{
		{model.PartObjects, "collections were not read: search cost unknown"},
		{model.PartIndexes, "index definitions were not read: all rows count as brute force"},
		{model.PartServing, "replicas were not read: the split of work among nodes is a guess"},
		{model.PartSessions, "sessions were not read: which nodes take segments is unknown"},
		{model.PartSegments, "the records of segments were not read: rows are known only for indexed ones, sizes for none"},
		{model.PartLogs, "logs of segments were not read: sizes are unknown"},
	} {
		if !loaded.Has(x.part) {
			lines = append(lines, x.text)
		}
	}
	return lines
}

// unknownNames are nodes that did not say what they serve, and why.
func unknownNames(nodes []*model.LiveNode) string {
	names := make([]string, len(nodes))
	for i, x := range nodes {
		names[i] = render.Harmless(x.Name()) + " (" + x.Outcome.String() + ")"
	}
	return strings.Join(names, ", ")
}

// AutoText says whether Milvus balances by itself, and who says so.
func AutoText(a *balance.Auto) string {
	switch {
	case !a.Known:
		return words.UnknownMark + ": no process reported " + balance.SwitchKey
	case a.On:
		return "on (" + render.Harmless(a.From) + ")"
	}
	return "off (" + render.Harmless(a.From) + ": " + balance.SwitchKey + "=" + render.Harmless(a.Value) + ")"
}

// SpreadText is "max/mean 1.33  CV 0.58  rows 1.20", of the measure that counts first.
func SpreadText(s *balance.Spread, by balance.Measure) string {
	if s.Nodes < 2 || s.MaxMean == 0 && s.RowsMaxMean == 0 {
		return "max/mean " + words.NoneMark
	}
	texts := []string{"max/mean " + measured(by.Of(s))}
	if cv, ok := by.CV(s); ok && by.Of(s) > 0 {
		texts = append(texts, "CV "+render.Ratio(cv))
	}
	for _, m := range []balance.Measure{balance.ByCost, balance.ByRows, balance.ByMemory} {
		if m != by && m.Of(s) > 0 {
			texts = append(texts, m.String()+" "+render.Ratio(m.Of(s)))
		}
	}
	return strings.Join(texts, "  ")
}

// GroupSpread is the SpreadText of a replica, with what is behind it where no move could make it better.
func GroupSpread(g *balance.Group, by balance.Measure) string {
	text := SpreadText(&g.Spread, by)
	if g.TooFew() && g.Spread.Nodes > 1 && g.Sealed > 0 {
		text += "  (" + words.Plural(g.Sealed, "segment") + " for " + words.Plural(g.Spread.Nodes, "node") + ")"
	}
	return text
}

// measured is a largest share over the mean, which is 1 at least where it is known.
func measured(x float64) string {
	if x == 0 {
		return words.UnknownMark
	}
	return render.Ratio(x)
}

// UnknownText says that figures of a replica are not of all its nodes, "" if they are.
func UnknownText(g *balance.Group) string {
	if g.Unknown == 0 {
		return ""
	}
	return "what " + words.Plural(g.Unknown, "node") + " of it serves is unknown: figures and plan cover the others"
}

// GroupTitle names a replica: collection, id, resource group.
func GroupTitle(g *balance.Group) string {
	title := render.Harmless(g.Name())
	switch {
	case g.Unread:
		return title + " (the replicas were not read)"
	case g.Replica == nil:
		return title + " (no replica in the metadata)"
	}
	title += "  replica " + g.Replica.ID.String()
	if g.ResourceGroup != "" && g.ResourceGroup != "__default_resource_group" {
		title += " in " + render.Harmless(g.ResourceGroup)
	}
	return title
}

func (t *balanceText) title(title, note string, role render.Role) {
	t.Buf = append(t.Buf, '\n')
	if t.o.Width > 0 && render.Cells(title)+2+render.Cells(note) > t.o.Width {
		t.Buf = append(t.painter.Paint(t.Buf, render.RoleTitle, render.Fit(title, t.o.Width, t.ellipsis())), '\n')
		t.line(role, "  "+note)
		return
	}
	t.Buf = t.painter.Paint(t.Buf, render.RoleTitle, title)
	t.Buf = append(t.painter.Paint(append(t.Buf, "  "...), role, note), '\n')
}

// spreadRole is how a spread looks: over the goal it wants a look.
func (t *balanceText) spreadRole(s *balance.Spread) render.Role {
	if t.r.Options.By.Of(s) > t.r.Options.Goal {
		return render.RoleWarn
	}
	return render.RolePlain
}

func (t *balanceText) nodes() {
	s := t.r.Survey
	t.title("ALL REPLICAS", SpreadText(&s.Spread, t.r.Options.By), t.spreadRole(&s.Spread))
	t.shares(s.Nodes, nil)
}

func (t *balanceText) shares(list []*balance.Share, g *balance.Group) {
	rows := make([]shareRow, len(list))
	for i, x := range list {
		rows[i] = shareRow{x, g}
	}
	render.WriteTableInto(&t.Output, newShareGrid(t.b, rows, t.o), t.o, "  ")
}

func (t *balanceText) group(i int, g *balance.Group) {
	role := t.spreadRole(&g.Spread)
	if g.TooFew() {
		role = render.RolePlain
	}
	t.title(GroupTitle(g), GroupSpread(g, t.r.Options.By), role)
	t.shares(g.Shares, g)
	if text := UnknownText(g); text != "" {
		t.line(render.RoleWarn, "  "+text)
	}
	if t.r.Plans != nil {
		t.plan(t.r.Plans[i])
	}
	if v := t.r.Verdicts[i]; t.r.Plans != nil || len(v.Moves) > 0 {
		t.line(render.RoleDim, "  Milvus: "+VerdictText(v, &t.r.Survey.Auto, t.r.Options.By))
	}
}

// VerdictText says what Milvus's own balancer makes of a replica: "off; on, ScoreBasedBalancer moves
// 3 segments, 3 of them at once, to max/mean 1.09".
func VerdictText(v *balance.Verdict, a *balance.Auto, by balance.Measure) string {
	text := render.Harmless(v.Does)
	if len(v.Moves) > 0 {
		text += ", to max/mean " + measured(by.Of(&v.After))
		if by != balance.ByRows {
			text += ", rows " + render.Ratio(v.After.RowsMaxMean)
		}
	}
	switch {
	case !v.Modelled:
		return text
	case !a.Known:
		return "perhaps on; if so, " + text
	case !a.On:
		return "off; if on, " + text
	}
	return text
}

func (t *balanceText) foot() {
	t.Buf = append(t.Buf, '\n')
	if t.r.Plans != nil && t.r.Moves() > 0 {
		text := words.Plural(t.r.Moves(), "move") + " in total: max/mean over all replicas " + render.Ratio(t.r.Options.By.Of(&t.r.Survey.Spread)) + " to " + render.Ratio(t.r.Options.By.Of(&t.r.After)) +
			". kitescope itself changes nothing."
		if a := &t.r.Survey.Auto; !a.Known || a.On {
			text += " While auto-balance is on, Milvus may move segments back."
		}
		t.line(render.RolePlain, text)
	}
	t.line(render.RoleDim, ShareLegend(t.o.ASCII))
	t.line(render.RoleDim, SpreadLegend)
	t.line(render.RoleDim, "weights: "+t.r.Survey.Weights.String())
}

// shareRow is what a node serves of a replica, or of all where group is nil.
type shareRow struct {
	*balance.Share
	group *balance.Group
}

// shareTable is a list of shares.
type shareTable struct {
	*table.Rows[shareRow]
	balance *Balance
	o       *render.Options
	// whole and most are the cost of all rows, and the largest.
	whole, most float64
	rowsWhole   int64
	// groups says that rows are of several replicas: a share is then one of its own replica.
	groups bool
	// partial says that of some node it is unknown how much it has, so that nobody's part of the whole is known.
	partial bool
}

func newShareTable(b *Balance, rows []shareRow, o *render.Options) *shareTable {
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
func shareList(b *Balance, rows []shareRow, o *render.Options) *table.Rows[shareRow] {
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
func newShareGrid(b *Balance, rows []shareRow, o *render.Options) *table.Grid {
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
func yesNo(b bool) table.Cell         { return table.Cell{Int: int64(render.BoolInt(b))} }
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

// HeatGlyph shows a node's share of something against a fair one: nothing, under half, under 0.9, about
// fair, over the goal.
func HeatGlyph(share, fair float64, ascii bool) string {
	glyphs := [...]string{"·", "░", "▒", "▓", "█"}
	if ascii {
		glyphs = [...]string{".", "-", "+", "o", "#"}
	}
	switch {
	case share <= 0:
		return glyphs[0]
	case share < 0.5*fair:
		return glyphs[1]
	case share < 0.9*fair:
		return glyphs[2]
	case share <= balance.DefaultGoal*fair:
		return glyphs[3]
	}
	return glyphs[4]
}

// HeatLegend explains HeatGlyph.
func HeatLegend(ascii bool) string {
	if ascii {
		return "share of each replica's search work: # > 110% of fair share, o fair, + < 90%, - < 50%, . none"
	}
	return "share of each replica's search work: █ > 110% of fair share, ▓ fair, ▒ < 90%, ░ < 50%, · none"
}

// HeatCell is a cell of the map: "▓ 33%", "?" where the node did not say, "" where it has no part in the replica.
func HeatCell(g *balance.Group, node *balance.Share, ascii bool) string {
	x := g.Share(node.Node)
	switch {
	case x == nil:
		return ""
	case !x.Known:
		return words.UnknownMark
	}
	all := g.Cost()
	if all <= 0 || x.Cost <= 0 {
		return HeatGlyph(0, 1, ascii)
	}
	fair := all / float64(max(1, g.Spread.Nodes))
	return HeatGlyph(x.Cost, fair, ascii) + " " + strconv.Itoa(int(100*x.Cost/all+0.5)) + "%"
}

// Heaviest are the replicas with the most search work, at most n, and how many there are besides.
func Heaviest(groups []*balance.Group, n int) (list []*balance.Group, more int) {
	for _, g := range groups {
		if g.Cost() > 0 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b *balance.Group) int { return -cmp.Compare(a.Cost(), b.Cost()) })
	if len(list) > n {
		return list[:n], len(list) - n
	}
	return list, 0
}

// heatMap shows nodes by collections, as many as fit.
func (t *balanceText) heatMap() {
	g, more := newHeatGrid(t.b, t.o)
	if len(g.Columns) < 3 {
		return // what one replica's nodes do is in its own table
	}
	note := HeatLegend(t.o.ASCII)
	if more > 0 {
		note += "; " + strconv.Itoa(more) + " more"
	}
	t.title("MAP", note, render.RoleDim)
	render.WriteTableInto(&t.Output, g, t.o, "  ")
}

// newHeatGrid makes the map of the replicas of a report, and says how many had no room.
func newHeatGrid(b *Balance, o *render.Options) (g *table.Grid, more int) {
	const gap, label, column = 2, 12, 14
	count := 12
	if o.Width > 0 {
		count = max(1, (o.Width-label)/(column+gap))
	}
	groups, more := Heaviest(b.Report.Groups, count)
	ellipsis := "…"
	if o.ASCII {
		ellipsis = "~"
	}
	titles := []string{"NODE"}
	for _, g := range groups {
		title := heatTitle(b.Report.Groups, g)
		if o.Width > 0 {
			title = render.Fit(title, column, ellipsis)
		}
		titles = append(titles, title)
	}
	shares := newShareTable(b, nil, o)
	var rows [][]string
	for _, n := range b.Report.Survey.Nodes {
		row := []string{shares.label(shareRow{n, nil})}
		for _, g := range groups {
			cell := HeatCell(g, n, o.ASCII)
			if slices.ContainsFunc(g.Shares, b.Report.Survey.Rowless) && cell != "" {
				cell = words.UnknownMark
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return table.All(table.Texts(titles, rows), table.Always), more
}

// heatTitle is the collection's name; with several replicas the resource group too, or the end of the replica's id.
func heatTitle(all []*balance.Group, g *balance.Group) string {
	title := render.Harmless(g.Name())
	replicas, sameGroup := 0, 0
	for _, x := range all {
		if x.ID == g.ID {
			replicas++
			sameGroup += render.BoolInt(x.ResourceGroup == g.ResourceGroup)
		}
	}
	switch {
	case replicas == 1 || g.Replica == nil:
		return title
	case sameGroup == 1:
		return title + "/" + render.Harmless(g.ResourceGroup)
	}
	id := g.Replica.ID.String()
	return title + "/…" + id[max(0, len(id)-4):]
}

// BarWidth is the longest bar for a terminal.
func BarWidth(o *render.Options) int {
	switch {
	case o.Width == 0 || o.Width >= 140:
		return 24
	case o.Width >= 100:
		return 16
	}
	return 10
}

// bar draws a node's part of the search work: behind an index, sealed by brute force, growing.
func (t *shareTable) bar(r shareRow) string {
	if t.partial || t.costKnown(r, noCell()).Absent == table.Unknown {
		return words.UnknownMark
	}
	if t.whole <= 0 {
		return words.NoneMark
	}
	return CostBar(r.Share, t.most, BarWidth(t.o), t.o.ASCII) + part(r.Cost, t.whole)
}

// CostBar is a bar of the search work of a share; most fills all cells. It ends with a blank,
// and is never empty.
func CostBar(s *balance.Share, most float64, size int, ascii bool) string {
	glyphs := [...]string{"▇", "▒", "░", "·"}
	if ascii {
		glyphs = [...]string{"#", "+", "-", "."}
	}
	if s.Cost <= 0 || most <= 0 {
		return glyphs[3] + " "
	}
	var b strings.Builder
	sum, drawn := 0.0, 0
	for i, cost := range []float64{s.Cost - s.BruteCost, s.BruteCost - s.GrowingCost, s.GrowingCost} {
		sum += cost
		n := int(math.Round(sum/most*float64(size))) - drawn
		b.WriteString(strings.Repeat(glyphs[i], max(0, n)))
		drawn += max(0, n)
	}
	if drawn == 0 {
		return glyphs[3] + " "
	}
	return b.String() + " "
}

// ShareLegend explains CostBar.
func ShareLegend(ascii bool) string {
	if ascii {
		return "cost share: # behind an index, + sealed by brute force, - growing"
	}
	return "cost share: ▇ behind an index, ▒ sealed by brute force, ░ growing"
}

// SpreadLegend explains the figures of how even nodes are.
const SpreadLegend = "max/mean: the busiest node's share over the mean share, 1 is even (rows: the same of rows); CV: standard deviation of the shares over their mean, 0 is even"

// PlanText says a plan in one line: "2 moves bring max/mean from 1.50 to 1.09, rows 1.39 to 1.32; no fewer moves do".
func PlanText(p *balance.Plan) string {
	by := p.Options.By
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even enough: " + render.Ratio(by.Of(&p.Before)) + " is within " + render.Ratio(p.Options.Goal)
	case p.Unplanned:
		return "none: " + render.Harmless(p.Why)
	case len(p.Moves) == 0:
		return "no move helps: " + render.Harmless(p.Why)
	}
	text := words.Plural(len(p.Moves), "move") + " bring"
	if len(p.Moves) == 1 {
		text += "s"
	}
	text += " max/mean from " + render.Ratio(by.Of(&p.Before)) + " to " + render.Ratio(by.Of(&p.After))
	other := balance.ByRows
	if by == other {
		other = balance.ByCost
	}
	text += ", " + other.String() + " " + render.Ratio(other.Of(&p.Before)) + " to " + render.Ratio(other.Of(&p.After))
	switch {
	case !p.Reached:
		text += "; " + render.Ratio(p.Options.Goal) + " is out of reach: " + render.Harmless(p.Why)
	case p.Fewest():
		text += "; no fewer moves do"
	}
	return text
}

func (t *balanceText) plan(p *balance.Plan) {
	role := render.RolePlain
	if !p.Reached {
		role = render.RoleWarn
	}
	t.line(role, "  Plan: "+PlanText(p))
	for i, m := range p.Moves {
		text := "  " + render.LeftPad(strconv.Itoa(i+1), 4) + "  segment " + m.Segment.String() + "  " + words.Number(m.Rows) + " rows  " +
			words.Bytes(m.Size) + "  " + m.From.String() + render.Arrow(t.o) + m.To.String()
		t.Buf = append(append(t.Buf, render.Fit(text, max(t.o.Width, render.BoolInt(t.o.Width == 0)<<16), t.ellipsis())...), '\n')
	}
	for _, m := range p.Channels {
		t.line(render.RolePlain, "  or move the shard "+render.Harmless(m.Channel)+" with its "+words.Number(m.Rows)+" growing rows from node "+m.From.String()+" to "+m.To.String())
	}
	for i, line := range PlanScript(p, t.b.databases()) {
		if i == 0 {
			t.line(render.RoleDim, "  By hand, in pymilvus:")
		}
		t.Buf = append(append(append(t.Buf, "    "...), line...), '\n') // never cut: it is copied
	}
	if text := MemoryText(p); text != "" {
		t.line(render.RoleWarn, "  "+text)
	}
}

// MemoryText says of which nodes a plan does not know whether they have room, "" if of none.
func MemoryText(p *balance.Plan) string {
	if len(p.MemoryUnknown) == 0 || len(p.Moves) == 0 {
		return ""
	}
	names := make([]string, len(p.MemoryUnknown))
	for i, id := range p.MemoryUnknown {
		names[i] = id.String()
	}
	return "the memory of node " + strings.Join(names, ", ") + " is unknown: check for room first"
}

// PlanScript are the lines that carry a plan out in pymilvus. Which database is meant they say where it is not the default one, and
// wherever plans of several databases stand together.
func PlanScript(p *balance.Plan, databases bool) []string {
	var lines []string
	for i, c := range p.Calls() {
		if i == 0 && c.Database != "" && (databases || c.Database != "default") {
			lines = append(lines, "db.using_database("+shellquote.Python(c.Database)+")")
		}
		lines = append(lines, c.String())
	}
	return lines
}

// databases reports whether plans move segments in other databases than the default one.
func (b *Balance) databases() bool {
	return slices.ContainsFunc(b.Report.Plans, func(p *balance.Plan) bool {
		return len(p.Moves) > 0 && p.Group.Database != "" && p.Group.Database != "default"
	})
}

// SavedPlan is the plans as a script that an operator keeps: what moves where and why, and the calls.
func (b *Balance) SavedPlan() string {
	origin := &b.Env.Cluster.Origin
	var s strings.Builder
	fmt.Fprintf(&s, "# Moves that balance the query nodes of %s @ %s", render.Harmless(origin.Root), render.Harmless(origin.Location))
	if !origin.Taken.IsZero() {
		s.WriteString(", as of " + render.Stamp(origin.Taken))
	}
	s.WriteString("\n# Compactions replace segments, and Milvus's own balancer moves them: create the plan again if it is not from today.\n")
	if len(b.Report.Survey.Unknown) > 0 {
		s.WriteString("# Unknown, not included: " + unknownNames(b.Report.Survey.Unknown) + "\n")
	}
	if b.Report.Moves() > 0 {
		names := "connections, utility"
		if b.databases() {
			names = "connections, db, utility" // older ones have no db
		}
		s.WriteString("from pymilvus import " + names + "\n\nconnections.connect(host=\"localhost\", port=\"19530\")  # a proxy of the cluster\n")
	}
	for _, p := range b.Report.Plans {
		if len(p.Moves)+len(p.Channels) > 0 {
			s.WriteString("\n" + savedPlan(p, b.databases()))
		}
	}
	return s.String()
}

// savedPlan is the plan of one replica.
func savedPlan(p *balance.Plan, databases bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# %s\n", GroupTitle(p.Group), PlanText(p))
	for i, m := range p.Moves {
		fmt.Fprintf(&b, "# %d  segment %d  %s rows  %d -> %d\n", i+1, m.Segment, words.Number(m.Rows), m.From, m.To)
	}
	for _, m := range p.Channels {
		fmt.Fprintf(&b, "# or move the shard %s (%s growing rows)  %d -> %d\n", render.Harmless(m.Channel), words.Number(m.Rows), m.From, m.To)
	}
	for _, note := range []string{UnknownText(p.Group), MemoryText(p)} {
		if note != "" {
			b.WriteString("# " + note + "\n")
		}
	}
	for _, line := range PlanScript(p, databases) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// ShareLines lays out what nodes serve of a replica, or of all where g is nil: a header and a line for
// each, plain, within a width.
func (b *Balance) ShareLines(list []*balance.Share, g *balance.Group, width int) (header string, rows []string) {
	shares := make([]shareRow, len(list))
	for i, x := range list {
		shares[i] = shareRow{x, g}
	}
	o := &render.Options{Width: width}
	return laidOut(newShareGrid(b, shares, o), o)
}

// HeatLines lays out the map of nodes and the heaviest replicas, as many as fit.
func (b *Balance) HeatLines(width int) (header string, rows []string, more int) {
	o := &render.Options{Width: width}
	g, more := newHeatGrid(b, o)
	header, rows = laidOut(g, o)
	return header, rows, more
}

// GroupLines lays out the replicas of a report.
func (b *Balance) GroupLines(width int) (header string, rows []string) {
	o := &render.Options{Width: width}
	places := make([]int, len(b.Report.Groups))
	for i := range places {
		places[i] = i
	}
	return laidOut(table.All(table.New(table.Schema{}, places, b.groupColumns()), table.Always), o)
}

// groupColumns are those of replicas, by their place in the report.
func (b *Balance) groupColumns() []table.ColumnOf[int] {
	r := b.Report
	column := func(title string, kind table.Kind, priority int, cell func(g *balance.Group) table.Cell) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, Kind: kind, Priority: priority},
			Cell:   func(i int) table.Cell { return cell(r.Groups[i]) },
		}
	}
	known := func(title string, kind table.Kind, priority int, cell func(g *balance.Group) table.Cell) table.ColumnOf[int] {
		return column(title, kind, priority, func(g *balance.Group) table.Cell {
			if g.Spread.Nodes == 0 {
				return unknownCell()
			}
			return cell(g)
		})
	}
	plan := known("PLAN", table.Text, 0, nil)
	plan.Cell = func(i int) table.Cell {
		if r.Groups[i].Spread.Nodes == 0 {
			return unknownCell()
		}
		return textCell(b.planned(i))
	}
	return []table.ColumnOf[int]{
		column("REPLICA OF", table.Text, 0, func(g *balance.Group) table.Cell { return textCell(g.Name()) }),
		column("RESOURCE GROUP", table.Text, 7, func(g *balance.Group) table.Cell { return textCell(g.ResourceGroup) }),
		column("NODES", table.Int, 6, func(g *balance.Group) table.Cell { return whole(int64(len(g.Shares))) }),
		known("SEALED", table.Int, 4, func(g *balance.Group) table.Cell { return whole(int64(g.Sealed)) }),
		known("ROWS", table.Int, 5, func(g *balance.Group) table.Cell { return whole(g.Rows()) }),
		known("MAX/MEAN", table.Text, 0, func(g *balance.Group) table.Cell {
			return textCell(measured(r.Options.By.Of(&g.Spread)) + b.sign(g))
		}),
		known("CV", table.Text, 3, func(g *balance.Group) table.Cell {
			if cv, ok := r.Options.By.CV(&g.Spread); ok {
				return textCell(render.Ratio(cv))
			}
			return noCell()
		}),
		known("ROWS M/M", table.Text, 2, func(g *balance.Group) table.Cell { return textCell(render.Ratio(g.Spread.RowsMaxMean)) }),
		known("BUSIEST", table.Text, 1, func(g *balance.Group) table.Cell { return textCell(busiest(g)) }),
		plan,
	}
}

// laidOut writes a grid as a table and takes its lines.
func laidOut(g *table.Grid, o *render.Options) (header string, rows []string) {
	var out encode.Output
	render.WriteTableInto(&out, g, o, "")
	lines := strings.Split(strings.TrimSuffix(string(out.Buf), "\n"), "\n")
	return lines[0], lines[1:]
}

// sign marks what is over the goal and could be better, for eyes without colour.
func (b *Balance) sign(g *balance.Group) string {
	if r := b.Report; r.Options.By.Of(&g.Spread) > r.Options.Goal && !g.TooFew() {
		return " " + render.Glyph(render.RoleWarn, false)
	}
	return ""
}

func busiest(g *balance.Group) string {
	var most *balance.Share
	for _, x := range g.Shares {
		if x.Known && (most == nil || x.Cost > most.Cost) {
			most = x
		}
	}
	if most == nil || g.Cost() <= 0 {
		return words.NoneMark
	}
	return most.Node.String() + " " + part(most.Cost, g.Cost())
}

// planned says a plan in a few words.
func (b *Balance) planned(row int) string {
	if b.Report.Plans == nil {
		return words.NoneMark
	}
	p := b.Report.Plans[row]
	after := render.Ratio(p.Options.By.Of(&p.After))
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even"
	case len(p.Moves) == 0:
		return render.Harmless(p.Why)
	}
	text := strconv.Itoa(len(p.Moves)) + " moves: " + after
	if len(p.Moves) == 1 {
		text = "1 move: " + after
	}
	if !p.Reached {
		text += " at best"
	}
	if p.Group.Unknown > 0 {
		text += ", not all known"
	}
	return text
}

// sheet is what is not drawn: a replica an item, and a line for each replica and node in tables.
func (b *Balance) sheet(o *render.ReportOptions, own map[string]func(io.Writer) error) *render.Sheet {
	var rows []shareRow
	for _, g := range b.Report.Groups {
		for _, x := range g.Shares {
			rows = append(rows, shareRow{x, g})
		}
	}
	shares := newShareTable(b, rows, &o.Options)
	shares.perGroup()
	origin := &b.Env.Cluster.Origin
	s := &render.Sheet{
		Options: o, Head: []render.Line{{Text: "balance of " + render.Harmless(origin.Root) + " @ " + render.Harmless(origin.Location)}},
		Whole: b.document, Open: 2, Own: own,
		Items: render.ForScripts(len(b.Report.Groups), len(b.Report.Groups), nil), Nested: b.item,
		Flat: table.All(shares, table.OnDemand), Parts: []render.Part{{List: func(show table.Show) *table.Grid { return table.All(shares, show) }}},
	}
	if len(rows) == 0 {
		s.Flat = &table.Grid{Table: shares}
	}
	if o.Asks() {
		asked := render.Ask(o, shareList(b, rows, &o.Options), nil)
		s.Kind, s.Items, s.Nested, s.Flat = "BalanceShares", asked.Items, nil, nil
		s.About = func(e *encode.Encoder) { writeSource(e, origin, b.Env.Cluster.Gaps) }
		s.Parts, s.Foot = []render.Part{asked.List("which node serves what is unknown")}, asked.More(o)
		if len(b.Report.Survey.Unknown) > 0 {
			s.Foot = append(s.Foot, render.Line{Role: render.RoleWarn, Text: "unknown, not included: " + unknownNames(b.Report.Survey.Unknown)})
		}
	}
	return s
}

func (b *Balance) document(e *encode.Encoder) {
	r := b.Report
	s := r.Survey
	e.BeginObject()
	writeHead(e, "Balance", &b.Env.Cluster.Origin, b.Env.Cluster.Gaps)
	e.Entry("asked", s.Asked)
	writeAuto(e, &s.Auto)
	e.Entry("weights", s.Weights)
	e.Entry("goal", r.Options.Goal)
	e.Entry("by", r.Options.By.String())
	e.Key("unknown_nodes")
	e.BeginList()
	for _, n := range s.Unknown {
		e.BeginObject()
		e.Entry("node", encode.ID(n.Node))
		e.Entry("reason", n.Outcome.String())
		e.EndObject()
	}
	e.EndList()
	e.Key("spread")
	writeSpread(e, &s.Spread)
	if r.Plans != nil {
		e.Key("spread_after")
		writeSpread(e, &r.After)
	}
	e.Key("nodes")
	b.shares(e, s.Nodes, nil)
	e.Key("items")
	e.BeginList()
	for i := range r.Groups {
		e.BeginObject()
		b.item(e, i)
		e.EndObject()
	}
	e.EndList()
	e.EndObject()
}

func writeAuto(e *encode.Encoder, a *balance.Auto) {
	e.Key("auto_balance")
	e.BeginObject()
	e.Entry("known", a.Known)
	if a.Known {
		e.Entry("on", a.On)
	}
	e.Entry("value", a.Value)
	e.Entry("from", a.From)
	e.Entry("dynamic_key", a.Key)
	e.EndObject()
}

func writeSpread(e *encode.Encoder, s *balance.Spread) {
	e.BeginObject()
	e.Entry("nodes", s.Nodes)
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"max_mean", s.MaxMean}, {"cv", s.CV}, {"busiest_percent", 100 * s.Busiest}, {"rows_max_mean", s.RowsMaxMean}, {"rows_cv", s.RowsCV}, {"memory_max_mean", s.MemoryMaxMean},
	} {
		// Where there are rows, and they cost nothing, it is unknown what they do.
		if x.value > 0 || s.Nodes > 1 && x.name != "memory_max_mean" && s.RowsMaxMean == 0 {
			e.Entry(x.name, x.value)
		}
	}
	e.EndObject()
}

// shares writes what nodes serve of a replica, or of all.
func (b *Balance) shares(e *encode.Encoder, list []*balance.Share, g *balance.Group) {
	rows := make([]shareRow, len(list))
	for i, x := range list {
		rows[i] = shareRow{x, g}
	}
	t := newShareTable(b, rows, &render.Options{})
	e.BeginList()
	for i := range rows {
		e.BeginObject()
		e.NonZero("unknown", writeFieldsInto(e, t.fields(i, table.Hidden)))
		e.EndObject()
	}
	e.EndList()
}

func (b *Balance) item(e *encode.Encoder, i int) {
	g := b.Report.Groups[i]
	name, replica := "", ""
	if g.Collection != nil {
		name = g.Collection.Name
	}
	if g.Replica != nil {
		replica = g.Replica.ID.String()
	}
	e.Entry("database", g.Database)
	e.Entry("collection", name)
	e.Entry("collection_id", g.ID.String())
	e.Entry("replica_id", replica)
	e.Entry("resource_group", g.ResourceGroup)
	if b.Report.Survey.Asked {
		e.Entry("sealed_segments", g.Sealed)
	}
	e.Entry("unknown_nodes", g.Unknown)
	e.Key("spread")
	writeSpread(e, &g.Spread)
	e.Key("shares")
	b.shares(e, g.Shares, g)
	if b.Report.Plans != nil {
		writePlan(e, b.Report.Plans[i], b.databases())
	}
	writeVerdict(e, b.Report.Verdicts[i])
}

func writePlan(e *encode.Encoder, p *balance.Plan, databases bool) {
	e.Key("plan")
	e.BeginObject()
	e.Entry("reached", p.Reached)
	e.Entry("why", p.Why)
	e.Entry("fewest", p.Fewest())
	e.Entry("at_least", p.AtLeast)
	e.Key("spread_after")
	writeSpread(e, &p.After)
	e.Entry("moves", p.Moves)
	e.Entry("channel_moves", p.Channels)
	e.Entry("calls", PlanScript(p, databases))
	ids := make([]string, len(p.MemoryUnknown))
	for i, id := range p.MemoryUnknown {
		ids[i] = id.String()
	}
	e.Entry("memory_unknown", ids)
	e.EndObject()
}

func writeVerdict(e *encode.Encoder, v *balance.Verdict) {
	e.Key("milvus")
	e.BeginObject()
	e.Entry("balancer", v.Balancer)
	e.Entry("balancer_from", v.BalancerFrom)
	e.Entry("modelled", v.Modelled)
	e.Entry("acts", v.Acts)
	e.Entry("why", v.Why)
	if v.Modelled {
		e.Entry("moves_at_once", v.Round)
		e.Entry("moves", v.Moves)
		e.Key("spread_after")
		writeSpread(e, &v.After)
	}
	e.Entry("scores", v.Scores)
	e.Entry("factors", v.Factors)
	e.EndObject()
}

func writeBalancePage(w io.Writer, b *Balance, _ *render.Options) error {
	origin := &b.Env.Cluster.Origin
	where := render.Harmless(origin.Root) + " @ " + render.Harmless(origin.Location)
	p := &webpage.Page{Window: "Balance of " + where, Under: []string{where}, Version: b.Version}
	if !origin.Taken.IsZero() {
		p.Under = append(p.Under, "state of "+render.Stamp(origin.Taken))
	}
	p.Headline, p.Tone, p.Facts, p.Commands = b.conclude()
	b.AddTo(p)
	p.Notes = append(p.Notes, "Weights: "+b.Report.Survey.Weights.String()+".")
	return render.WritePage(w, p)
}

// conclude says how even the work is, and what would even it out.
func (b *Balance) conclude() (headline string, tone webpage.Tone, facts []webpage.Fact, commands []webpage.Command) {
	r := b.Report
	if !r.Survey.Asked {
		return "Who serves what is unknown: the nodes were not asked", webpage.Neutral, nil, nil
	}
	facts = []webpage.Fact{{Name: "Auto-balance", Value: AutoText(&r.Survey.Auto)}}
	now := r.Options.By.Of(&r.Survey.Spread)
	headline = "The busiest query node has " + render.Ratio(now) + " times the mean work"
	switch {
	case now <= 0:
		return "No search work is known", webpage.Neutral, facts, nil
	case r.Plans != nil && r.Moves() > 0:
		facts = append(facts, webpage.Fact{Name: "Gain", Value: words.Plural(r.Moves(), "move") + ": max/mean " + render.Ratio(now) + " to " + render.Ratio(r.Options.By.Of(&r.After))})
		return headline, webpage.Warn, facts, []webpage.Command{{Code: b.SavedPlan(), Language: "python", Text: "Moves the segments. Make the plan again if it is not of today: compactions replace segments."}}
	case r.Plans != nil:
		return headline + ": no move would help", webpage.Good, facts, nil
	}
	return headline, webpage.Neutral, facts, nil
}

// AddTo adds the balance to a page: the picture, and each replica with its nodes and moves.
func (b *Balance) AddTo(p *webpage.Page) {
	blocks := balancePicture(b.Report.Survey)
	if b.Report.Survey.Asked {
		for _, text := range append(UnreadText(b.Env.Cluster.Loaded), RepeatedText(b.Report.Survey)) {
			if text != "" {
				blocks = append(blocks, webpage.Lines(webpage.Line{Class: "warn", Text: "Unknown: " + text}))
			}
		}
	}
	p.Add("Balance", blocks...)
	if !b.Report.Survey.Asked {
		return
	}
	for i, g := range b.Report.Groups {
		p.Add(GroupTitle(g), b.group(i, g)...)
	}
}

// AddPlan adds the balance to a page of other subjects: the picture, the moves as one script, the replicas folded.
func (b *Balance) AddPlan(p *webpage.Page) {
	blocks := balancePicture(b.Report.Survey)
	if b.Report.Plans != nil && b.Report.Moves() > 0 {
		_, _, facts, commands := b.conclude()
		blocks = append(blocks, webpage.Facts(facts), webpage.Commands(commands))
	}
	if b.Report.Survey.Asked {
		for i, g := range b.Report.Groups {
			blocks = append(blocks, webpage.Fold(GroupTitle(g), b.group(i, g)...))
		}
	}
	p.Add("Balance", blocks...)
}

// group are the nodes of a replica, and the moves that would even it out.
func (b *Balance) group(i int, g *balance.Group) []webpage.Block {
	spread := GroupSpread(g, b.Report.Options.By)
	if text := UnknownText(g); text != "" {
		spread += "; " + text
	}
	shares := b.shareTable(g)
	blocks := []webpage.Block{webpage.Prose(spread), shares.HTML()}
	if b.Report.Plans != nil {
		blocks = append(blocks, planBlocks(b.Report.Plans[i])...)
	}
	if text := VerdictText(b.Report.Verdicts[i], &b.Report.Survey.Auto, b.Report.Options.By); text != "" {
		blocks = append(blocks, webpage.Lines(webpage.Line{Class: "dim", Text: "Milvus: " + text}))
	}
	return blocks
}

func (b *Balance) shareTable(g *balance.Group) *webpage.Table {
	rows := make([]shareRow, len(g.Shares))
	for i, s := range g.Shares {
		rows[i] = shareRow{s, g}
	}
	t := htmlTable(newShareGrid(b, rows, &render.Options{KeepColumns: true}), "bar")
	t.Heads = append(t.Heads, webpage.Cell{Text: "COST SHARE", Class: "n"})
	for i := range rows {
		share := words.UnknownMark
		if rows[i].Known {
			share = part(rows[i].Cost, g.Cost())
		}
		t.Rows[i] = append(t.Rows[i], webpage.Cell{Text: share, Class: "n"})
	}
	return t
}

// htmlTable is a grid on a page, without the column of a name.
func htmlTable(g *table.Grid, without string) *webpage.Table {
	t, schema := &webpage.Table{}, g.Table.Schema()
	columns := slices.DeleteFunc(slices.Clone(g.Columns), func(j int) bool { return without != "" && schema.Columns[j].Name == without })
	for _, j := range columns {
		t.Heads = append(t.Heads, webpage.Cell{Text: schema.Columns[j].Title, Class: "n"})
	}
	for i := range g.Table.Len() {
		var cells []webpage.Cell
		for _, j := range columns {
			cells = append(cells, webpage.Cell{Text: render.Text(g.Table.Cell(i, j), schema.Columns[j].Kind), Class: "n"})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// planBlocks are the moves of a replica. The calls that make them are those of the whole page, in one script.
func planBlocks(plan *balance.Plan) []webpage.Block {
	blocks := []webpage.Block{webpage.Lines(webpage.Line{Named: true, Name: "Plan", Text: PlanText(plan)})}
	t := webpage.Table{Heads: []webpage.Cell{{Text: "segment", Class: "n"}, {Text: "rows", Class: "n"}, {Text: "size", Class: "n"}, {Text: "from", Class: "n"}, {Text: "to", Class: "n"}}}
	for _, m := range plan.Moves {
		var cells []webpage.Cell
		for _, s := range []string{m.Segment.String(), words.Number(m.Rows), render.Text(table.Cell{Int: m.Size}, table.Bytes), m.From.String(), m.To.String()} {
			cells = append(cells, webpage.Cell{Text: s, Class: "n"})
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) > 0 {
		blocks = append(blocks, t.HTML())
	}
	blocks = append(blocks, webpage.Prose(MemoryText(plan)))
	for _, m := range plan.Channels {
		blocks = append(blocks, webpage.Prose("Or move: shard "+m.Channel+" with "+words.Number(m.Rows)+" growing rows from node "+m.From.String()+" to "+m.To.String()+"."))
	}
	return blocks
}

// heatRows and heatColumns bound the heat map of a page: more is a wall, not a picture. darkest is the percentage of colour that a cell
// with all the work has: figures on it are still read.
const (
	heatRows    = 30
	heatColumns = 24
	darkest     = 45
)

// balancePicture draws who serves how much of the search work, as HTML: a bar a node, and which node has how much of each collection.
func balancePicture(s *balance.Survey) []webpage.Block {
	if s == nil || !s.Asked {
		return []webpage.Block{webpage.Lines(webpage.Line{Class: "dim", Text: "Who serves what is unknown: the nodes were not asked."})}
	}
	most, all := 0.0, 0.0
	for _, n := range s.Nodes {
		most, all = max(most, n.Cost), all+n.Cost
	}
	bars := webpage.Table{Name: "Search work by node", Heads: []webpage.Cell{{Text: "node"}, {}, {Text: "of all search work", Class: "n"}, {}}}
	for _, n := range s.Nodes {
		bar, share, text := webpage.Cell{Text: words.UnknownMark}, words.UnknownMark, n.State()
		if n.Known {
			text = words.Number(n.SealedRows) + " sealed and " + words.Number(n.GrowingRows) + " growing rows in " +
				words.Number(int64(n.Sealed)) + " + " + words.Number(int64(n.Growing)) + " segments"
			if state := n.State(); state != "" {
				text += ", " + state
			}
			if !s.Rowless(n) {
				bar, share = webpage.Cell{Bar: costPieces(n, most)}, part(n.Cost, all)
			}
		}
		bars.Rows = append(bars.Rows, []webpage.Cell{{Text: render.Harmless(n.Name()), Head: true}, bar, {Text: share, Class: "n"}, {Text: text}})
	}
	blocks := []webpage.Block{bars.HTML(), webpage.Key([2]string{"indexed", "behind an index"}, [2]string{"brute", "sealed, by brute force"}, [2]string{"growing", "growing, by brute force"})}
	if s.Spread.MaxMean > 0 {
		blocks = append(blocks, webpage.Prose("The busiest node has "+render.Ratio(s.Spread.MaxMean)+" times the mean work; coefficient of variation "+render.Ratio(s.Spread.CV)+"."))
	}
	blocks = append(blocks, balanceHeat(s)...)
	if len(s.Unknown) > 0 {
		blocks = append(blocks, webpage.Lines(webpage.Line{Class: "dim", Text: "Not known, and not in these figures: " + unknownNames(s.Unknown) + "."}))
	}
	return blocks
}

// costPieces are the parts of a node's bar.
func costPieces(n *balance.Share, most float64) (pieces []webpage.Piece) {
	for _, x := range []struct {
		class string
		cost  float64
	}{{"indexed", n.Cost - n.BruteCost}, {"brute", n.BruteCost - n.GrowingCost}, {"growing", n.GrowingCost}} {
		if x.cost > 0 && most > 0 {
			pieces = append(pieces, webpage.Piece{Class: x.class, On: math.Round(1000*x.cost/most) / 10})
		}
	}
	return pieces
}

// part is a share of a whole as a percentage, "-" of nothing.
func part(x, whole float64) string {
	if whole <= 0 {
		return words.NoneMark
	}
	return words.Percent(100 * x / whole)
}

// balanceHeat is the map of collections and nodes, the dearest collections first.
func balanceHeat(s *balance.Survey) []webpage.Block {
	note := func(text string) webpage.Block { return webpage.Lines(webpage.Line{Class: "dim", Text: text}) }
	if len(s.Nodes) > heatColumns {
		return []webpage.Block{note("The map of collections and nodes is left out: there are too many nodes.")}
	}
	groups, more := Heaviest(s.Groups, heatRows)
	if len(groups) == 0 {
		return nil
	}
	t := webpage.Table{Name: "Share of each collection's work by node", Class: "heat", Heads: []webpage.Cell{{Text: "share of each collection's work"}}}
	for _, n := range s.Nodes {
		t.Heads = append(t.Heads, webpage.Cell{Text: render.Harmless(n.Name())})
	}
	for _, g := range groups {
		row := []webpage.Cell{{Text: render.Harmless(g.Name()), Head: true}}
		for _, n := range s.Nodes {
			var cell webpage.Cell
			switch share := g.Share(n.Node); {
			case share == nil:
			case !share.Known || slices.ContainsFunc(g.Shares, s.Rowless):
				cell.Text = words.UnknownMark
			default:
				cell = webpage.Cell{Text: part(share.Cost, g.Cost()), Heat: int(math.Round(darkest * share.Cost / g.Cost()))}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	blocks := []webpage.Block{t.HTML()}
	if more > 0 {
		blocks = append(blocks, note("The "+strconv.Itoa(heatRows)+" dearest of "+strconv.Itoa(heatRows+more)+" replicas."))
	}
	return blocks
}
