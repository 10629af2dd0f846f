package cli

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kitescope/cmd/kitescope/clip"
	"kitescope/cmd/kitescope/prefs"
	"kitescope/inspect/session"
	"kitescope/inspect/view"
	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/own"
)

// Chosen is what a person prefers, checked: what is wrong is a problem, and as if it were not there.
type Chosen struct {
	prefs.Preferences
	Path     string
	Problems []prefs.Problem
	lines    prefs.Lines
	// Of what the words say.
	theme   string
	themes  []render.Theme
	views   map[string]tui.View
	actions []own.Action
}

// Preferences are those of config.yaml, read once.
func (a *App) Preferences() *Chosen {
	if a.chosen != nil {
		return a.chosen
	}
	a.chosen = &Chosen{}
	path, err := ConfigPath(a.Getenv)
	if err == nil {
		a.chosen.Path = path
		var file *ConfigFile
		if file, a.chosen.lines, a.chosen.Problems, err = ReadConfigStrictly(path); err == nil {
			a.chosen.Preferences = file.Preferences
		}
	}
	if err != nil {
		a.chosen.Problems = []prefs.Problem{{Text: err.Error()}}
	}
	return a.chosen
}

// StandsFor puts what a person's alias stands for in the place of a resource: "pods" is "nodes role=querynode". The names of resources
// stay what they are, whatever config.yaml says, for scripts.
func (a *App) StandsFor(args []string) []string {
	if _, err := view.Find(args[0]); err == nil || strings.Contains(args[0], "/") {
		return args
	}
	alias, err := words.Split(a.Preferences().Aliases[args[0]])
	if err != nil || len(alias) == 0 {
		return args
	}
	return append(alias, args[1:]...)
}

// CheckPreferences goes over what the words mean, too, for who needs it: the UI, and config check.
func (a *App) CheckPreferences() *Chosen {
	c := a.Preferences()
	if c.views != nil {
		return c
	}
	c.views = map[string]tui.View{}
	c.checkTheme()
	for _, name := range sortedKeys(c.Views) {
		c.checkView(name, c.Views[name])
	}
	for _, name := range sortedKeys(c.Aliases) {
		if at := "aliases." + name; strings.ContainsAny(name, " \t") || name == "" || strings.TrimSpace(c.Aliases[name]) == "" {
			c.wrong(at, "%s: an alias is a word that stands for a page", at)
			delete(c.Aliases, name)
		}
	}
	for i := range c.Actions {
		c.checkAction(i)
	}
	c.checkKeys()
	slices.SortStableFunc(c.Problems, func(x, y prefs.Problem) int { return x.Line - y.Line })
	return c
}

func (c *Chosen) wrong(path, format string, args ...any) {
	c.Problems = append(c.Problems, c.lines.Problem(path, format, args...))
}

func (c *Chosen) checkTheme() {
	word := c.Theme
	if word != "" && !slices.Contains(ThemeNames(), word) && !filepath.IsAbs(word) {
		word = filepath.Join(filepath.Dir(c.Path), word)
	}
	var err error
	if c.theme, c.themes, err = Theme(word); err != nil {
		c.wrong("theme", "theme: %v", err)
	}
}

func (c *Chosen) checkView(name string, v prefs.View) {
	at := "views." + name
	i := slices.IndexFunc(view.Resources, func(r *view.Resource) bool { return r.Name == name })
	if i < 0 {
		c.wrong(at, "%s: there is no such resource%s", at, hints.MeantBy(name, ResourceNames()))
		return
	}
	r, shown := view.Resources[i], tui.View{}
	var err error
	if len(v.Columns) > 0 {
		if shown.Columns, err = r.ParseColumns(v.Columns, table.Always, 0); err != nil {
			c.wrong(at+".columns", "%s.columns: %v", at, err)
			shown.Columns = nil
		}
	}
	if len(v.Sort) > 0 {
		if shown.Order, err = r.ParseSort(v.Sort); err != nil {
			c.wrong(at+".sort", "%s.sort: %v", at, err)
			shown.Order = nil
		}
	}
	c.views[name] = shown
}

// checkAction takes an action that is right.
func (c *Chosen) checkAction(i int) {
	a := &c.Actions[i]
	at := "actions." + strconv.Itoa(i)
	if a.Name == "" && a.Run == "" { // the file has said why
		return
	}
	before := len(c.Problems)
	template, err := shellquote.ParseTemplate(a.Run)
	switch {
	case a.Name == "" || strings.ContainsAny(a.Name, " \t"):
		c.wrong(at, "%s: name is one word", at)
	case slices.ContainsFunc(c.actions, func(o own.Action) bool { return o.Name == a.Name }):
		c.wrong(at+".name", "%s: another action is called %s", at, a.Name)
	}
	switch {
	case strings.TrimSpace(a.Run) == "":
		c.wrong(at, "%s: run is missing", at)
	case err != nil:
		c.wrong(at+".run", "%s.run: %v", at, err)
	}
	for _, name := range a.On {
		j := slices.IndexFunc(view.Resources, func(r *view.Resource) bool { return r.Name == name })
		if j < 0 {
			c.wrong(at+".on", "%s.on: there is no resource %q%s", at, name, hints.MeantBy(name, ResourceNames()))
			continue
		}
		c.checkPlaces(at, template, view.Resources[j])
	}
	if len(c.Problems) == before {
		c.actions = append(c.actions, own.Action{Name: a.Name, Key: a.Key, On: a.On, Template: template, Text: a.Run, Asks: a.Asks()})
	}
}

// checkPlaces holds the places of a command to the columns of a resource.
func (c *Chosen) checkPlaces(at string, template shellquote.Template, r *view.Resource) {
	for _, place := range template.Names() {
		if r.Column(place) < 0 {
			c.wrong(at+".run", "%s.run: %s have no column %q%s", at, r.Name, place, hints.MeantBy(place, r.ColumnNames()))
		}
	}
	for _, place := range template.Quoted {
		if r.Column(place) >= 0 {
			c.wrong(at+".run", "%s.run: {%s} stands between quotation marks, where it is not filled in: leave them out, its value is quoted", at, place)
		}
	}
}

// Prefer puts what a person prefers into the UI's configuration. Flags come first.
func (a *App) Prefer(cfg *tui.Config, f *UIFlags) error {
	c := a.CheckPreferences()
	cfg.Theme, cfg.Themes = c.theme, c.themes
	if f.Theme != "" && (f.changed("theme") || f.Theme != "auto") {
		var err error
		if cfg.Theme, cfg.Themes, err = Theme(f.Theme); err != nil {
			return err
		}
	}
	cfg.Mouse = !f.NoMouse && c.HasMouse()
	cfg.Glyphs = a.glyphs
	cfg.ASCII = a.glyphs == render.ASCIIGlyphs || a.PlainTerminal()
	if cfg.StartPage == "" && cfg.First == nil {
		cfg.StartPage = c.Start
	}
	cfg.Aliases, cfg.Views = c.Aliases, c.views
	cfg.Keys = c.keys()
	cfg.Clipboard = (&clip.Clipboard{Choice: c.Clipboard, Getenv: a.Getenv}).Copy
	cfg.Keep = func(value any, path ...string) (string, error) {
		if c.Path == "" {
			return "", errors.New("there is no configuration folder")
		}
		return c.Path, KeepInConfig(c.Path, value, path...)
	}
	if n := len(c.Problems); n > 0 {
		cfg.Notice = c.Problems[0].String()
		if n > 1 {
			cfg.Notice += " (and " + strconv.Itoa(n-1) + " more)"
		}
		cfg.Notice = "config.yaml, " + cfg.Notice + ": see kitescope config check"
		a.Warn("%s, %s; see: kitescope config check", c.Path, c.Problems[0])
	}
	return nil
}

// OwnActions are the person's own commands.
func (c *Chosen) OwnActions() []own.Action { return c.actions }

// CanDrawUI is the error of a terminal that cannot draw the UI, nil if it can.
func (s *Streams) CanDrawUI(instead string) error {
	if s.Getenv("TERM") != "dumb" {
		return nil
	}
	return Usage(errors.New("this terminal (TERM=dumb) cannot draw the UI"), instead)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// checkKeys holds keys to the names of actions, and to one meaning for each.
func (c *Chosen) checkKeys() {
	names := tui.KeyNames()
	for _, name := range sortedKeys(c.Keys) {
		if !slices.Contains(names, name) {
			c.wrong("keys."+name, "keys: there is no action %q%s", name, hints.MeantBy(name, names))
			delete(c.Keys, name)
		}
	}
	c.CheckKeysOf(nil)
}

// CheckKeysOf holds the keys to those of further pages, too.
func (c *Chosen) CheckKeysOf(pages []tui.PageKind) {
	if err := tui.CheckKeys(pages, c.keys()); err != nil {
		c.wrong("keys", "%v", err)
		c.Keys = nil
	}
}

func (c *Chosen) keys() map[string][]string {
	keys := map[string][]string{}
	for name, list := range c.Keys {
		keys[name] = list
	}
	return keys
}

// ForContext is the app for another cluster, while the terminal is the UI's: a password has to be where the context says.
func (a *App) ForContext(name string) *App {
	streams := *a.Streams
	streams.ReadPassword = func(context.Context, string) (string, error) {
		return "", errors.New("no prompt is possible: the UI has the terminal")
	}
	other := &App{Streams: &streams, Flags: a.Flags, Demo: a.Demo, chosen: a.chosen, glyphs: a.glyphs, clock: a.clock, debug: a.debug}
	g := &other.Flags
	g.From, g.Context, g.Root, g.User, g.PasswordFile, g.CA, g.Cert, g.Key, g.ServerName, g.Insecure = "", name, "", "", "", "", "", "", "", false
	g.At = session.At{}
	return other
}
