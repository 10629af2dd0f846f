package tui

import (
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/tui/draw"
)

// Save prompts for a path, suggesting a name with a timestamp, and writes a new file outside the event loop.
func Save(m *Model, name string, write func(io.Writer) error) Cmd {
	base, ext, _ := strings.Cut(name, ".")
	return promptPath(m, base+"-"+m.Config.Now().Format("20060102-150405")+"."+ext, write)
}

func promptPath(m *Model, suggested string, write func(io.Writer) error) Cmd {
	cancelled := func(m *Model) Cmd { m.Notify(ToneInfo, "nothing was saved"); return nil }
	m.Prompt = &Prompt{
		Sign:      "save to: ",
		Cancelled: cancelled,
		Accepted: func(m *Model, path string) Cmd {
			if path == "" {
				return cancelled(m)
			}
			m.Notify(ToneInfo, "saving…")
			to := m.Config.SaveFile
			return func() tea.Msg {
				full, err := to(path, write)
				return savedMsg{path, write, full, err}
			}
		},
		Status: func(*Model) string { return "enter saves · esc cancels" },
	}
	m.Prompt.set(suggested)
	return nil
}

// savedMsg delivers the result of saving.
type savedMsg struct {
	path  string
	write func(io.Writer) error
	full  string
	err   error
}

func (d savedMsg) Apply(m *Model) Cmd {
	if d.err != nil {
		if m.Prompt == nil && m.Menu == nil { // no other input or menu is open
			_ = promptPath(m, d.path, d.write)
		}
		m.Notify(ToneBad, "not saved: "+d.err.Error())
		return nil
	}
	full := d.full
	if room := m.Width - tonesWidth - len("saved "); draw.Width(full) > room {
		full = draw.CutPath(full, room)
	}
	m.Notify(ToneGood, "saved "+full)
	return nil
}
