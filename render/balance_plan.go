package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// PlanText says a plan in one line: "2 moves bring max/mean from 1.50 to 1.09, rows 1.39 to 1.32; no fewer moves do".
func PlanText(p *balance.Plan) string {
	by := p.Options.By
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even enough: " + Ratio(by.Of(&p.Before)) + " is within " + Ratio(p.Options.Goal)
	case p.Unplanned:
		return "none: " + Harmless(p.Why)
	case len(p.Moves) == 0:
		return "no move helps: " + Harmless(p.Why)
	}
	text := words.Plural(len(p.Moves), "move") + " bring"
	if len(p.Moves) == 1 {
		text += "s"
	}
	text += " max/mean from " + Ratio(by.Of(&p.Before)) + " to " + Ratio(by.Of(&p.After))
	other := balance.ByRows
	if by == other {
		other = balance.ByCost
	}
	text += ", " + other.String() + " " + Ratio(other.Of(&p.Before)) + " to " + Ratio(other.Of(&p.After))
	switch {
	case !p.Reached:
		text += "; " + Ratio(p.Options.Goal) + " is out of reach: " + Harmless(p.Why)
	case p.Fewest():
		text += "; no fewer moves do"
	}
	return text
}

func (t *balanceText) plan(p *balance.Plan) {
	role := RolePlain
	if !p.Reached {
		role = RoleWarn
	}
	t.line(role, "  Plan: "+PlanText(p))
	for i, m := range p.Moves {
		text := "  " + LeftPad(strconv.Itoa(i+1), 4) + "  segment " + m.Segment.String() + "  " + words.Number(m.Rows) + " rows  " +
			words.Bytes(m.Size) + "  " + m.From.String() + Arrow(t.o) + m.To.String()
		t.Buf = append(append(t.Buf, Fit(text, max(t.o.Width, BoolInt(t.o.Width == 0)<<16), t.ellipsis())...), '\n')
	}
	for _, m := range p.Channels {
		t.line(RolePlain, "  or move the shard "+Harmless(m.Channel)+" with its "+words.Number(m.Rows)+" growing rows from node "+m.From.String()+" to "+m.To.String())
	}
	for i, line := range PlanScript(p, t.b.databases()) {
		if i == 0 {
			t.line(RoleDim, "  By hand, in pymilvus:")
		}
		t.Buf = append(append(append(t.Buf, "    "...), line...), '\n') // never cut: it is copied
	}
	if text := MemoryText(p); text != "" {
		t.line(RoleWarn, "  "+text)
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
	fmt.Fprintf(&s, "# Moves that balance the query nodes of %s @ %s", Harmless(origin.Root), Harmless(origin.Location))
	if !origin.Taken.IsZero() {
		s.WriteString(", as of " + Stamp(origin.Taken))
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
		fmt.Fprintf(&b, "# or move the shard %s (%s growing rows)  %d -> %d\n", Harmless(m.Channel), words.Number(m.Rows), m.From, m.To)
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
