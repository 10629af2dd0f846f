package tui

import (
	"time"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
)

// Tone is the severity of a message.
type Tone int

// Tones, in increasing severity.
const (
	ToneInfo Tone = iota
	ToneGood
	ToneWarn
	ToneBad
)

// toast is a temporary message in place of the footer. The next key press removes it too.
type toast struct {
	tone   Tone
	text   string
	serial int // counts toasts
	fading bool
}

// tonesWidth is the number of cells before the text of a message.
const tonesWidth = 3

// Display times of toasts. Errors stay longer because they may be longer and must not be missed.
const (
	toastDuration    = 3 * time.Second
	badToastDuration = 8 * time.Second
)

// Notify shows a temporary message in place of the footer.
func (m *Model) Notify(t Tone, text string) {
	m.toastCount++
	m.toast = toast{tone: t, text: ansi.Strip(words.OneLine(text)), serial: m.toastCount}
}

// fadeToast starts the timer of a new toast. It returns nil if no toast is new.
func fadeToast(m *Model) Cmd {
	if m.toast.text == "" || m.toast.fading {
		return nil
	}
	m.toast.fading = true
	stays := toastDuration
	if m.toast.tone == ToneBad {
		stays = badToastDuration
	}
	return m.After(stays, toastMsg{m.toast.serial})
}

// toastMsg removes a toast.
type toastMsg struct{ serial int }

func (t toastMsg) Apply(m *Model) Cmd {
	if m.toast.serial == t.serial {
		m.toast = toast{}
	}
	return nil
}
