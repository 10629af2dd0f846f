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

// Fence writes a fenced code block.
func (m *Markdown) Fence(code, language string) {
	lines := strings.Split(strings.TrimRight(words.SanitizeLines(code), "\n"), "\n")
	fence := fenceOf(lines)
	m.Line("", fence+language)
	m.Line(lines...)
	m.Line(fence)
}

// Markdown writes a Markdown page.
type Markdown struct{ Out encode.Output }

// Line writes lines of Markdown.
func (m *Markdown) Line(lines ...string) {
	for _, s := range lines {
		m.Out.Buf = append(append(m.Out.Buf, s...), '\n')
	}
	m.Out.Drain()
}

// linkAt reports whether a colon turns the surrounding text into a link without brackets, as GitHub does for
// URLs, mailto: and xmpp: (GFM, 6.9).
func linkAt(s string, colon int) bool {
	before := strings.ToLower(s[max(0, colon-len("mailto")):colon])
	return strings.HasPrefix(s[colon:], "://") || strings.HasSuffix(before, "mailto") ||
		strings.HasSuffix(before, "xmpp")
}

// mdBlock escapes text at the start of a paragraph, so that it does not become a list, heading or rule.
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

// MarkdownText escapes text for Markdown, because names are untrusted. It puts a word with special characters in
// a code span, because Slack and Jira display escapes literally.
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
	case core == "" || !hasMarkup(core):
		return word
	case strings.ContainsAny(core, "`|<"): // end a code span or a table cell, or depend on the renderer
		return head + escape(core) + tail
	}
	return head + "`" + core + "`" + tail
}

// hasMarkup reports whether a word contains a character that Markdown could interpret.
func hasMarkup(word string) bool {
	for i := range len(word) {
		last, next := byteAt(word, i-1), byteAt(word, i+1)
		switch word[i] {
		case '\\', '`', '*', '{', '}', '[', ']', '#', '|', '$':
			return true
		case '_':
			if !alphanumeric(last) || !alphanumeric(next) {
				return true
			}
		case '~': // at the start of a word it cannot close a strikethrough
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
		case '&', '@': // an entity, or a mention in a ticket
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

// byteAt returns a byte of s, or 0 if i is out of range.
func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return 0
	}
	return s[i]
}

func digit(c byte) bool        { return '0' <= c && c <= '9' }
func alphanumeric(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }

// escape escapes every character that Markdown could interpret.
func escape(word string) string {
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

// fenceOf returns a fence that is longer than any run of backticks in the lines.
func fenceOf(lines []string) string {
	fence := "```"
	for _, line := range lines {
		for strings.Contains(line, fence) {
			fence += "`"
		}
	}
	return fence
}
