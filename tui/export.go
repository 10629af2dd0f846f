package tui

import (
	"io"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
)

// clipboardLimit is the size of the largest text that is copied, in bytes. Terminals drop longer OSC 52 sequences
// silently (xterm and others near 100 kB of base64).
const clipboardLimit = 74_000

// Copy makes the terminal copy a text to the clipboard (OSC 52). The terminal does not report whether it did.
func (m *Model) Copy(text, what string) Cmd {
	what = words.Sanitize(what)
	if text = render.SanitizePaste(text); len(text) > clipboardLimit {
		m.Notify(ToneWarn, what+" is too large to copy: save it to a file")
		return nil
	}
	m.Notify(ToneInfo, "copied by the terminal (OSC 52): "+what)
	return tea.SetClipboard(text)
}

// Tabular is a page that can be copied as a table.
type Tabular interface {
	// TSVTable returns the table as TSV with a header, and its number of rows.
	TSVTable() (tsv string, rows int)
}

// copyMenu offers the formats in which the page can be copied.
func copyMenu(m *Model) *Menu {
	n := &Menu{Title: "copy"}
	top := m.Top()
	if c, ok := top.(copier); ok {
		n.Items = append(n.Items, c.copies(m)...)
	}
	command := top.Command(m)
	item := MenuItem{Text: "the command that prints this", Run: func(m *Model, _ *Menu) Cmd {
		return m.copyCommand(command)
	}}
	if command == "" {
		item.Why = "none for this page"
	}
	n.Items = append(n.Items, item)
	if t, ok := top.(Tabular); ok {
		text, rows := t.TSVTable()
		if rows > 0 {
			n.Items = append(n.Items, MenuItem{
				Text: "table as TSV", Note: words.Plural(rows, "row"),
				Run: func(m *Model, _ *Menu) Cmd {
					return m.Copy(text, words.Plural(rows, "row"))
				},
			})
		}
	}
	if g, ok := top.(*gridPage); ok && g.rows.Table != nil {
		// computed now, because a refresh while the menu is open changes the page
		text := writeIDs(g.rows.Table, g.visibleRows())
		n.Items = append(n.Items, MenuItem{
			Text: "ids, one per line", Run: func(m *Model, _ *Menu) Cmd { return m.Copy(text, "ids") },
		})
	}
	return n
}

func (m *Model) copyCommand(command string) Cmd {
	line := commandLine(m, command)
	return m.Copy(line, line)
}

// withClusterFlags returns the commands of a fix with the flags for this cluster added to kitescope's own commands, so
// that they work when pasted elsewhere. Commands that name processes or files need no flags.
func withClusterFlags(m *Model, fix string) string {
	lines := strings.Split(fix, "\n")
	for i, line := range lines {
		if command, ours := strings.CutPrefix(line, "kitescope "); ours && !needsNoCluster(command) {
			lines[i] = commandLine(m, command)
		}
	}
	return strings.Join(lines, "\n")
}

// commandLine returns a kitescope command with the flags for the current cluster, at the current moment.
func commandLine(m *Model, command string) string {
	line := command
	if at, away := m.Revision(); away && supportsAt(command) {
		line += " --at rev:" + strconv.FormatInt(at, 10)
	} else if m.Config.NodeFlags != "" && !needsNoCluster(command) {
		line = m.Config.NodeFlags + " " + line
	}
	if m.Config.Command != "" {
		line = m.Config.Command + " " + line
	}
	return line
}

// supportsAt reports whether a command accepts --at.
func supportsAt(command string) bool {
	verb, _, _ := strings.Cut(command, " ")
	return slices.Contains([]string{"get", "describe", "tree", "overview", "balance", "diagnose"}, verb)
}

// needsNoCluster reports whether a command reads only files.
func needsNoCluster(command string) bool {
	verb, _, _ := strings.Cut(command, " ")
	return verb == "explain" || verb == "profile" || verb == "pgo" || verb == "compare" || verb == "replay"
}

// TSVTable implements Tabular.
func (g *gridPage) TSVTable() (tsv string, rows int) {
	if g.rows.Table == nil {
		return "", 0
	}
	return writeTSV(g.rows.Table, g.visibleRows(), g.columnList(), true), g.rows.Count()
}

// copyRow copies the current row.
func (g *gridPage) copyRow(m *Model) Cmd {
	row, _ := g.current()
	return m.Copy(writeTSV(g.rows.Table, []int32{int32(row)}, g.columnList(), false),
		g.resource.Singular+" "+refName(g.rows.Table.Ref(row)))
}

// visibleRows returns the visible rows, for copy and save.
func (g *gridPage) visibleRows() []int32 {
	n := g.rows.Count()
	rows := make([]int32, 0, n)
	for i := range n {
		rows = append(rows, int32(g.rows.Row(i)))
	}
	return rows
}

// Command returns the command line that prints the same table.
func (g *gridPage) Command(*Model) string {
	l := listing{Resource: g.resource, Where: g.where, Filter: &g.filter, Order: g.order, All: g.all, Wide: g.wide}
	return l.Command()
}

// saveMenu offers the formats in which the rows can be saved.
func saveMenu(g *gridPage) *Menu {
	t, list := g.rows.Table, g.visibleRows()
	n := &Menu{Title: "save " + words.Number(len(list)) + " " + g.resource.Name}
	for _, word := range []string{"json", "csv", "jsonl", "yaml"} {
		format, err := render.ListFormats().Parse(word)
		if err != nil {
			continue
		}
		n.Items = append(n.Items, MenuItem{Text: word, Note: format.Doc(), Run: func(m *Model, _ *Menu) Cmd {
			grid := view.NewGrid(t, list, g.resource.ColumnsFor(format.Show(), g.knownParts()))
			return Save(m, FileName(g.resource.Name, "")+"."+word, func(w io.Writer) error {
				return clusters.Grid(w, grid, render.Options{Format: format})
			})
		}})
	}
	return n
}

// SaveReport returns a menu with the formats that the command line offers for a report.
func SaveReport(title, name string, write func(io.Writer, render.Format) error) *Menu {
	n := &Menu{Title: title}
	for _, word := range []string{"csv", "json", "markdown"} {
		format, err := render.ReportFormats().Parse(word)
		if err != nil {
			continue
		}
		extension := map[bool]string{true: "md", false: word}[word == "markdown"]
		n.Items = append(n.Items, MenuItem{Text: word, Run: func(m *Model, _ *Menu) Cmd {
			return Save(m, FileName(name, "")+"."+extension, func(w io.Writer) error { return write(w, format) })
		}})
	}
	return n
}

// FileName returns a file name for a resource and, if not empty, an id. Characters other than letters, digits, "-"
// and "_" become "_".
func FileName(resource, id string) string {
	name := "kitescope-" + resource
	if id != "" {
		name += "-" + id
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}
