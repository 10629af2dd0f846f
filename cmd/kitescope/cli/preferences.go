package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/render"
	"kitescope/tui"
)

// Preferences holds the settings of config.yaml. Invalid settings count as missing and are listed in Problems.
type Preferences struct {
	*ConfigFile
	Path     string
	Problems []string
}

// Preferences returns the settings of config.yaml. The file is read once.
func (a *App) Preferences() *Preferences {
	if a.preferences != nil {
		return a.preferences
	}
	p := &Preferences{ConfigFile: &ConfigFile{}}
	a.preferences = p
	path, err := ConfigPath(a.Getenv)
	if err == nil {
		p.Path = path
		var file *ConfigFile
		if file, p.Problems, err = ReadConfig(path); err == nil {
			p.ConfigFile = file
		}
	}
	if err != nil {
		p.Problems = []string{err.Error()}
	}
	if err := checkTheme(p.Theme); err != nil {
		p.Problems = append(p.Problems, "theme: "+err.Error())
		p.Theme = ""
	}
	if words := []string{"", "auto", "always", "never"}; !slices.Contains(words, p.ASCII) {
		p.Problems = append(p.Problems, fmt.Sprintf("ascii must be auto, always or never, not %q", p.ASCII))
		p.ASCII = ""
	}
	return p
}

// ThemeNames returns the valid values of --theme.
func ThemeNames() []string {
	names := []string{"auto"}
	for _, t := range render.Themes() {
		names = append(names, t.Name)
	}
	return append(names, "mono")
}

func checkTheme(name string) error {
	if name == "" || slices.Contains(ThemeNames(), name) {
		return nil
	}
	return Usage(fmt.Errorf("no theme %q", name), "available: "+strings.Join(ThemeNames(), ", "))
}

// ApplyPreferences applies the preferences to the configuration of the UI. Flags take precedence.
func (a *App) ApplyPreferences(cfg *tui.Config, f *UIFlags) error {
	p := a.Preferences()
	cfg.Theme = p.Theme
	if f.Theme != "" && (f.changed("theme") || f.Theme != "auto") {
		cfg.Theme = f.Theme
		if err := checkTheme(f.Theme); err != nil {
			return err
		}
	}
	cfg.Glyphs = a.glyphs
	cfg.ASCII = a.glyphs == render.ASCIIGlyphs || a.PlainTerminal()
	if cfg.StartPage == "" && cfg.First == nil {
		cfg.StartPage = p.Start
	}
	if n := len(p.Problems); n > 0 {
		cfg.Notice = p.Problems[0]
		if n > 1 {
			cfg.Notice += " (and " + strconv.Itoa(n-1) + " more)"
		}
		cfg.Notice = "config.yaml, " + cfg.Notice + ": see kitescope config check"
		a.Warn("%s, %s; see: kitescope config check", p.Path, p.Problems[0])
	}
	return nil
}

// CanDrawUI returns an error if the terminal cannot draw the UI.
func (s *Streams) CanDrawUI(instead string) error {
	if s.Getenv("TERM") != "dumb" {
		return nil
	}
	return Usage(errors.New("this terminal (TERM=dumb) cannot draw the UI"), instead)
}
