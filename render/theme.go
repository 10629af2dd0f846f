package render

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/table"
)

// Role is the meaning of a piece of text.
type Role = table.Role

// The roles.
const (
	RolePlain    = table.Plain
	RoleDim      = table.Dim
	RoleTitle    = table.Title
	RoleAccent   = table.Accent
	RoleGood     = table.Good
	RoleProgress = table.Progress
	RoleWarn     = table.Warn
	RoleBad      = table.Bad
	RoleAdded    = table.Added
	RoleRemoved  = table.Removed
	RoleChanged  = table.Changed
	RoleSelected = table.Selected
	RoleMore     = table.More
	RoleLess     = table.Less
	roles        = table.Roles
)

// Style is the style of a role. Colors are "" (the terminal's default), an ANSI color number from 0 to 255, or
// "#rrggbb".
type Style struct {
	Foreground, Background string
	Bold, Faint, Reverse   bool
}

// Theme maps roles to styles.
type Theme struct {
	Name string
	// Dark indicates that the theme is for a dark background.
	Dark   bool
	Styles [roles]Style
}

// Style returns the style of a role.
func (t *Theme) Style(r Role) Style { return t.Styles[r] }

// Themes returns the built-in themes. The first one is the default, and uses the terminal's own sixteen colors to
// suit any background.
func Themes() []Theme {
	return []Theme{
		{
			Name: "terminal", Dark: true,
			Styles: [roles]Style{
				RoleDim: {Faint: true}, RoleTitle: {Bold: true}, RoleAccent: {Foreground: "6"},
				RoleGood: {Foreground: "2"}, RoleProgress: {Foreground: "4"}, RoleWarn: {Foreground: "3"},
				RoleBad:   {Foreground: "1", Bold: true},
				RoleAdded: {Foreground: "2"}, RoleRemoved: {Foreground: "1"}, RoleChanged: {Foreground: "3"},
				RoleSelected: {Reverse: true}, RoleMore: {Foreground: "1"}, RoleLess: {Foreground: "4"},
			},
		},
		{
			Name: "dark", Dark: true,
			Styles: [roles]Style{
				RolePlain: {Foreground: "#d8dee9"}, RoleDim: {Foreground: "#7b8496"},
				RoleTitle:  {Foreground: "#eceff4", Bold: true},
				RoleAccent: {Foreground: "#88c0d0"}, RoleGood: {Foreground: "#a3be8c"},
				RoleProgress: {Foreground: "#81a1c1"},
				RoleWarn:     {Foreground: "#ebcb8b"}, RoleBad: {Foreground: "#ff7b86", Bold: true},
				RoleAdded: {Foreground: "#a3be8c"}, RoleRemoved: {Foreground: "#ff7b86"},
				RoleChanged:  {Foreground: "#ebcb8b"},
				RoleSelected: {Foreground: "#eceff4", Background: "#3b4a63"}, RoleMore: {Foreground: "#ff7b86"},
				RoleLess: {Foreground: "#81a1c1"},
			},
		},
		{
			Name: "light",
			Styles: [roles]Style{
				RolePlain: {Foreground: "#24292f"}, RoleDim: {Foreground: "#6e7781"},
				RoleTitle:  {Foreground: "#0b0f14", Bold: true},
				RoleAccent: {Foreground: "#0550ae"}, RoleGood: {Foreground: "#116329"},
				RoleProgress: {Foreground: "#0969da"},
				RoleWarn:     {Foreground: "#7d4e00"}, RoleBad: {Foreground: "#b0121f", Bold: true},
				RoleAdded: {Foreground: "#116329"}, RoleRemoved: {Foreground: "#b0121f"},
				RoleChanged:  {Foreground: "#7d4e00"},
				RoleSelected: {Foreground: "#0b0f14", Background: "#cfe3fb"}, RoleMore: {Foreground: "#b0121f"},
				RoleLess: {Foreground: "#0969da"},
			},
		},
	}
}

// StateRole returns the role of a state in Milvus: of segments, indexes, loading, watching, tasks and sessions.
// Words that it does not list are plain.
func StateRole(word string) Role {
	switch word {
	case "answered", "Healthy", "Flushed", "Finished", "Loaded", "registered", "Created", "WatchSuccess", "Assigned",
		"Completed", "completed", "Normal":
		return RoleGood
	case "Growing", "Sealed", "Flushing", "Importing", "InProgress", "Unissued", "Init", "Loading", "Creating",
		"Pending", "PreImporting", "Executing", "executing", "pipelining", "meta_saved", "ToWatch", "Assigning",
		"standby", "Sorting", "IndexBuilding", "Initializing", "StandBy":
		return RoleProgress
	case "Missing", "Retry", "stopping", "Dropping", "ToRelease", "ReleaseSuccess", "Uninitialized", "timeout",
		"Unavailable", "Invalid", "Both", "not ready", "Stopping", "warning":
		return RoleWarn
	case "Failed", "failed", "WatchFailure", "ReleaseFailure", "unreachable", "refused", "timed out", "stale",
		"other cluster", "denied", "garbled", "too large", "cut off", "Abnormal", "NotServed", "error":
		return RoleBad
	case "Dropped", "NotLoad", "NotNeeded", "Deleted", "None", "NotExist", "cleaned", "unknown", "unimplemented",
		"not asked":
		return RoleDim
	}
	return RolePlain
}

// Glyph returns the symbol of a role, for people and terminals without color, or "" if it has no symbol.
func Glyph(r Role, ascii bool) string {
	glyphs := [roles][2]string{
		RoleGood: {"✓", "ok"}, RoleProgress: {"◌", ".."}, RoleWarn: {"▲", "!"}, RoleBad: {"✖", "x"},
		RoleAdded: {"+", "+"}, RoleRemoved: {"-", "-"}, RoleChanged: {"~", "~"},
		RoleMore: {"▲", "+"}, RoleLess: {"▼", "-"},
	}
	if ascii {
		return glyphs[r][1]
	}
	return glyphs[r][0]
}

// Painter writes escape sequences of a theme, or none if color is disabled.
type Painter struct {
	on    bool
	codes [roles]string
}

// NewPainter returns a painter with the theme of the options. It writes no escape sequences unless they allow
// color.
func NewPainter(o *Options) Painter {
	p := Painter{on: o.Color}
	if !p.on {
		return p
	}
	theme := o.Theme
	if theme == nil {
		theme = &Themes()[0]
	}
	for r := range theme.Styles {
		p.codes[r] = sequence(theme.Styles[r])
	}
	return p
}

func sequence(s Style) string {
	var style ansi.Style
	if s.Bold {
		style = style.Bold()
	}
	if s.Faint {
		style = style.Faint()
	}
	if s.Reverse {
		style = style.Reverse(true)
	}
	if c := colorOf(s.Foreground); c != nil {
		style = style.ForegroundColor(c)
	}
	if c := colorOf(s.Background); c != nil {
		style = style.BackgroundColor(c)
	}
	if len(style) == 0 {
		return ""
	}
	return style.String()
}

func colorOf(s string) color.Color {
	if s == "" {
		return nil
	}
	return lipgloss.Color(s)
}

const resetStyle = "\x1b[m"

// begin and end surround text of a role with escape sequences.
func (p *Painter) begin(dst []byte, r Role) []byte {
	if !p.on {
		return dst
	}
	return append(dst, p.codes[r]...)
}

func (p *Painter) end(dst []byte, r Role) []byte {
	if !p.on || p.codes[r] == "" {
		return dst
	}
	return append(dst, resetStyle...)
}

// Paint appends escaped text with the style of a role.
func (p *Painter) Paint(dst []byte, r Role, s string) []byte {
	return p.end(append(p.begin(dst, r), s...), r)
}
