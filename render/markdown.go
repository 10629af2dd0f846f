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

// MarkdownText returns text in Markdown in which no character means anything: names come from outside. A word with one that could is
// put into a code span, because Slack and Jira show escapes as they are.
func MarkdownText(s string) string {
	list := strings.Split(Harmless(s), " ")
	for i, word := range list {
		list[i] = mdWord(word)
	}
	return strings.Join(list, " ")
}

func mdWord(word string) string {
	const before, after = `("'`, `.,;:)"'`
	core := strings.TrimRight(strings.TrimLeft(word, before), after)
	head, tail, _ := strings.Cut(word, core)
	switch {
	case core == "" || !markup(core):
		return word
	case strings.ContainsAny(core, "`|<"): // in a code span they end it, or the cell of a table, or would need trust in who renders it
		return head + escaped(core) + tail
	}
	return head + "`" + core + "`" + tail
}

// markup reports whether a character of a word could mean something in Markdown.
func markup(word string) bool {
	for i := range len(word) {
		last, next := byteAt(word, i-1), byteAt(word, i+1)
		switch word[i] {
		case '\\', '`', '*', '{', '}', '[', ']', '#', '|', '$':
			return true
		case '_':
			if !alphanumeric(last) || !alphanumeric(next) {
				return true
			}
		case '~': // at the start of a word it cannot end what is struck out
			if i > 0 || next == '~' {
				return true
			}
		case '<':
			if !digit(next) && next != '=' && next != 0 {
				return true
			}
		case '>':
			if i == 0 {
				return true
			}
		case '&', '@': // an entity; in a ticket an @ would call somebody
			if next != 0 {
				return true
			}
		case ':':
			if linkAt(word, i) {
				return true
			}
		case '.':
			if strings.EqualFold(word[max(0, i-3):i], "www") {
				return true
			}
		}
	}
	return false
}

// byteAt returns a byte of s, 0 outside of it.
func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

func digit(c byte) bool        { return '0' <= c && c <= '9' }
func alphanumeric(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }

// escaped escapes every character that could mean something.
func escaped(word string) string {
	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; c {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '#', '|', '~', '!', '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@':
			b.WriteString("&#64;")
		case ':':
			b.WriteString([]string{":", "&#58;"}[BoolInt(linkAt(word, i))])
		case '.':
			b.WriteString([]string{".", "&#46;"}[BoolInt(strings.EqualFold(word[max(0, i-3):i], "www"))])
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
