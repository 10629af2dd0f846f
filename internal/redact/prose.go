package redact

import "strings"

// Prose takes secrets out of text for people, such as what a server says of an error: beside what Text finds, what stands
// behind "password: ", "token = " and their like.
func Prose(text string) string {
	const blank, quotes, ends = " \t", "\"'`", " \t\r\n,;(){}[]&?"
	if Tangled(text) {
		return Redacted
	}
	text = Text(text)
	for from := 0; ; {
		i := strings.IndexAny(text[from:], ":=")
		if i < 0 {
			return text
		}
		at := from + i
		from = at + 1
		name := strings.TrimRight(text[:at], blank+quotes)
		name = name[strings.LastIndexAny(name, ends+quotes)+1:]
		if !Name(name) || strings.HasPrefix(text[from:], "//") {
			continue
		}
		start := len(text) - len(strings.TrimLeft(text[from:], blank+quotes+`\`))
		end := bareEnd(text, start, ends, quotes)
		if at := strings.LastIndexAny(text[from:start], quotes); at >= 0 {
			end = closing(text, start, text[from+at])
		}
		if start == end || strings.HasPrefix(text[start:], Redacted) {
			continue
		}
		text = text[:start] + Redacted + text[end:]
		from = start + len(Redacted)
	}
}

// closing is where a value ends that stands in quotes, which may be escaped as in JSON inside JSON. Blanks are part of it. In
// a text that was cut off it is all of the line.
func closing(text string, start int, quote byte) int {
	escaped := start > 1 && text[start-2] == '\\'
	for i := start; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == quote && !escaped, text[i] == '\\' && escaped && i+1 < len(text) && text[i+1] == quote:
			return i
		case strings.HasPrefix(text[i:], `\\\`) && escaped: // an escape inside
			i += 3
		case text[i] == '\\':
			i++
		}
	}
	return start + strings.IndexByte(text[start:]+"\n", '\n')
}

// bareEnd is where a value ends that stands in no quotes. It may be an assignment itself, of something in quotes.
func bareEnd(text string, start int, ends, quotes string) int {
	end := valueEnd(text, start, ends+quotes)
	if end > start && end < len(text) && strings.IndexByte(quotes, text[end]) >= 0 && strings.IndexByte(":=", text[end-1]) >= 0 {
		end = closing(text, end+1, text[end])
	}
	return end
}

// Tangled reports whether a text has so much in it that could be a secret that looking for
// them would not come to an end. No honest text has.
func Tangled(text string) bool {
	const most = 1 << 26
	signs := strings.Count(text, "=") + strings.Count(text, ":")
	return int64(signs)*int64(len(text)) > most
}
