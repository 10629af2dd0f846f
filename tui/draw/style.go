package draw

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"kitescope/render"
)

// Style is a run of SGR codes. Opening and closing are kept apart so that a row is
// styled by two concatenations instead of one lipgloss call per cell.
type Style struct{ Open, Close string }

// On returns text in the style.
func (s Style) On(text string) string {
	if s.Open == "" || text == "" {
		return text
	}
	return s.Open + text + s.Close
}

// Styles are the looks of everything, made once per theme.
type Styles struct {
	Roles                                  []Style // by render.Role
	Dim, Strong, Title, Accent             Style
	Good, Warn, Bad                        Style
	Cursor, Marked, Added, Changed         Style
	Removed, Match, CurrentMatch, Key, Tab Style

	Theme *render.Theme // that they were made of
	// NoColor: there are no colours, Few: there are sixteen.
	NoColor, Few bool
}

// NewStyles makes the looks of a theme; without colour, bold, faint and reverse remain. few says that there are only sixteen
// colours.
func NewStyles(t *render.Theme, noColor, few bool) *Styles {
	s := &Styles{Roles: make([]Style, len(t.Styles)), Theme: t, NoColor: noColor, Few: few}
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
	s.Strong, s.Key, s.Tab, s.Marked = bold(render.RolePlain), bold(render.RoleAccent), bold(render.RoleAccent), bold(render.RoleAccent)
	s.Match = Underlined(t.Style(render.RoleWarn), noColor)
	s.CurrentMatch = NewStyle(render.Style{Reverse: true, Bold: true}, noColor)
	return s
}

// NewStyle is a theme's style on a terminal.
func NewStyle(x render.Style, noColor bool) Style { return cutStyle(lipglossStyle(x, noColor)) }

// Underlined is NewStyle with a line below.
func Underlined(x render.Style, noColor bool) Style {
	return cutStyle(lipglossStyle(x, noColor).Underline(true).UnderlineSpaces(true))
}

func lipglossStyle(x render.Style, noColor bool) lipgloss.Style {
	s := lipgloss.NewStyle().Bold(x.Bold).Faint(x.Faint).Reverse(x.Reverse)
	if noColor {
		if x.Background != "" { // what stood out by its background must go on standing out
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

// cutStyle takes the codes before and after a text apart.
func cutStyle(s lipgloss.Style) Style {
	open, closing, ok := strings.Cut(s.Render("x"), "x")
	if !ok {
		return Style{}
	}
	return Style{open, closing}
}
