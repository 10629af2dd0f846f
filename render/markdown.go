package render

import (
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/words"
)

// Sheet writes a report as part of a page.
func (m *Markdown) Sheet(s *Sheet) {
	m.Lines(s.Head)
	m.Tables(s.Parts)
	m.Lines(s.Foot)
}

// Fence writes code as it is.
func (m *Markdown) Fence(code, language string) {
	lines := strings.Split(strings.TrimRight(words.HarmlessLines(code), "\n"), "\n")
	fence := fenceOf(lines)
	m.Line("", fence+language)
	m.Line(lines...)
	m.Line(fence)
}

// Markdown is a page of Markdown that is being written.
type Markdown struct{ Out encode.Output }

// Line adds lines, which are Markdown already.
func (m *Markdown) Line(lines ...string) {
	for _, s := range lines {
		m.Out.Buf = append(append(m.Out.Buf, s...), '\n')
	}
	m.Out.Drain()
}

// linkAt reports whether a colon makes a link of what stands around it, as GitHub's Markdown does without any brackets
// (GFM, 6.9): of an address, and of mailto: and xmpp:.
func linkAt(s string, colon int) bool {
	before := strings.ToLower(s[max(0, colon-len("mailto")):colon])
	return strings.HasPrefix(s[colon:], "://") || strings.HasSuffix(before, "mailto") || strings.HasSuffix(before, "xmpp")
}

// mdBlock is text that a paragraph begins with: no list, heading or rule.
func mdBlock(s string) string {
	s = MarkdownText(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "":
	case strings.IndexByte("-+=", s[0]) >= 0:
		return "\\" + s
	case digits > 0 && digits < len(s) && strings.IndexByte(".)", s[digits]) >= 0:
		return s[:digits] + "\\" + s[digits:]
	}
	return s
}

// MarkdownText is text in Markdown in which no character means anything: names come from outside.
func MarkdownText(s string) string {
	s = Harmless(s)
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@': // in a ticket it would call somebody
			b.WriteString("&#64;")
		case ':':
			b.WriteString([]string{":", "&#58;"}[BoolInt(linkAt(s, i))])
		case '.':
			b.WriteString([]string{".", "&#46;"}[BoolInt(strings.EqualFold(s[max(0, i-3):i], "www"))])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// fenceOf is a fence that none of some lines ends: longer than any run of backticks in them.
func fenceOf(lines []string) string {
	fence := "```"
	for _, line := range lines {
		for strings.Contains(line, fence) {
			fence += "`"
		}
	}
	return fence
}
