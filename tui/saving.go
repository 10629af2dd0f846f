package tui

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"kitescope/tui/draw"
)

// saving is a file that is to be written, to where a person says.
type saving struct {
	path  string // where, as it is suggested or was typed last
	write func(io.Writer) error
}

// Save asks where to, with a name that is suggested, and writes a file there off the loop. Nothing is written before.
func Save(m *Model, name string, write func(io.Writer) error) Cmd {
	base, ext, _ := strings.Cut(name, ".")
	return (&saving{base + "-" + m.Config.Now().Format("20060102-150405") + "." + ext, write}).ask(m)
}

// ask opens the line on which the path is typed.
func (s *saving) ask(m *Model) Cmd {
	p := &Prompt{
		Sign:      "save to: ",
		Cancelled: func(m *Model) Cmd { m.Say(ToneInfo, "nothing was saved"); return nil },
		Accepted: func(m *Model, path string) Cmd {
			if path == "" {
				m.Say(ToneInfo, "nothing was saved")
				return nil
			}
			s.path = path
			return s.start(m, m.Config.SaveFile)
		},
		Status: func(*Model) string { return "enter saves · esc cancels" },
	}
	if m.Config.Folders != nil {
		p.Suggest = func(m *Model, typed string) (list []Suggestion) {
			for _, folder := range m.Config.Folders(typed) {
				list = append(list, Suggestion{Text: folder})
			}
			return list
		}
	}
	p.set(s.path)
	m.Prompt = p
	return nil
}

// start writes the file.
func (s *saving) start(m *Model, to func(string, func(io.Writer) error) (string, error)) Cmd {
	m.Say(ToneInfo, "saving…")
	return saveFile(to, *s)
}

// savedMsg says how saving went.
type savedMsg struct {
	saving saving
	full   string
	err    error
}

func (d savedMsg) Apply(m *Model) Cmd {
	s := &d.saving
	switch {
	case d.err != nil && (m.Prompt != nil || m.Menu != nil): // something else is being typed or chosen
		m.Say(ToneBad, "not saved: "+d.err.Error())
	case errors.Is(d.err, fs.ErrExist) && m.Config.ReplaceFile != nil:
		m.Menu = s.replaceMenu()
	case d.err != nil:
		c := s.ask(m)
		m.Say(ToneBad, "not saved: "+d.err.Error())
		return c
	default:
		m.Say(ToneGood, "saved "+d.told(m.Width-tonesWidth-len("saved ")))
	}
	return nil
}

// told is the full path, without its first folders where there is no room for them.
func (d *savedMsg) told(w int) string {
	if draw.Width(d.full) <= w {
		return d.full
	}
	return draw.CutPath(d.full, w)
}

// replaceMenu asks what to do where there is a file already.
func (s *saving) replaceMenu() *Menu {
	return &Menu{Title: "there is a file already", Items: []MenuItem{
		{Text: "choose another name", Run: func(m *Model, _ *Menu) Cmd { return s.ask(m) }},
		{Text: "replace the file", Note: s.path, Run: func(m *Model, _ *Menu) Cmd { return s.start(m, m.Config.ReplaceFile) }},
	}}
}
