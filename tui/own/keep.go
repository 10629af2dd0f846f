package own

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/words"
	"kitescope/tui"
)

// keepWords keep what was chosen, and forget it.
func keepWords() []tui.Word {
	parts := func(*tui.Model) []string { return []string{"columns", "theme", "start"} }
	return []tui.Word{
		{Text: "keep", Doc: "Write into config.yaml: columns and order of this table, the theme, or this page as the first.", Args: parts, Run: keep},
		{Text: "forget", Doc: "Take that out of config.yaml again.", Args: parts, Run: forget},
	}
}

// kept is a value for the configuration, where it belongs, and what it is for people.
type kept struct {
	value any
	path  []string
	what  string
}

// chosen is what a word of keep and forget means on the page that is shown; without a word it is what there is to keep of that.
func chosen(m *tui.Model, part string) (k kept, err error) {
	resource, columns, order, isTable := tui.Arrangement(m)
	switch {
	case part == "columns" && !isTable:
		return k, errors.New("this page has no columns to choose")
	case part == "columns", part == "" && isTable:
		view := map[string][]string{}
		if columns != nil {
			view["columns"] = columns
		}
		if order != nil {
			view["sort"] = order
		}
		k = kept{view, []string{"views", resource}, "columns and order of " + resource}
		if len(view) == 0 { // all is as usual
			k.value = nil
		}
		return k, nil
	case part == "theme", part == "":
		return kept{tui.ThemeName(m), []string{"theme"}, "the theme " + tui.ThemeName(m)}, nil
	case part == "start":
		place := tui.Place(m)
		if place == "" {
			return k, errors.New("this page cannot be opened by a name")
		}
		return kept{place, []string{"start"}, "the first page, " + place}, nil
	}
	return k, errors.New("available: columns, theme, start")
}

func keepColumns(m *tui.Model) tui.Cmd { return keep(m, "columns") }

func keep(m *tui.Model, part string) tui.Cmd {
	k, err := chosen(m, part)
	switch {
	case err != nil:
		m.Say(tui.ToneWarn, "keep: "+err.Error())
		return nil
	case k.path[0] == "views":
		tui.UseView(m)
	}
	return write(m, "kept "+k.what, k.value, k.path)
}

func forget(m *tui.Model, part string) tui.Cmd {
	k, err := chosen(m, part)
	if err != nil {
		m.Say(tui.ToneWarn, "forget: "+err.Error())
		return nil
	}
	return write(m, "forgot "+strings.Split(k.what, ",")[0]+", from the next start on", nil, k.path)
}

// write changes the file off the loop.
func write(m *tui.Model, done string, value any, path []string) tui.Cmd {
	to := m.Config.Keep
	if to == nil {
		m.Say(tui.ToneWarn, "there is no configuration to keep it in")
		return nil
	}
	return func() tea.Msg {
		file, err := to(value, path...)
		return wroteMsg{done, file, err}
	}
}

type wroteMsg struct {
	done, file string
	err        error
}

func (w wroteMsg) Apply(m *tui.Model) tui.Cmd {
	if w.err != nil {
		m.Say(tui.ToneBad, "not kept: "+words.Harmless(w.err.Error()))
	} else {
		m.Say(tui.ToneGood, w.done+" ("+words.Harmless(w.file)+")")
	}
	return nil
}
