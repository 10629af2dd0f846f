package tui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"kitescope/render"
)

// style is a run of SGR codes. Opening and closing are kept apart so that a row is
// styled by two concatenations instead of one lipgloss call per cell.
type style struct{ open, close string }

// on returns text in the style.
func (s style) on(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + s.close
}

// styles are the looks of everything, made once per theme.
type styles struct {
	roles                                  []style // by render.Role
	dim, strong, title, accent             style
	good, warn, bad                        style
	cursor, marked, added, changed         style
	removed, match, currentMatch, key, tab style

	theme *render.Theme // that they were made of
	// noColor: there are no colours, few: there are sixteen.
	noColor, few bool
}

// newStyles makes the looks of a theme; without colour, bold, faint and reverse remain. few says that there are only sixteen
// colours.
func newStyles(t *render.Theme, noColor, few bool) *styles {
	s := &styles{roles: make([]style, len(t.Styles)), theme: t, noColor: noColor, few: few}
	for role := range t.Styles {
		s.roles[role] = newStyle(t.Styles[role], noColor)
	}
	s.dim, s.title, s.accent = s.roles[render.RoleDim], s.roles[render.RoleTitle], s.roles[render.RoleAccent]
	s.good, s.warn, s.bad = s.roles[render.RoleGood], s.roles[render.RoleWarn], s.roles[render.RoleBad]
	s.added, s.changed, s.removed = s.roles[render.RoleAdded], s.roles[render.RoleChanged], s.roles[render.RoleRemoved]
	s.cursor = s.roles[render.RoleSelected]
	bold := func(role render.Role) style {
		x := t.Style(role)
		x.Bold = true
		return newStyle(x, noColor)
	}
	s.strong, s.key, s.tab, s.marked = bold(render.RolePlain), bold(render.RoleAccent), bold(render.RoleAccent), bold(render.RoleAccent)
	s.match = underlined(t.Style(render.RoleWarn), noColor)
	s.currentMatch = newStyle(render.Style{Reverse: true, Bold: true}, noColor)
	return s
}

func newStyle(x render.Style, noColor bool) style { return cutStyle(lipglossStyle(x, noColor)) }

func underlined(x render.Style, noColor bool) style {
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
func cutStyle(s lipgloss.Style) style {
	open, closing, ok := strings.Cut(s.Render("x"), "x")
	if !ok {
		return style{}
	}
	return style{open, closing}
}
