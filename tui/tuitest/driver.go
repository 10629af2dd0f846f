// Package tuitest drives the UI in tests. It sends keys to a Bubble Tea model or a running program, compares
// the screens with golden files, and records saved and copied text. It also provides clusters and checks for
// these tests. It does not depend on package tui because the tests of that package import it.
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

// Driver passes messages to a model as the program does. Commands run in goroutines of a synctest bubble. The
// driver waits for all commands except timers.
type Driver struct {
	T        *testing.T
	model    tea.Model
	w, h     int
	Messages chan tea.Msg
	Saved    map[string]string // content of saved files, by name
	Quit     bool
	Clip     string // the last text put on the clipboard
}

// Drive starts a driver on the model that open returns. open receives a function that saves files.
func Drive(t *testing.T, w, h int, open func(save SaveFunc) tea.Model) *Driver {
	t.Helper()
	d := &Driver{T: t, Messages: make(chan tea.Msg, 4096), Saved: map[string]string{}, w: w, h: h}
	t.Cleanup(func() { time.Sleep(48 * time.Hour) }) // lets remaining timers expire
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

// Run runs a command. The next Settle handles its message.
func (d *Driver) Run(c tea.Cmd) {
	if c != nil {
		go func() { d.Messages <- c() }()
	}
}

// Send passes a message to the model and handles all messages that result from it.
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

// Keys presses keys. Each word is one key, named as by tea.KeyPressMsg.String; the suffix "*3" repeats it three
// times.
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

// KeyPress returns the key with a name, as returned by tea.KeyPressMsg.String.
func KeyPress(word string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left":  tea.KeyLeft,
		"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace,
		"delete":    tea.KeyDelete,
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

// Sleep advances the fake time and handles the messages of timers.
func (d *Driver) Sleep(t time.Duration) {
	time.Sleep(t)
	d.Settle()
}

// Screen returns the current screen.
func (d *Driver) Screen() string { return d.model.View().Content }

// Plain returns the screen without escape sequences.
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

// clipboardText returns the text of bubbletea's message that sets the clipboard, whose type is unexported.
func clipboardText(msg tea.Msg) (string, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() == reflect.String && reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
		return v.String(), true
	}
	return "", false
}

// HostileWords returns names with characters that are special to a shell.
func HostileWords() []string {
	return []string{
		"a;id&b", "$(id)", "`id`", "it's; id '", "-;id&$(id)'\"`id`\\\n\rid", "a\nid", "a\x1b[201~\rid", "x>y", "a|id",
		"{a,b}",
	}
}

// IsRun fails the test unless a real shell parses a copied command as one program with name as a word. It compares
// only the first and the last character of name, because copying removes characters that no terminal accepts. If
// name is "", any words are accepted.
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

// Pump runs commands until only timers are left.
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

// Sizes are the terminal sizes that pages are tested with.
var Sizes = []struct{ W, H int }{{80, 24}, {120, 40}, {200, 50}, {40, 10}}
