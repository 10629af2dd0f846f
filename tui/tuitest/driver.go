// Package tuitest drives the UI in tests. What enters is a Bubble Tea model, or a function that runs a program, and keys; what
// leaves are screens, which are compared with golden files, what was saved and what was copied. It has the clusters and checks
// that are shown, and knows nothing of the UI, so that the UI's own tests may use it.
package tuitest

import (
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/render/rendertest"
)

// Driver folds messages through a model as the program does, with commands in
// goroutines of a synctest bubble: it waits for all but timers.
type Driver struct {
	T        *testing.T
	model    tea.Model
	w, h     int
	Messages chan tea.Msg
	Saved    map[string]string // what was saved, by name
	Quit     bool
	Clip     string // the last text put on the clipboard
}

// Drive starts a driver on what open makes of a function that saves files.
func Drive(t *testing.T, w, h int, open func(save SaveFunc) tea.Model) *Driver {
	t.Helper()
	d := &Driver{T: t, Messages: make(chan tea.Msg, 4096), Saved: map[string]string{}, w: w, h: h}
	t.Cleanup(func() { time.Sleep(48 * time.Hour) }) // lets timers that are left run out
	d.model = open(d.save)
	d.Run(d.model.Init())
	d.Send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// SaveFunc saves a file as Config.SaveFile does.
type SaveFunc func(name string, write func(io.Writer) error) (string, error)

func (d *Driver) save(name string, write func(io.Writer) error) (string, error) {
	var b strings.Builder
	err := write(&b)
	d.Saved[name] = b.String()
	return "/saved/" + name, err
}

// Run runs a command, whose message comes with the next Settle.
func (d *Driver) Run(c tea.Cmd) {
	if c != nil {
		go func() { d.Messages <- c() }()
	}
}

// Send hands a message to the model, and what follows from it.
func (d *Driver) Send(msg tea.Msg) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		d.w, d.h = size.Width, size.Height
	}
	_, c := d.model.Update(msg)
	d.Run(c)
	d.Settle()
}

// Settle handles messages until only timers are left.
func (d *Driver) Settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-d.Messages:
			switch msg := msg.(type) {
			case nil:
			case tea.BatchMsg:
				for _, c := range msg {
					d.Run(c)
				}
			case tea.QuitMsg:
				d.Quit = true
			default:
				if text, ok := clipboardText(msg); ok {
					d.Clip = text
				}
				_, c := d.model.Update(msg)
				d.Run(c)
			}
		default:
			return
		}
	}
}

// Cluster delivers a cluster of a live source.
func (d *Driver) Cluster(c *model.Cluster) { d.Send(history.Update{Cluster: c, Live: true}) }

// Keys presses keys; each word is one key, as tea.KeyPressMsg.String has it, with "*3"
// for three times.
func (d *Driver) Keys(words string) *Driver {
	for word := range strings.FieldsSeq(words) {
		key, times, repeated := strings.Cut(word, "*")
		n := 1
		if repeated {
			n, _ = strconv.Atoi(times)
		}
		for range n {
			d.Send(KeyPress(key))
		}
	}
	return d
}

// Typed types a text.
func (d *Driver) Typed(text string) *Driver {
	for _, r := range text {
		d.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return d
}

// KeyPress is a key by its name, as tea.KeyPressMsg.String has it.
func KeyPress(word string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
		"delete": tea.KeyDelete,
	}
	if code, ok := named[word]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if word == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if word == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if letter, ok := strings.CutPrefix(word, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	r := []rune(word)[0]
	return tea.KeyPressMsg{Code: r, Text: word}
}

// Sleep lets fake time pass and handles what timers bring.
func (d *Driver) Sleep(t time.Duration) {
	time.Sleep(t)
	d.Settle()
}

// Screen is what is shown.
func (d *Driver) Screen() string { return d.model.View().Content }

// Plain is the screen without escape sequences.
func (d *Driver) Plain() string {
	lines := strings.Split(ansi.Strip(d.Screen()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Shows fails the test unless every text is on the screen.
func (d *Driver) Shows(texts ...string) {
	d.T.Helper()
	screen := d.Plain()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.T.Errorf("screen lacks %q:\n%s", text, screen)
		}
	}
}

// Lacks fails the test if any text is on the screen.
func (d *Driver) Lacks(texts ...string) {
	d.T.Helper()
	screen := d.Plain()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			d.T.Errorf("screen has %q:\n%s", text, screen)
		}
	}
}

// Fits fails the test if the frame is larger than the terminal.
func (d *Driver) Fits() {
	d.T.Helper()
	lines := strings.Split(d.Screen(), "\n")
	if len(lines) > d.h {
		d.T.Errorf("%d lines in a terminal of %d", len(lines), d.h)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > d.w {
			d.T.Errorf("line %d is %d cells wide in a terminal of %d: %q", i+1, w, d.w, ansi.Strip(l))
		}
	}
}

// Golden compares got with testdata/name.golden.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	rendertest.Golden(t, name+".golden", []byte(got))
}

// clipboardText is the text of bubbletea's message that sets the clipboard, whose type it keeps to itself.
func clipboardText(msg tea.Msg) (string, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() == reflect.String && reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
		return v.String(), true
	}
	return "", false
}

// HostileWords are names that a shell would do something with.
func HostileWords() []string {
	return []string{"a;id&b", "$(id)", "`id`", "it's; id '", "-;id&$(id)'\"`id`\\\n\rid", "a\nid", "a\x1b[201~\rid", "x>y", "a|id", "{a,b}"}
}

// IsRun fails the test unless a real shell runs one program of a command that was copied, with a name among its words, which has lost
// what no terminal takes; "" for any words.
func IsRun(t *testing.T, shell *shellquotetest.Shell, command, name string) {
	t.Helper()
	words, err := shell.Words(t, command)
	if err != nil {
		t.Errorf("%q: %v", command, err)
	}
	if name != "" && !slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, name[:1]) && strings.Contains(w, strings.Trim(name[len(name)-1:], "\n\r"))
	}) {
		t.Errorf("%q is read as %q", command, words)
	}
}

// Pump runs commands that are no timers until none is left.
func Pump(m tea.Model, c tea.Cmd) {
	if c == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- c() }()
	select {
	case msg := <-done:
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				Pump(m, c)
			}
			return
		}
		_, c := m.Update(msg)
		Pump(m, c)
	case <-time.After(time.Second * 3): // a timer
	}
}

// Sizes are the terminals that pages are drawn for.
var Sizes = []struct{ W, H int }{{80, 24}, {120, 40}, {200, 50}, {40, 10}}
