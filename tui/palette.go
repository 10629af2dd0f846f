package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// Word is a command of the palette that does not open a page.
type Word struct {
	Text string
	Doc  string
	Args func(m *Model) []string // completions of the argument; nil if it takes none
	Run  func(m *Model, arg string) Cmd
}

// paletteWords returns the commands of the palette.
func paletteWords(m *Model) []Word {
	list := []Word{
		{"q", "Quit.", nil, func(m *Model, _ string) Cmd { return m.quit() }},
		{"quit", "Quit.", nil, func(m *Model, _ string) Cmd { return m.quit() }},
		{
			"at", "An earlier state: at 09:14, at 10m, at rev:24519.",
			func(*Model) []string { return nil },
			func(m *Model, form string) Cmd { return m.data.past.goAt(m, form) },
		},
		{"describe", "Describe an object: describe NAME, describe segment ID.", namesOfObjects, (*Model).describe},
		{
			"report", "Save an HTML report, e.g. to mail or for a ticket.", nil,
			func(m *Model, _ string) Cmd { return m.saveReport() },
		},
		{"live", "The newest state.", nil, func(m *Model, _ string) Cmd { return m.data.past.goLive(m) }},
		{"theme", "Change the colours: theme NAME.", func(*Model) []string { return themeNames() }, (*Model).useTheme},
	}
	if m.Config.Switch != nil {
		list = append(list, Word{
			"ctx", "Open another cluster of the configuration: ctx NAME.",
			func(m *Model) []string { return m.Config.Contexts }, (*Model).switchTo,
		})
	}
	return list
}

// switchTo quits the UI and reopens it on the cluster of a context. Without a name it lists the contexts.
func (m *Model) switchTo(name string) Cmd {
	switch {
	case len(m.Config.Contexts) == 0:
		m.Notify(ToneWarn, "no contexts: add one with kitescope context add")
		return nil
	case name == "":
		menu := &Menu{Title: "open"}
		for _, name := range m.Config.Contexts {
			menu.Items = append(menu.Items, MenuItem{
				Text: words.Sanitize(name), Run: func(m *Model, _ *Menu) Cmd { return m.switchTo(name) },
			})
		}
		m.Menu = menu
		return nil
	case !slices.Contains(m.Config.Contexts, name):
		m.Notify(ToneBad,
			"no context "+words.Sanitize(name)+"; available: "+words.Sanitize(strings.Join(m.Config.Contexts, ", ")))
		return nil
	}
	page, _, _ := strings.Cut(m.Top().Crumb(), " ")
	if m.unknownPage(page) { // the crumb is not a page name: the page shows one object
		page = ""
	}
	m.Config.Switch(name, page)
	return tea.Quit
}

// newPalette returns the prompt that ":" opens.
func newPalette(m *Model) *Prompt {
	p := &Prompt{
		Sign:      ":",
		Accepted:  (*Model).jump,
		Cancelled: func(*Model) Cmd { return nil },
		Suggest:   suggestJump,
	}
	p.refresh(m) // everything, until the user types
	return p
}

// jump runs a palette line. If the line is only a prefix of a name, jump runs the best suggestion, which is on
// the screen.
func (m *Model) jump(text string) Cmd {
	list := strings.Fields(text)
	if len(list) == 0 {
		return nil
	}
	if c, ok := m.runWord(list); ok {
		return c
	}
	p, err := m.open(text)
	if err != nil && m.unknownPage(list[0]) {
		if found := suggestJump(m, list[0]); len(found) > 0 {
			list[0] = found[0].Text
			if c, ok := m.runWord(list); ok {
				return c
			}
			p, err = m.open(strings.Join(list, " "))
		}
	}
	return m.showOpened(p, err)
}

// showOpened shows the page that a palette line opened, or the error.
func (m *Model) showOpened(p Page, err error) Cmd {
	if err != nil {
		m.Notify(ToneBad, words.Sanitize(err.Error()))
		return nil
	}
	if p == nil {
		return nil
	}
	if p.Scope() == InOverview {
		m.stack.home()
		return m.Refresh()
	}
	return m.Push(p)
}

func (m *Model) runWord(words []string) (Cmd, bool) {
	for _, w := range paletteWords(m) {
		if w.Text == words[0] && w.Args == nil && len(words) > 1 {
			m.Notify(ToneBad, "usage: :"+w.Text)
			return nil, true
		}
		if w.Text == words[0] {
			return w.Run(m, strings.Join(words[1:], " ")), true
		}
	}
	return nil, false
}

func (m *Model) unknownPage(name string) bool {
	_, ok := m.kindNamed(name)
	return !ok && m.resource(strings.ToLower(name)) == nil
}

// nearest returns the page or resource with the most similar name, or "" if none is similar.
func (m *Model) nearest(word string) string {
	var known []string
	for _, p := range m.kinds {
		known = append(known, p.Name)
	}
	for _, r := range m.Config.Resources {
		known = append(known, r.Name)
	}
	if near := view.Suggest(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

// suggestJump completes the first word to a page and later words to arguments or selectors.
func suggestJump(m *Model, text string) []Suggestion {
	text = strings.TrimLeft(text, " ")
	first, rest, more := strings.Cut(text, " ")
	if !more {
		return suggestPage(m, first)
	}
	done, last := first+" ", rest
	if i := strings.LastIndexByte(rest, ' '); i >= 0 {
		done, last = first+" "+rest[:i+1], rest[i+1:]
	}
	for _, w := range paletteWords(m) {
		if w.Text == first && w.Args != nil {
			return complete(done, last, w.Args(m))
		}
	}
	if k, ok := m.kindNamed(first); ok && k.Words != nil {
		return complete(done, last, k.Words(m))
	}
	if r := m.resource(strings.ToLower(first)); r != nil {
		return complete(done, last, selectorWords(m, r, last))
	}
	return nil
}

func suggestPage(m *Model, word string) []Suggestion {
	var all []Suggestion
	var others [][]string
	for _, p := range m.pages() {
		all = append(all, Suggestion{Text: p.Name, Doc: p.Doc})
		others = append(others, p.Aliases)
	}
	for _, r := range m.resources() {
		all = append(all, Suggestion{Text: r.Name, Doc: r.Doc})
		others = append(others, append([]string{r.Singular}, r.Aliases...))
	}
	for _, w := range paletteWords(m) {
		if m.Config.First != nil && (w.Text == "at" || w.Text == "live") {
			continue
		}
		all = append(all, Suggestion{Text: w.Text, Doc: w.Doc})
		others = append(others, nil)
	}
	found := rank(word, all, func(i int) []string { return others[i] })
	if word == "" {
		return found
	}
	// Objects rank above pages that contain the word only in the middle.
	begin := func(s Suggestion) bool { return s.score < prefixScore }
	at := slices.IndexFunc(append(found, Suggestion{}), begin)
	return slices.Insert(found, at, complete("", word, objectsNamed(m, word))...)
}

// objectsNamed returns the names of objects that start with word.
func objectsNamed(m *Model, word string) []string {
	var names []string
	for _, name := range objects {
		if r := m.resource(name); r != nil && m.data.env != nil {
			if t := r.Table(m.data.env); t.Len() <= completionRows {
				names = append(names, table.Values(t, r.Column(r.Handle), word, table.MaxCompletions)...)
			}
		}
	}
	slices.Sort(names)
	return quoteWords(slices.Compact(names))
}

func namesOfObjects(m *Model) []string { return objectsNamed(m, "") }

// complete returns the words that match the last typed word, as completions of the whole line.
func complete(done, last string, words []string) []Suggestion {
	all := make([]Suggestion, len(words))
	for i, w := range words {
		all[i].Text = w
	}
	list := rank(last, all, func(int) []string { return nil })
	if len(list) == 1 && list[0].Text == last {
		return nil
	}
	for i := range list {
		list[i].Text = done + list[i].Text
		for k := range list[i].hits {
			list[i].hits[k] += len([]rune(done))
		}
	}
	return list
}

// selectorWords completes one word of a selection: names, columns and existing values.
func selectorWords(m *Model, r *view.Resource, last string) []string {
	env := m.data.env
	if env != nil && r.Table(env).Len() > completionRows {
		at, c := strings.IndexByte(last, '='), r.Column("collection")
		if at > 0 && c >= 0 && r.Column(last[:at]) == c {
			return quoteWords(addPrefix(last[:at+1], collectionNames(m)))
		}
		env = nil
	}
	words, _ := view.CompleteSelector(env, r, last)
	return quoteWords(words)
}

func addPrefix(before string, words []string) []string {
	for i := range words {
		words[i] = before + words[i]
	}
	return words
}

// quoteWords quotes words with blanks for the palette and the filter.
func quoteWords(words []string) []string {
	for i, w := range words {
		if strings.ContainsAny(w, " \t") {
			words[i] = "'" + w + "'"
		}
	}
	return words
}

// completionRows is the maximum number of rows of a table whose values are completed. Larger tables would block
// the event loop.
const completionRows = 20_000

func collectionNames(m *Model) []string {
	if m.data.cluster == nil {
		return nil
	}
	var names []string
	for _, c := range m.data.cluster.Collections {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// box draws the suggestions, the best one first.
func (p *Prompt) box(st *draw.Styles, w, h int) []string {
	rows := min(len(p.list), h)
	top := min(max(0, p.selected-rows+1), len(p.list)-rows)
	textW := 16
	for _, s := range p.list[top : top+rows] {
		textW = max(textW, draw.Width(words.Sanitize(s.Text))+2)
	}
	textW = min(textW, w-4)
	lines := make([]string, 0, rows)
	for i := top; i < top+rows; i++ {
		s := &p.list[i]
		doc := s.Doc
		if i == top+rows-1 && top+rows < len(p.list) {
			doc = strings.TrimSpace(fmt.Sprintf("(%d more)  %s", len(p.list)-top-rows, doc))
		}
		text, doc := draw.Fit(" "+words.Sanitize(s.Text), textW), draw.Fit("  "+doc, w-textW)
		if i == p.selected {
			lines = append(lines, " "+st.Cursor.On(text+doc)+" ")
			continue
		}
		lines = append(lines, " "+highlight(st, text, s.hits)+st.Dim.On(doc)+" ")
	}
	return lines
}

// highlight highlights the matched letters. hits do not count the blank that text starts with.
func highlight(st *draw.Styles, text string, hits []int) string {
	if len(hits) == 0 {
		return text
	}
	var b strings.Builder
	for i, r := range []rune(text) {
		if slices.Contains(hits, i-1) {
			b.WriteString(st.Key.On(string(r)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
