package clusters

import (
	"io"
	"regexp"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// CheckFormats returns the formats of the list of checks.
func CheckFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "what each check finds, in one line or more (default)",
		"name":  "",
	})
}

// Checks writes a list of checks.
func Checks(w io.Writer, checks []*check.Check, f render.Format, o render.ReportOptions) error {
	asked := render.Select(&o, checkTable(checks, checks), nil)
	s := &render.Sheet{
		Kind: "CheckList", Options: &o, About: func(*encode.Encoder) {}, Items: asked.Items,
		Parts: []render.Part{asked.List("")}, Foot: asked.More(&o),
	}
	return s.Write(w, f)
}

// CheckSchema returns the keys of checks that selections can use.
func CheckSchema(render.ReportOptions) *table.Schema { return checkTable(nil, nil).Schema() }

// checkTable returns the table of checks. all are the checks that they may be related to.
func checkTable(checks, all []*check.Check) *table.Rows[*check.Check] {
	seen := func(c table.ColumnOf[*check.Check], title string) table.ColumnOf[*check.Check] {
		return c.WithTitle(title, 0, nil)
	}
	list := func(name string, of func(x *check.Check) []string) table.ColumnOf[*check.Check] {
		return render.Key(name, table.List, func(x *check.Check) table.Cell { return table.OfList(of(x)) })
	}
	related := func(x *check.Check, effects bool) []string {
		from, to := check.Causes(x, all)
		return check.IDs([][]*check.Check{from, to}[render.BoolInt(effects)])
	}
	return table.New(table.Schema{
		Name: "checks", Singular: "check", Names: []string{"id"}, Sparse: true,
		Order: []string{"severity", "id", "title"},
	}, checks, []table.ColumnOf[*check.Check]{
		seen(render.TextKey("id", func(x *check.Check) string { return x.ID }), "CHECK").WithRole(func(
			*check.Check,
		) render.Role {
			return render.RoleAccent
		}),
		seen(render.TextKey("title", func(x *check.Check) string { return x.Title }), "FINDS"),
		seen(render.TextKey("severity", func(x *check.Check) string { return x.Severity.String() }),
			"SEVERITY").WithVocabulary().
			WithRole(func(x *check.Check) render.Role { return SeverityRole(x.Severity) }),
		render.TextKey("doc", func(x *check.Check) string { return strings.TrimSpace(x.Doc) }),
		render.TextKey("remedy", func(x *check.Check) string { return strings.TrimSpace(x.Remedy) }),
		render.Key("live", table.Bool, func(x *check.Check) table.Cell { return table.OfBool(x.Live()) }),
		list("reads", func(x *check.Check) []string { return x.Reads() }),
		list("symptoms", func(x *check.Check) []string { return x.Symptoms }),
		list("follows_from", func(x *check.Check) []string { return related(x, false) }),
		list("causes", func(x *check.Check) []string { return related(x, true) }),
	})
}

// Explain writes the documentation of a check. all are the checks that it may be related to.
func Explain(w io.Writer, x *check.Check, all []*check.Check, o render.Options) error {
	if o.Format.Documents() {
		return render.Document(func(e *encode.Encoder) {
			e.BeginObject()
			e.Entry("apiVersion", render.APIVersion)
			e.Entry("kind", "Check")
			e.Key("item")
			render.NewItems(table.All(checkTable([]*check.Check{x}, all), table.Hidden)).Write(e, 0)
			e.EndObject()
		}).Write(w, &o)
	}
	lines := []render.Line{{Role: render.RoleTitle, Text: x.ID + ": " + x.Title}}
	for i, part := range Explanation(x, all, proseWidth(o.Width)) {
		lines = append(lines, render.Line{})
		if i > 0 {
			lines = append(lines, render.Line{Role: render.RoleAccent, Text: part.Title})
		}
		for _, line := range part.Lines {
			lines = append(lines, render.Line{Text: line, NoWrap: true})
		}
	}
	out := encode.NewOutput(w, encode.Pieces)
	render.WriteLines(&out, lines, &o)
	return out.Flush()
}

// proseWidth returns the width of prose in a terminal of w cells: at most 96 cells, for readability.
func proseWidth(w int) int {
	const longest = 96
	if w <= 0 {
		return longest
	}
	return min(w, longest)
}

// Section is a part of an explanation: a title and wrapped lines. The first section has no title.
type Section struct {
	Title string
	Lines []string
}

// Explanation returns the documentation of a check, in lines of at most w cells.
func Explanation(x *check.Check, all []*check.Check, w int) []Section {
	causes, effects := check.Causes(x, all)
	reads := "needs only metadata"
	if x.Live() {
		reads = "needs a live cluster, a bundle saved with --live, or --runtime"
	}
	facts := []string{
		"worst severity  " + x.Severity.String(),
		"reads           " + strings.Join(x.Reads(), "; "),
		"                " + reads,
	}
	if len(x.Symptoms) > 0 {
		facts = append(facts, "symptoms        "+strings.Join(x.Symptoms, "; "))
	}
	if len(causes) > 0 {
		facts = append(facts, "may follow from "+strings.Join(check.IDs(causes), ", "))
	}
	if len(effects) > 0 {
		facts = append(facts, "may cause       "+strings.Join(check.IDs(effects), ", "))
	}
	if usual, others := x.EventKinds(); len(usual) > 0 {
		facts = append(facts, "can begin with  "+kindList(usual))
		if len(others) > 0 {
			facts = append(facts, "                less likely "+kindList(others))
		}
	}
	const label = 16
	var lines []string
	for _, fact := range facts {
		lines = append(lines, render.Hang(fact[:label], fact[label:], w)...)
	}
	return []Section{{"", Prose(x.Doc, w)}, {"What to do", Prose(x.Remedy, w)}, {"About the check", lines}}
}

func kindList(kinds []history.Kind) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return strings.Join(list, ", ")
}

// Prose wraps the Markdown of a check's documentation for a terminal of w cells. It reflows paragraphs and lists,
// keeps indented and fenced code unchanged, and drops backquotes.
func Prose(text string, w int) []string {
	var out []string
	label, flow := "", ""
	end := func() {
		if flow != "" {
			out = append(out, render.Hang(label, flow, w)...)
		}
		label, flow = "", ""
	}
	fenced := false
	for line := range strings.SplitSeq(strings.Trim(words.SanitizeLines(text), "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch mark := listMark.FindString(trimmed); {
		case strings.HasPrefix(trimmed, "```"):
			end()
			fenced = !fenced
		case fenced, flow == "" && strings.HasPrefix(line, "    "):
			out = append(out, "    "+strings.TrimPrefix(line, "    "))
		case trimmed == "":
			end()
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
		case mark != "":
			end()
			label, flow = mark, plainWords.Replace(trimmed[len(mark):])
		default:
			flow = strings.TrimLeft(flow+" "+plainWords.Replace(trimmed), " ")
		}
	}
	end()
	return out
}

// listMark matches the start of a list item, e.g. "- " or "12. ".
var listMark = regexp.MustCompile(`^([-*]|\d+\.) `)

// plainWords removes Markdown marks that only change the style of text.
var plainWords = strings.NewReplacer("`", "", "**", "")
