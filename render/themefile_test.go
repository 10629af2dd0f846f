package render

import (
	"strings"
	"testing"
)

func TestReadTheme(t *testing.T) {
	theme, err := ReadTheme(strings.NewReader(`
name: amber
base: dark
styles:
  accent: {foreground: "#ffbf00", bold: true}
  selected: {reverse: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	if theme.Name != "amber" || !theme.Dark || theme.Style(RoleAccent) != (Style{Foreground: "#ffbf00", Bold: true}) || !theme.Style(RoleSelected).Reverse {
		t.Errorf("theme %+v", theme)
	}
	dark, err := ThemeNamed("dark")
	if err != nil {
		t.Fatal(err)
	}
	if theme.Style(RoleWarn) != dark.Style(RoleWarn) {
		t.Errorf("what the file leaves out is %+v, want the base's %+v", theme.Style(RoleWarn), dark.Style(RoleWarn))
	}
}

func TestReadThemeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "read theme",
		"styles: {}":                             "no name",
		"name: x\nbase: nosuch":                  `unknown theme "nosuch"`,
		"name: x\nstyles: {accnt: {bold: true}}": `no role "accnt"`,
		"name: x\nstyles: {warn: {foreground: red}}":      `"red" is not a colour`,
		"name: x\nstyles: {warn: {foreground: '#12345'}}": "is not a colour",
		"name: x\nstyles: {warn: {foreground: '256'}}":    "is not a colour",
		"name: x\ncolours: {}":                            "colours",
	} {
		if _, err := ReadTheme(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
