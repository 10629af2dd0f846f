package tui

import (
	"time"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
)

// Tone is how much a message matters.
type Tone int

// Tones, from what may be missed to what may not.
const (
	ToneInfo Tone = iota
	ToneGood
	ToneWarn
	ToneBad
)

// toast is a message in the place of the footer, for a while: the next key takes it away, too.
type toast struct {
	tone   Tone
	text   string
	serial int // counts toasts
	fades  bool
}

// tonesWidth are the cells before a message.
const tonesWidth = 3

// How long toasts stay. What went wrong may be longer, and may not be missed.
const (
	toastFor    = 3 * time.Second
	badToastFor = 8 * time.Second
)

// Say shows a message in the place of the footer, for a while.
func (m *Model) Say(t Tone, text string) {
	m.said++
	m.toast = toast{tone: t, text: ansi.Strip(words.OneLine(text)), serial: m.said}
}

// fadeToast starts the time of a toast that is new, nil if there is none.
func fadeToast(m *Model) Cmd {
	if m.toast.text == "" || m.toast.fades {
		return nil
	}
	m.toast.fades = true
	stays := toastFor
	if m.toast.tone == ToneBad {
		stays = badToastFor
	}
	return m.After(stays, toastMsg{m.toast.serial})
}

// toastMsg takes a toast away.
type toastMsg struct{ serial int }

func (t toastMsg) Apply(m *Model) Cmd {
	if m.toast.serial == t.serial {
		m.toast = toast{}
	}
	return nil
}
