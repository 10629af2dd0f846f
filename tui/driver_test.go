package tui

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/news"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// driver folds messages through a model as the program does, with commands in
// goroutines of a synctest bubble: it waits for all but timers.
type driver struct {
	t     *testing.T
	model tea.Model
	w, h  int
	msgs  chan tea.Msg
	saved map[string]string // what was saved, by name
	quit  bool
	clip  string // the last text put on the clipboard
}

// drive starts a driver on what open makes of a function that saves files.
func drive(t *testing.T, w, h int, open func(save saveFunc) tea.Model) *driver {
	t.Helper()
	d := &driver{t: t, msgs: make(chan tea.Msg, 4096), saved: map[string]string{}, w: w, h: h}
	t.Cleanup(func() { time.Sleep(48 * time.Hour) }) // lets timers that are left run out
	d.model = open(d.save)
	d.run(d.model.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// saveFunc saves a file as Config.SaveFile does.
type saveFunc func(name string, write func(io.Writer) error) (string, error)

func (d *driver) save(name string, write func(io.Writer) error) (string, error) {
	var b strings.Builder
	err := write(&b)
	d.saved[name] = b.String()
	return "/saved/" + name, err
}

func (d *driver) run(c tea.Cmd) {
	if c != nil {
		go func() { d.msgs <- c() }()
	}
}

func (d *driver) send(msg tea.Msg) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		d.w, d.h = size.Width, size.Height
	}
	_, c := d.model.Update(msg)
	d.run(c)
	d.settle()
}

// settle handles messages until only timers are left.
func (d *driver) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-d.msgs:
			switch msg := msg.(type) {
			case nil:
			case tea.BatchMsg:
				for _, c := range msg {
					d.run(c)
				}
			case tea.QuitMsg:
				d.quit = true
			default:
				if text, ok := clipboardText(msg); ok {
					d.clip = text
				}
				_, c := d.model.Update(msg)
				d.run(c)
			}
		default:
			return
		}
	}
}

func (d *driver) cluster(c *model.Cluster) { d.send(news.Update{Cluster: c, Live: true}) }

// keys presses keys; each word is one key, as tea.KeyPressMsg.String has it, with "*3"
// for three times.
func (d *driver) keys(words string) *driver {
	for word := range strings.FieldsSeq(words) {
		key, times, repeated := strings.Cut(word, "*")
		n := 1
		if repeated {
			n, _ = strconv.Atoi(times)
		}
		for range n {
			d.send(keyPress(key))
		}
	}
	return d
}

func (d *driver) typed(text string) *driver {
	for _, r := range text {
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return d
}

func keyPress(word string) tea.KeyPressMsg {
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
	if letter, ok := strings.CutPrefix(word, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	r := []rune(word)[0]
	return tea.KeyPressMsg{Code: r, Text: word}
}

// sleep lets fake time pass and handles what timers bring.
func (d *driver) sleep(t time.Duration) {
	time.Sleep(t)
	d.settle()
}

func (d *driver) screen() string { return d.model.View().Content }

func (d *driver) plain() string {
	lines := strings.Split(ansi.Strip(d.screen()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// shows fails the test unless every text is on the screen.
func (d *driver) shows(texts ...string) {
	d.t.Helper()
	screen := d.plain()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("screen lacks %q:\n%s", text, screen)
		}
	}
}

func (d *driver) lacks(texts ...string) {
	d.t.Helper()
	screen := d.plain()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			d.t.Errorf("screen has %q:\n%s", text, screen)
		}
	}
}

// fits fails the test if the frame is larger than the terminal.
func (d *driver) fits() {
	d.t.Helper()
	lines := strings.Split(d.screen(), "\n")
	if len(lines) > d.h {
		d.t.Errorf("%d lines in a terminal of %d", len(lines), d.h)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > d.w {
			d.t.Errorf("line %d is %d cells wide in a terminal of %d: %q", i+1, w, d.w, ansi.Strip(l))
		}
	}
}

// golden compares got with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// clipboardText is the text of bubbletea's message that sets the clipboard, whose type it keeps to itself.
func clipboardText(msg tea.Msg) (string, bool) {
	v := reflect.ValueOf(msg)
	if v.Kind() == reflect.String && reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
		return v.String(), true
	}
	return "", false
}
