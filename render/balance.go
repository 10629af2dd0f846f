package render

import (
	"io"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// Balance is what there is to write about the balance of a cluster.
type Balance struct {
	Env    *view.Env
	Report *balance.Report
	// Version is kitescope's, for pages that are kept.
	Version string
}

// BalanceFormats are the formats of balance.
func BalanceFormats() Formats {
	return FormatsOf(map[string]string{
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
func WriteBalance(w io.Writer, b *Balance, f Format, o ReportOptions) error {
	own := func(write func(w io.Writer, b *Balance, o *Options) error) func(io.Writer) error {
		return func(w io.Writer) error { return write(w, b, &o.Options) }
	}
	return b.sheet(&o, map[string]func(io.Writer) error{"table": own(writeBalance), "wide": own(writeBalanceWide), "html": own(writeBalancePage)}).Write(w, f)
}

// BalanceSchema is what can be asked of the shares that WriteBalance writes: of each replica a row for each node.
func BalanceSchema(o ReportOptions) *table.Schema {
	return shareList(&Balance{Report: &balance.Report{Survey: &balance.Survey{}}}, nil, &o.Options).Schema()
}

func writeBalanceWide(w io.Writer, b *Balance, o *Options) error {
	wide := *o
	wide.Width, wide.KeepColumns = 0, true
	return writeBalance(w, b, &wide)
}

// writeBalance writes for people: all nodes, the map, then each replica with its plan.
func writeBalance(w io.Writer, b *Balance, o *Options) error {
	t := &balanceText{Output: encode.NewOutput(w, encode.Pieces), painter: NewPainter(o), o: o, b: b, r: b.Report}
	t.head()
	if !t.r.Survey.Asked {
		t.line(RoleWarn, "nodes not queried: which node serves what is unknown; use a live source, a bundle saved with --live, or --runtime FILE")
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
	painter Painter
	o       *Options
	b       *Balance
	r       *balance.Report
}

func (t *balanceText) line(role Role, text string) {
	for _, s := range t.wrap(text, t.o.Width) {
		t.Buf = append(t.painter.Paint(t.Buf, role, s), '\n')
	}
	t.Drain()
}

// wrap breaks a harmless text at blanks to a width; what follows the first line is indented as it is.
func (t *balanceText) wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = indent + word
		case Cells(line)+1+Cells(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = indent + "  " + word
		}
	}
	if line == "" {
		return []string{""}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = Fit(lines[i], width, t.ellipsis())
	}
	return lines
}

func (t *balanceText) ellipsis() string {
	if t.o.ASCII {
		return "~"
	}
	return "…"
}

func (t *balanceText) head() {
	c := t.b.Env.Cluster
	t.Buf = t.painter.Paint(t.Buf, RoleTitle, Fit(Harmless(c.Origin.Root)+" @ "+Harmless(c.Origin.Location), max(t.o.Width, 1<<16*BoolInt(t.o.Width == 0)), t.ellipsis()))
	t.Buf = append(t.Buf, '\n')
	t.line(RolePlain, "auto-balance "+AutoText(&t.r.Survey.Auto))
	if t.r.Survey.Asked {
		for _, text := range UnreadText(t.b.Env.Cluster.Loaded) {
			t.line(RoleWarn, text)
		}
	}
	if len(t.r.Survey.Unknown) > 0 {
		t.line(RoleWarn, "unknown, not included: "+unknownNames(t.r.Survey.Unknown))
	}
	if text := RepeatedText(t.r.Survey); text != "" {
		t.line(RoleWarn, text)
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
		names[i] = Harmless(x.Name()) + " (" + x.Outcome.String() + ")"
	}
	return strings.Join(names, ", ")
}

// AutoText says whether Milvus balances by itself, and who says so.
func AutoText(a *balance.Auto) string {
	switch {
	case !a.Known:
		return words.UnknownMark + ": no process reported " + balance.SwitchKey
	case a.On:
		return "on (" + Harmless(a.From) + ")"
	}
	return "off (" + Harmless(a.From) + ": " + balance.SwitchKey + "=" + Harmless(a.Value) + ")"
}

// SpreadText is "max/mean 1.33  CV 0.58  rows 1.20", of the measure that counts first.
func SpreadText(s *balance.Spread, by balance.Measure) string {
	if s.Nodes < 2 || s.MaxMean == 0 && s.RowsMaxMean == 0 {
		return "max/mean " + words.NoneMark
	}
	texts := []string{"max/mean " + measured(by.Of(s))}
	if cv, ok := by.CV(s); ok && by.Of(s) > 0 {
		texts = append(texts, "CV "+Ratio(cv))
	}
	for _, m := range []balance.Measure{balance.ByCost, balance.ByRows, balance.ByMemory} {
		if m != by && m.Of(s) > 0 {
			texts = append(texts, m.String()+" "+Ratio(m.Of(s)))
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
	return Ratio(x)
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
	title := Harmless(g.Name())
	switch {
	case g.Unread:
		return title + " (the replicas were not read)"
	case g.Replica == nil:
		return title + " (no replica in the metadata)"
	}
	title += "  replica " + g.Replica.ID.String()
	if g.ResourceGroup != "" && g.ResourceGroup != "__default_resource_group" {
		title += " in " + Harmless(g.ResourceGroup)
	}
	return title
}

func (t *balanceText) title(title, note string, role Role) {
	t.Buf = append(t.Buf, '\n')
	if t.o.Width > 0 && Cells(title)+2+Cells(note) > t.o.Width {
		t.Buf = append(t.painter.Paint(t.Buf, RoleTitle, Fit(title, t.o.Width, t.ellipsis())), '\n')
		t.line(role, "  "+note)
		return
	}
	t.Buf = t.painter.Paint(t.Buf, RoleTitle, title)
	t.Buf = append(t.painter.Paint(append(t.Buf, "  "...), role, note), '\n')
}

// spreadRole is how a spread looks: over the goal it wants a look.
func (t *balanceText) spreadRole(s *balance.Spread) Role {
	if t.r.Options.By.Of(s) > t.r.Options.Goal {
		return RoleWarn
	}
	return RolePlain
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
	text := newTable(newShareGrid(t.b, rows, t.o), t.o, "  ")
	text.header(&t.Output)
	text.rows(&t.Output)
}

func (t *balanceText) group(i int, g *balance.Group) {
	role := t.spreadRole(&g.Spread)
	if g.TooFew() {
		role = RolePlain
	}
	t.title(GroupTitle(g), GroupSpread(g, t.r.Options.By), role)
	t.shares(g.Shares, g)
	if text := UnknownText(g); text != "" {
		t.line(RoleWarn, "  "+text)
	}
	if t.r.Plans != nil {
		t.plan(t.r.Plans[i])
	}
	if v := t.r.Verdicts[i]; t.r.Plans != nil || len(v.Moves) > 0 {
		t.line(RoleDim, "  Milvus: "+VerdictText(v, &t.r.Survey.Auto, t.r.Options.By))
	}
}

// VerdictText says what Milvus's own balancer makes of a replica: "off; on, ScoreBasedBalancer moves
// 3 segments, 3 of them at once, to max/mean 1.09".
func VerdictText(v *balance.Verdict, a *balance.Auto, by balance.Measure) string {
	text := Harmless(v.Does)
	if len(v.Moves) > 0 {
		text += ", to max/mean " + measured(by.Of(&v.After))
		if by != balance.ByRows {
			text += ", rows " + Ratio(v.After.RowsMaxMean)
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
		text := words.Plural(t.r.Moves(), "move") + " in total: max/mean over all replicas " + Ratio(t.r.Options.By.Of(&t.r.Survey.Spread)) + " to " + Ratio(t.r.Options.By.Of(&t.r.After)) +
			". kitescope itself changes nothing."
		if a := &t.r.Survey.Auto; !a.Known || a.On {
			text += " While auto-balance is on, Milvus may move segments back."
		}
		t.line(RolePlain, text)
	}
	t.line(RoleDim, ShareLegend(t.o.ASCII))
	t.line(RoleDim, SpreadLegend)
	t.line(RoleDim, "weights: "+t.r.Survey.Weights.String())
}
