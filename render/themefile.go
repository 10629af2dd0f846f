package render

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// roleNames are the words for roles in a theme file.
var roleNames = [roles]string{
	"plain", "dim", "title", "accent", "good", "progress", "warn", "bad", "added", "removed", "changed", "selected", "more", "less",
}

// themeFile is a theme as a person writes it.
type themeFile struct {
	Name   string               `yaml:"name"`
	Base   string               `yaml:"base"`
	Styles map[string]styleFile `yaml:"styles"`
}

type styleFile struct {
	Foreground string `yaml:"foreground"`
	Background string `yaml:"background"`
	Bold       bool   `yaml:"bold"`
	Faint      bool   `yaml:"faint"`
	Reverse    bool   `yaml:"reverse"`
}

// ReadTheme reads a theme from YAML: a name, the built-in theme that it starts from
// ("terminal" if none is named), and the styles of roles that differ:
//
//	name: amber
//	base: dark
//	styles:
//	  accent: {foreground: "#ffbf00", bold: true}
//	  selected: {reverse: true}
//
// What it does not know is an error: a misspelt role would otherwise do nothing.
func ReadTheme(r io.Reader) (Theme, error) {
	var file themeFile
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		return Theme{}, fmt.Errorf("read theme: %w", err)
	}
	if file.Name == "" {
		return Theme{}, errors.New("read theme: it has no name")
	}
	base := Themes()[0]
	if file.Base != "" {
		named, err := ThemeNamed(file.Base)
		if err != nil {
			return Theme{}, fmt.Errorf("read theme %s: %w", file.Name, err)
		}
		base = *named
	}
	base.Name = file.Name
	for name, style := range file.Styles {
		role := slices.Index(roleNames[:], name)
		if role < 0 {
			return Theme{}, fmt.Errorf("read theme %s: no role %q; available: %s", file.Name, name, strings.Join(roleNames[:], ", "))
		}
		for _, colour := range []string{style.Foreground, style.Background} {
			if !isColour(colour) {
				return Theme{}, fmt.Errorf("read theme %s: role %s: %q is not a colour; use 0 to 255 or #rrggbb", file.Name, name, colour)
			}
		}
		base.Styles[role] = Style(style)
	}
	return base, nil
}

func isColour(s string) bool {
	if s == "" {
		return true
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		_, err := strconv.ParseUint(hex, 16, 32)
		return err == nil && len(hex) == 6
	}
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 255
}
