package tui

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// The smallest terminal that every page fits into, in cells.
const (
	MinWidth  = 40
	MinHeight = 10
)

// Model is the Bubble Tea model of the UI. There is only one; pages are plain structs.
type Model struct {
	Config Config
	kinds  []PageKind
	keys   *keys
	Styles *draw.Styles
	theme  string // the configured name
	// background is the background of the terminal, if the theme follows it.
	background background
	// colours is the colour profile of the terminal, Unknown until the terminal has reported it.
	colours    colorprofile.Profile
	Width, h   int
	stack      stack
	Prompt     *Prompt
	Menu       *Menu
	data       data
	toast      toast
	toastCount int             // counts toasts
	refused    time.Time       // time of the last filter key on a page that has no filter
	done       <-chan struct{} // closed when the program ends, which cancels timers; nil means never
	ticks      *ticks          // nil if no program is running
}

// Message is the result of a command. Apply runs on the event loop.
type Message interface{ Apply(m *Model) Cmd }

// New returns the model. It draws a complete frame before it has data.
func New(cfg Config) *Model {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Checks == nil {
		cfg.Checks = rules.All()
	}
	m := &Model{Config: cfg, kinds: pageKinds(cfg.Pages), theme: cfg.Theme}
	m.data.waitStart = cfg.Now()
	m.data.judged = &judgement{judge: &check.Judge{}}
	m.keys = &keys{all: keyMap(m.kinds), kinds: m.kinds}
	if m.theme == "" {
		m.theme = autoTheme
	}
	if names := themeNames(); !slices.Contains(names, m.theme) {
		m.Notify(ToneWarn, "no theme "+m.theme+"; available: "+strings.Join(names, ", "))
		m.theme = autoTheme
	}
	m.setTheme()
	first, _ := newOverviewPage(m, nil)
	if cfg.First != nil {
		first = cfg.First
	}
	m.stack.push(first)
	if cfg.StartPage != "" {
		p, err := m.open(cfg.StartPage)
		switch {
		case err != nil:
			m.Notify(ToneBad, err.Error())
		case p != nil && p.Scope() != InOverview:
			m.stack.push(p)
		}
	}
	if cfg.Notice != "" {
		m.Notify(ToneWarn, cfg.Notice)
	}
	return m
}

// Init requests the background colour of the terminal if the theme depends on it.
func (m *Model) Init() tea.Cmd {
	var ask Cmd
	if m.followsBackground() {
		ask = tea.RequestBackgroundColor
	}
	if m.Config.First != nil { // no update arrives that would start the work of the page
		return Batch(ask, m.Refresh())
	}
	return ask
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := handle(m, msg)
	if fade := fadeToast(m); fade != nil {
		cmd = Batch(cmd, fade)
	}
	return m, cmd
}

func handle(m *Model, msg tea.Msg) Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.Width, m.h = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		m.colours = msg.Profile
		m.setTheme()
	case tea.BackgroundColorMsg:
		m.background = backgroundLight
		if msg.IsDark() {
			m.background = backgroundDark
		}
		m.setTheme()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		if m.Prompt != nil {
			return m.Prompt.key(m, ActNone, msg.Content)
		}
	case history.Update:
		return m.handleUpdate(&msg)
	case Message:
		return msg.Apply(m)
	}
	return nil
}

// press handles a key in the prompt, the menu or the page, whichever has the focus.
func (m *Model) press(msg tea.KeyPressMsg) Cmd {
	key, text := msg.String(), msg.Text
	if m.Prompt != nil {
		a, _ := m.keys.find(InPrompt, msg.Keystroke())
		if text != "" {
			a = ActNone
		}
		if a == ActQuit {
			return m.quit()
		}
		return m.Prompt.key(m, a, text)
	}
	if text == " " {
		key = "space"
	}
	m.toast = toast{}
	if m.Menu != nil {
		a, _ := m.keys.find(InMenu, key)
		if a == ActQuit {
			return m.quit()
		}
		return m.Menu.key(m, a, key)
	}
	return pressOnPage(m, key)
}

// Keys typed after the filter key on a page without a table are ignored, until there was no key for filterPause.
const (
	filterPause  = time.Second
	noFilterText = "/: no table to filter on this page; the text after it is ignored"
)

// pressOnPage handles a key on the current page.
func pressOnPage(m *Model, key string) Cmd {
	a, ok := m.keys.find(m.Top().Scope(), key)
	ends := key == "enter" || key == "esc"
	switch {
	case time.Since(m.refused) < filterPause && (ends || key == "space" || utf8.RuneCountInString(key) == 1),
		!ok && key == m.keys.keyFor(InGrid, ActFilter):
		m.refused = time.Now()
		if ends {
			m.refused = time.Time{}
		}
		m.Notify(ToneWarn, noFilterText)
		return nil
	case !ok:
		m.Notify(ToneInfo, m.keys.unbound(key))
		return nil
	case a == ActNumber:
		return goPlace(m, key)
	}
	return m.do(key, a)
}

// do performs the action of a key, or shows the reason why it is not possible.
func (m *Model) do(key string, a Action) Cmd {
	if why := m.can(m.Top(), a); why != "" {
		m.Notify(ToneWarn, displayName(key)+": "+why)
		return nil
	}
	return m.act(a)
}

// can returns the reason why an action is not possible on a page, or "" if it is possible.
func (m *Model) can(p Page, a Action) string {
	switch {
	case a == ActGoFindings && m.Config.First != nil:
		return "findings need a cluster; this session has " + m.Config.Content
	case a == ActSave && m.Config.SaveFile == nil:
		return "saving is switched off"
	case a >= ActEarlier && a <= ActLive:
		return m.data.past.canStep(m, a)
	}
	return p.Can(m, a)
}

// act performs actions that all pages share, and passes the others to the page.
func (m *Model) act(a Action) Cmd {
	switch a {
	case ActQuit:
		return m.quit()
	case ActSuspend:
		return tea.Suspend
	case ActRedraw:
		return tea.ClearScreen
	case ActPalette:
		m.Prompt = newPalette(m)
		return nil
	case ActHelp:
		if m.Top().Scope() == InHelp {
			return m.Back()
		}
		help, _ := newHelpPage(m, nil)
		return m.Push(help)
	case ActEarlier, ActLater, ActAt, ActLive:
		return m.data.past.step(m, a)
	case ActGoFindings:
		return m.goFindings()
	case ActForward:
		if !m.stack.goForward() {
			m.Notify(ToneInfo, "this is the newest page")
			return nil
		}
		return m.Refresh()
	case ActHome:
		m.stack.home()
		return m.Refresh()
	case ActCopyMenu:
		m.Menu = copyMenu(m)
		return nil
	}
	return m.Top().Act(m, a)
}

// Push shows a page and starts building it.
func (m *Model) Push(p Page) Cmd {
	m.stack.push(p)
	return m.Refresh()
}

// Back leaves the current page.
func (m *Model) Back() Cmd {
	if !m.stack.pop() {
		m.Notify(ToneInfo, "this is the first page: q quits")
		return nil
	}
	return m.Refresh()
}

// Top returns the current page.
func (m *Model) Top() Page { return m.stack.top() }

// Refresh updates the current page with new data.
func (m *Model) Refresh() Cmd {
	return Batch(m.Top().Refresh(m), m.dateFindings())
}

// Stopper is implemented by the first page of a UI that runs concurrent work (Config.Background).
type Stopper interface {
	// Stop ends the work. It reports whether the work was running.
	Stop(m *Model) bool
}

// quit ends the program, or stops the concurrent work if it is still running.
func (m *Model) quit() Cmd {
	if s, ok := m.stack.pages[0].(Stopper); ok && s.Stop(m) {
		m.Prompt, m.Menu = nil, nil
		m.stack.home()
		return nil
	}
	return tea.Quit
}

// resource returns the resource with a name or alias, nil if there is none.
func (m *Model) resource(name string) *view.Resource {
	for _, r := range m.Config.Resources {
		if r.Name == name || r.Singular == name || slices.Contains(r.Aliases, name) {
			return r
		}
	}
	return nil
}

// View draws the frame.
func (m *Model) View() tea.View {
	if m.ticks != nil {
		m.ticks.frame()
	}
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "kitescope"
	if m.Width > 0 && m.h > 0 {
		v.Content, v.Cursor = frame{m}.screen()
		v.Content = m.Config.Glyphs.Text(v.Content)
	}
	return v
}
