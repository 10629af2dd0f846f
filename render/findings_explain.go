package render

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"kitescope/doc"
	"kitescope/inspect/check"
)

// Checks lists checks, one a line.
func Checks(w io.Writer, checks []*check.Check, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, func(e *doc.Encoder) {
			e.BeginObject()
			e.Entry("apiVersion", APIVersion)
			e.Entry("kind", "CheckList")
			e.Key("items")
			e.BeginList()
			for _, x := range checks {
				writeCheck(e, x, checks)
			}
			e.EndList()
			e.EndObject()
		}, ItemsOnly, &o)
	}
	p := newPage(w, &o)
	id := 0
	for _, x := range checks {
		id = max(id, len(x.ID))
	}
	for _, x := range checks {
		p.out.Buf = p.paint.Paint(p.out.Buf, SeverityRole(x.Severity), SeverityGlyph(x.Severity, o.ASCII))
		p.out.Buf = append(p.out.Buf, ' ')
		p.out.Buf = p.paint.Paint(p.out.Buf, RoleAccent, x.ID)
		hang := id - len(x.ID) + Gutter
		used := 2 + id + Gutter
		for i, line := range p.wrap(x.Title, used) {
			if i > 0 {
				hang = used
			}
			p.out.Buf = append(append(appendSpaces(p.out.Buf, hang), line...), '\n')
		}
	}
	return p.out.Flush()
}

// Explain writes the documentation of a check; all are those that it may be related to.
func Explain(w io.Writer, x *check.Check, all []*check.Check, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, func(e *doc.Encoder) {
			e.BeginObject()
			e.Entry("apiVersion", APIVersion)
			e.Entry("kind", "Check")
			e.Key("item")
			writeCheck(e, x, all)
			e.EndObject()
		}, Everything, &o)
	}
	p := newPage(w, &o)
	p.put(0, 0, RoleTitle, x.ID+": "+x.Title)
	for i, part := range Explanation(x, all, readable(o.Width)) {
		p.blank()
		if i > 0 {
			p.put(0, 0, RoleAccent, part.Title)
		}
		for _, line := range part.Lines {
			p.out.Buf = append(append(p.out.Buf, line...), '\n')
		}
	}
	return p.out.Flush()
}

// readable is a width at which prose is read, at most that of the terminal.
func readable(w int) int {
	const longest = 96
	if w <= 0 {
		return longest
	}
	return min(w, longest)
}

func writeCheck(e *doc.Encoder, x *check.Check, all []*check.Check) {
	causes, effects := check.Causes(x, all)
	e.BeginObject()
	e.Entry("id", x.ID)
	e.Entry("title", x.Title)
	e.Entry("severity", x.Severity.String())
	e.Entry("since", x.Since)
	e.Entry("doc", strings.TrimSpace(x.Doc))
	e.Entry("remedy", strings.TrimSpace(x.Remedy))
	e.Entry("live", x.Live())
	e.Entry("reads", x.Reads())
	e.Entry("follows_from", check.IDs(causes))
	e.Entry("causes", check.IDs(effects))
	e.EndObject()
}

// Section is a part of an explanation: wrapped lines under a title, which the first has not.
type Section struct {
	Title string
	Lines []string
}

// Explanation is the documentation of a check for people, in lines of at most w cells.
func Explanation(x *check.Check, all []*check.Check, w int) []Section {
	causes, effects := check.Causes(x, all)
	reads := "needs no more than metadata"
	if x.Live() {
		reads = "needs a live cluster, a bundle saved with --live, or --runtime"
	}
	facts := []string{
		"worst severity  " + x.Severity.String(),
		"reads           " + strings.Join(x.Reads(), "; "),
		"                " + reads,
		"since           kitescope " + x.Since,
	}
	if len(causes) > 0 {
		facts = append(facts, "may follow from "+strings.Join(check.IDs(causes), ", "))
	}
	if len(effects) > 0 {
		facts = append(facts, "may cause       "+strings.Join(check.IDs(effects), ", "))
	}
	const label = 16
	var lines []string
	for _, fact := range facts {
		lines = append(lines, hung(fact[:label], fact[label:], w)...)
	}
	return []Section{{"", Prose(x.Doc, w)}, {"What to do", Prose(x.Remedy, w)}, {"About the check", lines}}
}

// hung wraps text behind a label.
func hung(label, text string, w int) []string {
	p := page{width: w}
	lines := p.wrap(text, len(label))
	for i := range lines {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		lines[i] = label + lines[i]
	}
	return lines
}

// Prose wraps the Markdown of a check's documentation for a terminal: paragraphs and lists flow,
// code that is indented or fenced stays as it is, backquotes are dropped.
func Prose(text string, w int) []string {
	var out []string
	var flow strings.Builder
	label := ""
	end := func() {
		if flow.Len() > 0 {
			out = append(out, unbroken(hung(label, flow.String(), w))...)
		}
		flow.Reset()
		label = ""
	}
	fenced := false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch mark := listMark(trimmed); {
		case strings.HasPrefix(trimmed, "```"):
			end()
			fenced = !fenced
		case fenced, flow.Len() == 0 && strings.HasPrefix(line, "    "):
			out = append(out, "    "+Harmless(strings.TrimPrefix(line, "    ")))
		case trimmed == "":
			end()
			if len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
		case mark != "":
			end()
			label = mark
			flow.WriteString(plainWords(trimmed[len(mark):]))
		default:
			if flow.Len() > 0 {
				flow.WriteByte(' ')
			}
			flow.WriteString(plainWords(trimmed))
		}
	}
	end()
	return slices.Clip(out)
}

// listMark is what a line of a list begins with: "- ", "12. "; "" of other lines.
func listMark(line string) string {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return line[:2]
	}
	digits := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsDigit(r) })
	if digits > 0 && strings.HasPrefix(line[digits:], ". ") {
		return line[:digits+2]
	}
	return ""
}

// plainWords drops the marks of Markdown that only change how text looks. Code that is short
// keeps together: its blanks are such that no line breaks there, until unbroken.
func plainWords(s string) string {
	const short = 40
	parts := strings.Split(Harmless(s), "`")
	for i := range parts {
		if i%2 == 1 && i < len(parts)-1 && len(parts[i]) <= short {
			parts[i] = strings.ReplaceAll(parts[i], " ", noBreak)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, ""), "**", "")
}

// noBreak is U+00A0, a blank at which no line ends.
const noBreak = "\u00a0"

func unbroken(lines []string) []string {
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], noBreak, " ")
	}
	return lines
}
