package secret

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
		start := len(text) - len(strings.TrimLeft(text[from:], blank+quotes))
		end := ValueEnd(text, start, ends+quotes)
		if start == end || strings.HasPrefix(text[start:], Redacted) {
			continue
		}
		text = text[:start] + Redacted + text[end:]
		from = start + len(Redacted)
	}
}

// Tangled reports whether a text has so much in it that could be a secret that looking for
// them would not come to an end. No honest text has.
func Tangled(text string) bool {
	const most = 1 << 26
	signs := strings.Count(text, "=") + strings.Count(text, ":")
	return int64(signs)*int64(len(text)) > most
}
