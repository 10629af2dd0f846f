package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kitescope/inspect/check/rules"
	"kitescope/inspect/news"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/tui/draw"
)

// The smallest terminal that every page fits into.
const (
	minWidth  = 60
	minHeight = 15
)

// Model is the one Bubble Tea model.
type Model struct {
	cfg    Config
	kinds  []PageKind
	keys   *keys
	st     *draw.Styles
	themes []render.Theme
	theme  string // the name that was asked for
	// background is the terminal's, where the theme follows it.
	background background
	// colours is how many the terminal has; Unknown until it has said.
	colours colorprofile.Profile
	w, h    int
	stack   stack
	prompt  *prompt
	menu    *menu
	data    data
	toast   toast
	done    <-chan struct{} // closed when the program ends: timers are given up; nil means never
}

// message is a result that knows where it belongs. apply runs on the loop.
type message interface{ apply(m *Model) cmd }

// New returns the model. It draws a complete frame before any data is there.
func New(cfg Config) *Model {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Checks == nil {
		cfg.Checks = rules.All()
	}
	m := &Model{cfg: cfg, kinds: pageKinds(cfg.Pages), themes: append(builtinThemes(), cfg.Themes...), theme: cfg.Theme}
	m.keys = newKeys(m.kinds)
	if m.theme == "" {
		m.theme = autoTheme
	}
	if names := m.themeNames(); !contains(names, m.theme) {
		m.say(toneWarn, "there is no theme "+m.theme+"; there are "+strings.Join(names, ", "))
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
			m.say(toneBad, err.Error())
		case p != nil && p.scope() != inOverview:
			m.stack.push(p)
		}
	}
	return m
}

// Init asks for the terminal's background where the theme depends on it.
func (m *Model) Init() tea.Cmd {
	var ask cmd
	if m.followsBackground() {
		ask = tea.RequestBackgroundColor
	}
	if m.cfg.First != nil { // nothing comes that would start the page's work
		return batch(ask, m.refresh())
	}
	return ask
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
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
		return m, m.press(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			return m, m.prompt.key(m, actNone, msg.Content)
		}
	case tea.MouseClickMsg:
		return m, m.click(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case news.Update:
		return m, m.take(&msg)
	case savedMsg:
		m.saved(msg)
	case message:
		return m, msg.apply(m)
	}
	return m, nil
}

// press finds what a key means where the keyboard is now: prompt, menu or page.
func (m *Model) press(msg tea.KeyPressMsg) cmd {
	key, text := msg.String(), msg.Text
	switch {
	case m.prompt != nil:
		a, _ := m.keys.find(inPrompt, msg.Keystroke())
		if text != "" {
			a = actNone
		}
		if a == actQuit {
			return m.quit()
		}
		return m.prompt.key(m, a, text)
	case m.menu != nil:
		a, _ := m.keys.find(inMenu, key)
		if a == actQuit {
			return m.quit()
		}
		m.toast = toast{}
		return m.menu.key(m, a, text)
	}
	m.toast = toast{}
	top := m.stack.top()
	if text == " " {
		key = "space"
	}
	a, ok := m.keys.find(top.scope(), key)
	if !ok {
		if b, ok := m.keys.elsewhere(top.scope(), key); ok {
			m.say(toneInfo, shown(key)+" works in "+strings.Join(b.in.names(m.kinds), ", ")+": "+lowerFirst(b.doc))
		}
		return nil
	}
	if why := m.can(top, a); why != "" {
		m.say(toneWarn, shown(key)+": "+why)
		return nil
	}
	return m.act(a)
}

// can says why an action is not possible on a page, "" if it is.
func (m *Model) can(p page, a action) string {
	switch {
	case a == actGoFindings && m.cfg.First != nil:
		return m.withoutCluster()
	case a == actGoProfiles && !m.has("profiles"):
		return "there are no profiles here"
	case (a == actSave || a == actExportPlan) && m.cfg.SaveFile == nil:
		return "saving is switched off"
	}
	return p.can(m, a)
}

// act performs what every page has, and hands the rest to the page.
func (m *Model) act(a action) cmd {
	switch a {
	case actQuit:
		return m.quit()
	case actSuspend:
		return tea.Suspend
	case actRedraw:
		return tea.ClearScreen
	case actPalette:
		m.prompt = newPalette(m)
		return nil
	case actHelp:
		help, _ := newHelpPage(m, nil)
		return m.push(help)
	case actPause:
		return m.pause()
	case actGoProfiles:
		return m.jump("profiles")
	case actGoFindings:
		return m.goFindings()
	case actForward:
		if !m.stack.again() {
			m.say(toneInfo, "this is the newest page")
			return nil
		}
		return m.refresh()
	case actHome:
		m.stack.home()
		return m.refresh()
	case actCopyMenu:
		m.menu = copyMenu(m)
		return nil
	default:
	}
	return m.stack.top().act(m, a)
}

// push shows a page and starts building it.
func (m *Model) push(p page) cmd {
	m.stack.push(p)
	return p.refresh(m)
}

// back leaves the page on top.
func (m *Model) back() cmd {
	if !m.stack.pop() {
		m.say(toneInfo, "this is the first page: q quits")
		return nil
	}
	return m.refresh()
}

// refresh has the page that is shown look for new data.
func (m *Model) refresh() cmd { return m.stack.top().refresh(m) }

// stopper is a page that the UI opened with while work went on beside it.
type stopper interface {
	// stop ends the work, and reports whether there was any to end.
	stop(m *Model) bool
}

// quit ends the program, once the work beside it is stopped.
func (m *Model) quit() cmd {
	if s, ok := m.stack.pages[0].(stopper); ok && s.stop(m) {
		m.prompt, m.menu = nil, nil
		m.stack.home()
		return nil
	}
	return tea.Quit
}

// resource finds a resource by name or alias, nil if there is none.
func (m *Model) resource(name string) *view.Resource {
	for _, r := range m.cfg.Resources {
		if r.Name == name || r.Singular == name || slices.Contains(r.Aliases, name) {
			return r
		}
	}
	return nil
}

// View draws the frame.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "kitescope"
	if m.cfg.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if m.w > 0 && m.h > 0 {
		v.Content, v.Cursor = m.frame()
	}
	return v
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
