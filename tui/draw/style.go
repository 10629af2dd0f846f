package draw

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"kitescope/render"
)

// Style is a pair of SGR sequences. The opening and closing sequences are separate because two concatenations
// per row are cheaper than one lipgloss call per cell.
type Style struct{ Open, Close string }

// On returns text in the style.
func (s Style) On(text string) string {
	if s.Open == "" || text == "" {
		return text
	}
	return s.Open + text + s.Close
}

// Styles holds all styles of the UI. It is built once per theme.
type Styles struct {
	Roles                                  []Style // by render.Role
	Dim, Strong, Title, Accent             Style
	Good, Warn, Bad                        Style
	Cursor, Marked, Added, Changed         Style
	Removed, Match, CurrentMatch, Key, Tab Style

	Theme *render.Theme // the theme that the styles were made from
	// NoColor means that no colours are used, SixteenColors that the terminal has only sixteen.
	NoColor, SixteenColors bool
}

// NewStyles returns the styles of a theme. Without colours, bold, faint and reverse remain. sixteenColors means that
// the terminal has only sixteen colours.
func NewStyles(t *render.Theme, noColor, sixteenColors bool) *Styles {
	s := &Styles{Roles: make([]Style, len(t.Styles)), Theme: t, NoColor: noColor, SixteenColors: sixteenColors}
	for role := range t.Styles {
		s.Roles[role] = NewStyle(t.Styles[role], noColor)
	}
	s.Dim, s.Title, s.Accent = s.Roles[render.RoleDim], s.Roles[render.RoleTitle], s.Roles[render.RoleAccent]
	s.Good, s.Warn, s.Bad = s.Roles[render.RoleGood], s.Roles[render.RoleWarn], s.Roles[render.RoleBad]
	s.Added, s.Changed, s.Removed = s.Roles[render.RoleAdded], s.Roles[render.RoleChanged], s.Roles[render.RoleRemoved]
	s.Cursor = s.Roles[render.RoleSelected]
	bold := func(role render.Role) Style {
		x := t.Style(role)
		x.Bold = true
		return NewStyle(x, noColor)
	}
	s.Strong, s.Key, s.Tab, s.Marked = bold(render.RolePlain), bold(render.RoleAccent), bold(render.RoleAccent),
		bold(render.RoleAccent)
	s.Match = Underlined(t.Style(render.RoleWarn), noColor)
	s.CurrentMatch = NewStyle(render.Style{Reverse: true, Bold: true}, noColor)
	return s
}

// NewStyle returns the terminal style for a style of a theme.
func NewStyle(x render.Style, noColor bool) Style { return cutStyle(lipglossStyle(x, noColor)) }

// Underlined returns NewStyle with an underline, which includes blanks.
func Underlined(x render.Style, noColor bool) Style {
	return cutStyle(lipglossStyle(x, noColor).Underline(true).UnderlineSpaces(true))
}

func lipglossStyle(x render.Style, noColor bool) lipgloss.Style {
	s := lipgloss.NewStyle().Bold(x.Bold).Faint(x.Faint).Reverse(x.Reverse)
	if noColor {
		if x.Background != "" { // a background that highlights text becomes reverse video
			s = s.Reverse(true)
		}
		return s
	}
	if x.Foreground != "" {
		s = s.Foreground(colorOf(x.Foreground))
	}
	if x.Background != "" {
		s = s.Background(colorOf(x.Background))
	}
	return s
}

func colorOf(s string) color.Color { return lipgloss.Color(s) }

// cutStyle splits a style into the sequences before and after a text.
func cutStyle(s lipgloss.Style) Style {
	open, closing, ok := strings.Cut(s.Render("x"), "x")
	if !ok {
		return Style{}
	}
	return Style{open, closing}
}
