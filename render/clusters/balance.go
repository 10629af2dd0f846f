package clusters

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
)

// Balance holds the input of WriteBalance.
type Balance struct {
	Env    *view.Env
	Report *balance.Report
}

// BalanceFormats returns the formats of a balance report.
func BalanceFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "nodes of each replica, with plans (default)",
		"wide":  "the same with all figures of a node",
		"json":  "one JSON object (docs/reference/json.md)",
		"jsonl": "one replica per line",
		"csv":   "one line per replica and node (RFC 4180)",
		"name":  "",
	})
}

// WriteBalance writes a report of the balance.
func WriteBalance(w io.Writer, b *Balance, f render.Format, o render.ReportOptions) error {
	return b.sheet(&o).Write(w, f)
}

// BalanceSchema returns the keys of shares that selections can use. There is a share for each node of each replica.
func BalanceSchema(o render.ReportOptions) *table.Schema {
	return shareList(&Balance{Report: &balance.Report{Survey: &balance.Survey{}}}, nil, &o.Options).Schema()
}

// sheet lays out all nodes, then each replica with its plan. In JSON an item is a replica. In CSV a line is a node of
// a replica.
func (b *Balance) sheet(o *render.ReportOptions) *render.Sheet {
	r := b.Report
	var rows []shareRow
	for _, g := range r.Groups {
		rows = append(rows, rowsOf(g.Shares, g)...)
	}
	shares := newShareTable(b, rows, &o.Options)
	s := &render.Sheet{
		Options: o, Head: append([]render.Line{{Role: render.RoleTitle, Text: b.where()}}, b.HeadLines()...),
		WriteAll: b.document, Open: 2,
		Items: render.ScriptGrid(len(r.Groups), len(r.Groups), nil), Nested: b.item,
		Flat: &table.Grid{Table: shares},
	}
	if len(rows) > 0 {
		s.Flat = table.All(shares, table.OnDemand)
	}
	switch {
	case o.HasQuery():
		asked := render.Select(o, shareList(b, rows, &o.Options), nil)
		s.Kind, s.Items, s.Nested, s.Flat, s.Head = "BalanceShares", asked.Items, nil, nil, s.Head[:1]
		s.About = func(e *encode.Encoder) { writeSource(e, &b.Env.Cluster.Origin, b.Env.Cluster.Gaps) }
		s.Parts, s.Foot = []render.Part{asked.List("which node serves what is unknown")}, asked.More(o)
		if len(r.Survey.Unknown) > 0 {
			s.Foot = append(s.Foot, render.Line{
				Role: render.RoleWarn, Text: "unknown, not included: " + unknownNames(r.Survey.Unknown),
			})
		}
	case !r.Survey.HasRuntime:
		s.Foot = []render.Line{{
			Role: render.RoleWarn,
			Text: "nodes not queried: which node serves what is unknown; use a live source, a bundle saved with " +
				"--live, or --runtime FILE",
		}}
	default:
		s.Parts = append(b.nodes(o), b.replicas(o)...)
		s.Parts = append(s.Parts, render.Part{Head: b.FootLines(o.ASCII, true)})
	}
	return s
}

func (b *Balance) where() string {
	origin := &b.Env.Cluster.Origin
	return render.Harmless(origin.Root) + " @ " + render.Harmless(origin.Location)
}

// nodes returns the table of the nodes, with their shares of all replicas.
func (b *Balance) nodes(o *render.ReportOptions) []render.Part {
	s := b.Report.Survey
	return []render.Part{
		{
			Head: b.title("ALL REPLICAS", SpreadText(&s.Spread, b.Report.Options.By), &s.Spread),
			List: b.shares(s.Nodes, nil, o),
		},
	}
}

// replicas returns the table of each replica, followed by its plan.
func (b *Balance) replicas(o *render.ReportOptions) (parts []render.Part) {
	for i, g := range b.Report.Groups {
		spread := &g.Spread
		if g.TooFewSegments() {
			spread = &balance.Spread{}
		}
		parts = append(parts, render.Part{
			Head: b.title(GroupTitle(g), GroupSpread(g, b.Report.Options.By), spread), List: b.shares(g.Shares, g, o),
		})
		if lines := b.PlanLines(i); len(lines) > 0 {
			parts = append(parts, render.Part{Head: lines})
		}
	}
	return parts
}

// title returns the title of a table and its spread. A spread above the goal is a warning.
func (b *Balance) title(title, note string, s *balance.Spread) []render.Line {
	role := render.RolePlain
	if b.Report.Options.By.MaxMean(s) > b.Report.Options.Goal {
		role = render.RoleWarn
	}
	return []render.Line{{Role: render.RoleTitle, Text: title}, {Role: role, Text: note}}
}

func (b *Balance) shares(
	list []*balance.Share, g *balance.Group, o *render.ReportOptions,
) func(show table.Show) *table.Grid {
	t := newShareTable(b, rowsOf(list, g), &o.Options)
	return func(show table.Show) *table.Grid { return table.All(t, show) }
}

func rowsOf(list []*balance.Share, g *balance.Group) []shareRow {
	rows := make([]shareRow, len(list))
	for i, x := range list {
		rows[i] = shareRow{x, g}
	}
	return rows
}

// HeadLines returns the state of Milvus's auto-balance, and warnings about unknown parts of the cluster and
// about rows that may count twice.
func (b *Balance) HeadLines() []render.Line {
	s := b.Report.Survey
	auto := render.RolePlain
	if s.Auto.Known && !s.Auto.On {
		auto = render.RoleWarn
	}
	lines := []render.Line{{Role: auto, Text: "auto-balance " + autoText(&s.Auto)}}
	warn := func(text string) { lines = append(lines, render.Line{Role: render.RoleWarn, Text: text}) }
	if s.HasRuntime {
		for _, text := range unreadText(b.Env.Cluster.Loaded) {
			warn(text)
		}
	}
	if len(s.Unknown) > 0 {
		warn("unknown, not included: " + unknownNames(s.Unknown))
	}
	sum, all := int64(0), int64(0)
	for _, n := range s.Nodes {
		sum, all = sum+n.RepeatedRows, all+n.Rows()
	}
	if sum > 0 {
		warn("metrics do not name segments: up to " + words.Number(sum) + " of " + words.Number(all) +
			" growing rows may count twice: segments being handed over")
	}
	return lines
}

// FootLines returns the total effect of all plans and a legend. cv reports whether the tables have coefficients of
// variation.
func (b *Balance) FootLines(ascii, cv bool) (lines []render.Line) {
	r := b.Report
	if r.Plans != nil && r.Moves() > 0 {
		text := words.Plural(r.Moves(), "move") + " in total: max/mean over all replicas " +
			render.Ratio(r.Options.By.MaxMean(&r.Survey.Spread)) + " to " +
			render.Ratio(r.Options.By.MaxMean(&r.After)) + ". kitescope itself changes nothing."
		if a := &r.Survey.Auto; !a.Known || a.On {
			text += " While auto-balance is on, Milvus may move segments back."
		}
		lines = append(lines, render.Line{Text: text})
	}
	for _, text := range append(b.legend(ascii, cv), "weights: "+r.Survey.Weights.String()) {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	return lines
}

// legend explains the marks and terms of the tables.
func (b *Balance) legend(ascii, cv bool) (lines []string) {
	var all balance.Share
	for _, x := range b.Report.Survey.Nodes {
		all.Cost, all.BruteCost, all.GrowingCost, all.Copies = all.Cost+x.Cost, all.BruteCost+x.BruteCost,
			all.GrowingCost+x.GrowingCost, all.Copies+x.Copies
	}
	var marks []string
	for _, mark := range []struct {
		cost        float64
		sign, plain string
		text        string
	}{
		{all.Cost - all.BruteCost, "▇", "#", "behind an index"},
		{all.BruteCost - all.GrowingCost, "▒", "+", "sealed by brute force"},
		{all.GrowingCost, "░", "-", "growing"},
	} {
		if ascii {
			mark.sign = mark.plain
		}
		if mark.cost > 0 {
			marks = append(marks, mark.sign+" "+mark.text)
		}
	}
	if len(marks) > 0 {
		lines = append(lines, "split: "+strings.Join(marks, ", "))
	}
	text := "max/mean: the busiest node over the mean, 1 is even"
	if cv {
		text += "; CV: standard deviation over the mean, 0 is even"
	}
	lines = append(lines, text)
	if all.Copies > 0 {
		lines = append(lines, "copy: a segment that two nodes hold, included in the work of the other")
	}
	return lines
}

// unreadText returns a line for each part of the metadata that was not read, with the effect on the report.
func unreadText(loaded model.Part) (lines []string) {
	for _, x := range []struct {
		part model.Part
		text string
	}{
		{model.PartObjects, "collections were not read: search cost unknown"},
		{model.PartIndexes, "index definitions were not read: all rows count as brute force"},
		{model.PartServing, "replicas were not read: the split of work among nodes is a guess"},
		{model.PartSessions, "sessions were not read: which nodes take segments is unknown"},
		{
			model.PartSegments,
			"the records of segments were not read: rows are known only for indexed ones, sizes for none",
		},
		{model.PartLogs, "logs of segments were not read: sizes are unknown"},
	} {
		if !loaded.Has(x.part) {
			lines = append(lines, x.text)
		}
	}
	return lines
}

// unknownNames returns the nodes that did not report their segments, each with the reason.
func unknownNames(nodes []*model.LiveNode) string {
	names := make([]string, len(nodes))
	for i, x := range nodes {
		names[i] = render.Harmless(x.Name()) + " (" + x.Outcome.String() + ")"
	}
	return strings.Join(names, ", ")
}

// autoText describes whether Milvus balances automatically, and where that is set.
func autoText(a *balance.Auto) string {
	switch {
	case !a.Known:
		return words.UnknownMark + ": no process reported " + balance.SwitchKey
	case a.On:
		return "on (" + render.Harmless(a.From) + ")"
	}
	return "off (" + render.Harmless(a.From) + ": " + balance.SwitchKey + "=" + render.Harmless(a.Value) + ")"
}

// SpreadText returns the spread over the nodes. The measure by comes first, e.g. "max/mean 1.33  CV 0.58  rows
// 1.20".
func SpreadText(s *balance.Spread, by balance.Measure) string {
	if s.Nodes < 2 || s.MaxMean == 0 && s.RowsMaxMean == 0 {
		return "max/mean " + words.NoneMark
	}
	texts := []string{"max/mean " + ratioText(by.MaxMean(s))}
	if cv, ok := by.CV(s); ok && by.MaxMean(s) > 0 {
		texts = append(texts, "CV "+render.Ratio(cv))
	}
	for _, m := range []balance.Measure{balance.ByCost, balance.ByRows, balance.ByMemory} {
		if m != by && m.MaxMean(s) > 0 {
			texts = append(texts, m.String()+" "+render.Ratio(m.MaxMean(s)))
		}
	}
	return strings.Join(texts, "  ")
}

// GroupSpread returns the SpreadText of a replica. If the replica has too few segments for a better spread, it
// adds the number of segments and nodes.
func GroupSpread(g *balance.Group, by balance.Measure) string {
	text := SpreadText(&g.Spread, by)
	if g.TooFewSegments() && g.Spread.Nodes > 1 && g.Sealed > 0 {
		text += "  (" + words.Plural(g.Sealed, "segment") + " for " + words.Plural(g.Spread.Nodes, "node") + ")"
	}
	return text
}

// ratioText formats the largest share divided by the mean. A known ratio is at least 1; 0 means unknown.
func ratioText(x float64) string {
	if x == 0 {
		return words.UnknownMark
	}
	return render.Ratio(x)
}

// unknownText returns a warning that the figures of a replica do not cover all its nodes, or "" if they do.
func unknownText(g *balance.Group) string {
	if g.Unknown == 0 {
		return ""
	}
	return "segments on " + words.Plural(g.Unknown, "node") + " unknown: figures and plan cover the others"
}

// GroupTitle returns the collection, the id and the resource group of a replica.
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

// verdictText describes how Milvus's own balancer would treat a replica, e.g. "off; if on, ScoreBasedBalancer
// moves 3 segments, 3 in the first round, to max/mean 1.09".
func verdictText(v *balance.Verdict, a *balance.Auto, by balance.Measure) string {
	text := render.Harmless(v.Behavior)
	if len(v.Moves) > 0 {
		text += ", to max/mean " + ratioText(by.MaxMean(&v.After))
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

// PlanLines returns the plan of the i-th replica: its moves, the calls for them, and the actions of Milvus's
// own balancer.
func (b *Balance) PlanLines(i int) (lines []render.Line) {
	r := b.Report
	warn := func(text string) {
		if text != "" {
			lines = append(lines, render.Line{Role: render.RoleWarn, Text: "  " + text})
		}
	}
	warn(unknownText(r.Groups[i]))
	if r.Plans != nil {
		p := r.Plans[i]
		role := render.RolePlain
		if !p.Reached {
			role = render.RoleWarn
		}
		lines = append(lines, render.Line{Role: role, Text: "  Plan: " + planText(p)})
		for j := range p.Moves {
			lines = append(lines, render.Line{Text: "  " + moveText(j, &p.Moves[j])})
		}
		for j, call := range planScript(p, b.databases()) {
			if j == 0 {
				lines = append(lines, render.Line{Role: render.RoleDim, Text: "  By hand, in pymilvus:"})
			}
			lines = append(lines, render.Line{Text: "    " + call, Code: true})
		}
		warn(memoryText(p))
	}
	if v := r.Verdicts[i]; r.Plans != nil || len(v.Moves) > 0 {
		lines = append(lines, render.Line{
			Role: render.RoleDim, Text: "  Milvus: " + verdictText(v, &r.Survey.Auto, r.Options.By),
		})
	}
	return lines
}

// planText returns a plan in one line, e.g. "2 moves bring max/mean from 1.50 to 1.09, rows 1.39 to 1.32".
func planText(p *balance.Plan) string {
	by := p.Options.By
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even enough: " + render.Ratio(by.MaxMean(&p.Before)) + " is within " + render.Ratio(p.Options.Goal)
	case p.Unplanned:
		return "none: " + render.Harmless(p.Why)
	case len(p.Moves) == 0:
		return "no move helps: " + render.Harmless(p.Why)
	}
	text := words.Count(len(p.Moves), "move brings", "moves bring") + " max/mean from " +
		render.Ratio(by.MaxMean(&p.Before)) + " to " + render.Ratio(by.MaxMean(&p.After))
	other := balance.ByRows
	if by == other {
		other = balance.ByCost
	}
	text += ", " + other.String() + " " + render.Ratio(other.MaxMean(&p.Before)) + " to " +
		render.Ratio(other.MaxMean(&p.After))
	if !p.Reached {
		text += "; " + render.Ratio(p.Options.Goal) + " is out of reach: " + render.Harmless(p.Why)
	}
	return text
}

// moveText returns the i-th move of a plan in one line.
func moveText(i int, m *balance.Move) string {
	return fmt.Sprintf("%4d  segment %d  %s rows  %s  %d -> %d", i+1, m.Segment, words.Number(m.Rows),
		words.Bytes(m.Size), m.From, m.To)
}

// memoryText returns a warning that lists the nodes whose free memory is unknown, or "" if it is known for all
// or the plan has no moves.
func memoryText(p *balance.Plan) string {
	if len(p.MemoryUnknown) == 0 || len(p.Moves) == 0 {
		return ""
	}
	return "the memory of " + strings.Join(facts.QueryNodeNames(p.MemoryUnknown), ", ") +
		" is unknown: check for room first"
}

func nodeIDs(nodes []model.NodeID) []string {
	ids := make([]string, len(nodes))
	for i, id := range nodes {
		ids[i] = id.String()
	}
	return ids
}

// planScript returns the pymilvus calls of a plan. They select the database if it is not the default one, or if
// databases is set because the script has plans of several databases.
func planScript(p *balance.Plan, databases bool) []string {
	var lines []string
	for i, c := range p.Calls() {
		if i == 0 && c.Database != "" && (databases || c.Database != "default") {
			lines = append(lines, "db.using_database("+shellquote.Python(c.Database)+")")
		}
		lines = append(lines, c.String())
	}
	return lines
}

// databases reports whether plans move segments outside of the default database.
func (b *Balance) databases() bool {
	return slices.ContainsFunc(b.Report.Plans, func(p *balance.Plan) bool {
		return len(p.Moves) > 0 && p.Group.Database != "" && p.Group.Database != "default"
	})
}

// SavedPlan returns the plans as a Python script for the operator: the calls, and comments with the moves and their
// reasons.
func (b *Balance) SavedPlan() string {
	var s strings.Builder
	s.WriteString("# Moves that balance the query nodes of " + b.where())
	if taken := b.Env.Cluster.Origin.Taken; !taken.IsZero() {
		s.WriteString(", as of " + render.Stamp(taken))
	}
	s.WriteString("\n# Compactions replace segments, and Milvus's own balancer moves them: create the plan again if " +
		"it is not from today.\n")
	if len(b.Report.Survey.Unknown) > 0 {
		s.WriteString("# Unknown, not included: " + unknownNames(b.Report.Survey.Unknown) + "\n")
	}
	if b.Report.Moves() > 0 {
		names := "connections, utility"
		if b.databases() {
			names = "connections, db, utility" // older versions have no db
		}
		s.WriteString("from pymilvus import " + names +
			"\n\nconnections.connect(host=\"localhost\", port=\"19530\")  # a proxy of the cluster\n")
	}
	for _, p := range b.Report.Plans {
		if len(p.Moves) == 0 {
			continue
		}
		s.WriteString("\n# " + GroupTitle(p.Group) + "\n# " + planText(p) + "\n")
		for i := range p.Moves {
			s.WriteString("# " + moveText(i, &p.Moves[i]) + "\n")
		}
		for _, note := range render.NonBlank(unknownText(p.Group), memoryText(p)) {
			s.WriteString("# " + note + "\n")
		}
		for _, line := range planScript(p, b.databases()) {
			s.WriteString(line + "\n")
		}
	}
	return s.String()
}

// ShareLines returns the shares of a replica's nodes, or of all replicas if g is nil, as plain text within width: a
// header, and a line for each share.
func (b *Balance) ShareLines(list []*balance.Share, g *balance.Group, width int) (header string, rows []string) {
	o := &render.Options{Width: width}
	return layOut(table.All(newShareTable(b, rowsOf(list, g), o), table.Always), o)
}

// GroupLines returns the replicas of a report as plain text within width: a header, and a line for each replica.
func (b *Balance) GroupLines(width int) (header string, rows []string) {
	o := &render.Options{Width: width}
	return layOut(table.All(table.New(table.Schema{}, render.Positions(len(b.Report.Groups)), b.groupColumns()),
		table.Always), o)
}

// groupColumns returns the columns of replicas. A row is the index of a replica in the report.
func (b *Balance) groupColumns() []table.ColumnOf[int] {
	r := b.Report
	column := func(
		title string, kind table.Kind, priority int, known bool, cell func(g *balance.Group) table.Cell,
	) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, Kind: kind, Priority: priority},
			Cell: func(i int) table.Cell {
				if known && r.Groups[i].Spread.Nodes == 0 {
					return table.OfUnknown()
				}
				return cell(r.Groups[i])
			},
		}
	}
	return []table.ColumnOf[int]{
		column("REPLICA OF", table.Text, 0, false, func(g *balance.Group) table.Cell { return table.Of(g.Name()) }),
		column("RESOURCE GROUP", table.Text, 5, false, func(g *balance.Group) table.Cell {
			return table.Of(g.ResourceGroup)
		}),
		column("NODES", table.Int, 4, false, func(g *balance.Group) table.Cell {
			return table.OfInt(int64(len(g.Shares)))
		}),
		column("SEALED", table.Int, 2, true, func(g *balance.Group) table.Cell { return table.OfInt(int64(g.Sealed)) }),
		column("ROWS", table.Int, 3, true, func(g *balance.Group) table.Cell { return table.OfInt(g.Rows()) }),
		column("MAX/MEAN", table.Text, 0, true, func(g *balance.Group) table.Cell {
			text := ratioText(r.Options.By.MaxMean(&g.Spread))
			if r.Options.By.MaxMean(&g.Spread) > r.Options.Goal && !g.TooFewSegments() {
				text += " " + render.Glyph(render.RoleWarn, false) // for readers who cannot distinguish the colors
			}
			return table.Of(text)
		}),
		column("OF ROWS", table.Text, 1, true, func(g *balance.Group) table.Cell {
			return table.Of(render.Ratio(g.Spread.RowsMaxMean))
		}),
		column("PLAN", table.Text, 0, true, func(g *balance.Group) table.Cell { return table.Of(b.planSummary(g)) }),
	}
}

// planSummary returns the plan of a replica in a few words.
func (b *Balance) planSummary(g *balance.Group) string {
	i := slices.Index(b.Report.Groups, g)
	if b.Report.Plans == nil || i < 0 {
		return words.NoneMark
	}
	p := b.Report.Plans[i]
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even"
	case len(p.Moves) == 0:
		return render.Harmless(p.Why)
	}
	text := words.Count(len(p.Moves), "move", "moves") + ": " + render.Ratio(p.Options.By.MaxMean(&p.After))
	if !p.Reached {
		text += " at best"
	}
	if p.Group.Unknown > 0 {
		text += ", not all known"
	}
	return text
}

// layOut writes a grid as a table and returns the header and the lines.
func layOut(g *table.Grid, o *render.Options) (header string, rows []string) {
	var out encode.Output
	render.WriteTableInto(&out, g, o, "")
	lines := strings.Split(strings.TrimSuffix(string(out.Buf), "\n"), "\n")
	return lines[0], lines[1:]
}

// document writes the whole report for JSON.
func (b *Balance) document(e *encode.Encoder) {
	r := b.Report
	s := r.Survey
	e.BeginObject()
	writeHead(e, "Balance", &b.Env.Cluster.Origin, b.Env.Cluster.Gaps)
	e.Entry("asked", s.HasRuntime)
	e.Key("auto_balance")
	e.BeginObject()
	e.Entry("known", s.Auto.Known)
	if s.Auto.Known {
		e.Entry("on", s.Auto.On)
	}
	e.Entry("value", s.Auto.Value)
	e.Entry("from", s.Auto.From)
	e.Entry("dynamic_key", s.Auto.Key)
	e.EndObject()
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
	writeSpread(e, "spread", &s.Spread)
	if r.Plans != nil {
		writeSpread(e, "spread_after", &r.After)
	}
	b.writeShares(e, "nodes", s.Nodes, nil)
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

func writeSpread(e *encode.Encoder, key string, s *balance.Spread) {
	e.Key(key)
	e.BeginObject()
	e.Entry("nodes", s.Nodes)
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"max_mean", s.MaxMean},
		{"cv", s.CV},
		{"busiest_percent", 100 * s.Busiest},
		{"rows_max_mean", s.RowsMaxMean},
		{"rows_cv", s.RowsCV},
		{"memory_max_mean", s.MemoryMaxMean},
	} {
		// A value of 0 is written only if the nodes have no rows. With rows, it means that their cost is
		// unknown.
		if x.value > 0 || s.Nodes > 1 && x.name != "memory_max_mean" && s.RowsMaxMean == 0 {
			e.Entry(x.name, x.value)
		}
	}
	e.EndObject()
}

// writeShares writes the shares of a replica's nodes, or of all replicas if g is nil.
func (b *Balance) writeShares(e *encode.Encoder, key string, list []*balance.Share, g *balance.Group) {
	t := newShareTable(b, rowsOf(list, g), &render.Options{})
	columns := t.Schema().DefaultColumns(table.Hidden, nil)
	e.Key(key)
	e.BeginList()
	for row := range list {
		var fields []view.Field
		for _, i := range columns {
			fields = append(fields, view.Field{Column: &t.Schema().Columns[i], Cell: t.Cell(row, i)})
		}
		e.BeginObject()
		e.NonZero("unknown", writeFieldsInto(e, fields))
		e.EndObject()
	}
	e.EndList()
}

// item writes the i-th replica for JSON.
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
	if b.Report.Survey.HasRuntime {
		e.Entry("sealed_segments", g.Sealed)
	}
	e.Entry("unknown_nodes", g.Unknown)
	writeSpread(e, "spread", &g.Spread)
	b.writeShares(e, "shares", g.Shares, g)
	if b.Report.Plans != nil {
		p := b.Report.Plans[i]
		e.Key("plan")
		e.BeginObject()
		e.Entry("reached", p.Reached)
		e.Entry("why", p.Why)
		writeSpread(e, "spread_after", &p.After)
		e.Entry("moves", p.Moves)
		e.Entry("calls", planScript(p, b.databases()))
		e.Entry("memory_unknown", nodeIDs(p.MemoryUnknown))
		e.EndObject()
	}
	v := b.Report.Verdicts[i]
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
		writeSpread(e, "spread_after", &v.After)
	}
	e.EndObject()
}

// overview returns the nodes as blocks of a page, with their shares of all replicas.
func (b *Balance) overview() []webpage.Block {
	if b.Report == nil || !b.Report.Survey.HasRuntime {
		const unasked = "Which node serves what is unknown: the nodes were not queried."
		return []webpage.Block{webpage.Lines(webpage.Line{Class: "dim", Text: unasked})}
	}
	blocks := []webpage.Block{webpage.Lines(render.PageLines(b.HeadLines())...)}
	return append(blocks, (&render.Sheet{Parts: b.nodes(&render.ReportOptions{})}).Blocks()...)
}

// AddPlan adds the balance to a page: the nodes, and all moves as one script.
func (b *Balance) AddPlan(p *webpage.Page) {
	blocks := b.overview()
	if b.Report.Plans != nil && b.Report.Moves() > 0 {
		of := b.Report.Options.By.MaxMean
		blocks = append(blocks, webpage.Facts([]webpage.Fact{{
			Name: "Gain",
			Value: words.Plural(b.Report.Moves(), "move") + ": max/mean " + render.Ratio(of(&b.Report.Survey.Spread)) +
				" to " + render.Ratio(of(&b.Report.After)),
		}}), webpage.Commands([]webpage.Command{{
			Code: b.SavedPlan(), Language: "python", Text: "Changes the cluster: moves the segments. " +
				"Create the plan again if it is not from today: compactions replace segments.",
		}}))
	}
	p.Add("Balance", blocks...)
}

// BarWidth returns the width in cells of the longest bar: 24, or less if the terminal has fewer than 140 cells.
func BarWidth(o *render.Options) int {
	switch {
	case o.Width == 0 || o.Width >= 140:
		return 24
	case o.Width >= 100:
		return 16
	case o.Width < 60: // a wider bar would be cut
		return 5
	}
	return 10
}

// costBar draws the search work of a share: indexed, sealed by brute force, growing. A share with cost maxCost fills
// all cells.
func costBar(s *balance.Share, maxCost float64, o *render.Options) string {
	glyphs := [...]string{"▇", "▒", "░", "·"}
	if o.ASCII {
		glyphs = [...]string{"#", "+", "-", "."}
	}
	var b strings.Builder
	sum, drawn := 0.0, 0
	for i, cost := range []float64{s.Cost - s.BruteCost, s.BruteCost - s.GrowingCost, s.GrowingCost} {
		sum += cost
		n := max(0, int(math.Round(sum/max(maxCost, 1)*float64(BarWidth(o))))-drawn)
		b.WriteString(strings.Repeat(glyphs[i], n))
		drawn += n
	}
	return cmp.Or(b.String(), glyphs[3])
}
