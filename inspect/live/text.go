package live

import (
	"bytes"
	"encoding/json"
	"strings"

	"kitescope/inspect/secret"
)

// Bounds of the words of others. What is longer than a text for people is cut before secrets
// are looked for, as that takes time by the square of the length.
const (
	maxReason = 400
	maxProse  = 4 << 10
)

// oneLine makes another's words fit to be shown: in one line, short, without secrets.
func oneLine(text string) string {
	if len(text) > maxProse {
		// Not within a word: the rest of a secret could not be known as one.
		text = text[:maxProse]
		text = text[:strings.LastIndexAny(text, " \t\r\n")+1] + "..."
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(prose(text), "?")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "..."
	}
	return text
}

// prose takes secrets out of text for people: beside what secret.Text finds, what stands
// behind "password: ", "token = " and their like.
func prose(text string) string {
	const blank, quotes, ends = " \t", "\"'`", " \t\r\n,;(){}[]&?"
	if tangled(text) {
		return secret.Redacted
	}
	text = secret.Text(text)
	for from := 0; ; {
		i := strings.IndexAny(text[from:], ":=")
		if i < 0 {
			return text
		}
		at := from + i
		from = at + 1
		name := strings.TrimRight(text[:at], blank+quotes)
		name = name[strings.LastIndexAny(name, ends+quotes)+1:]
		if !secret.Name(name) || strings.HasPrefix(text[from:], "//") {
			continue
		}
		start := len(text) - len(strings.TrimLeft(text[from:], blank+quotes))
		end := secret.ValueEnd(text, start, ends+quotes)
		if start == end || strings.HasPrefix(text[start:], secret.Redacted) {
			continue
		}
		text = text[:start] + secret.Redacted + text[end:]
		from = start + len(secret.Redacted)
	}
}

// tangled reports whether a text has so much in it that could be a secret that looking for
// them would not come to an end. No honest text has.
func tangled(text string) bool {
	const most = 1 << 26
	signs := strings.Count(text, "=") + strings.Count(text, ":")
	return int64(signs)*int64(len(text)) > most
}

// safePair is secret.Pair for values of any size.
func safePair(name, value string) string {
	switch {
	case len(value) <= maxProse:
		return secret.Pair(name, value)
	case secret.Name(name):
		return secret.Redacted
	}
	return safeText(value)
}

// safeText is secret.Text for values of any size. JSON may be large, texts in it may not.
func safeText(value string) string {
	if len(value) <= maxProse {
		return secret.Text(value)
	}
	start := strings.TrimLeft(value, " \t\r\n")
	if strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		if b := []byte(value); heavy(weighJSON(b)) == nil && longestText(b) <= maxMetricsLine && json.Valid(b) {
			return secret.Text(value)
		}
	}
	if tangled(value) {
		return secret.Redacted
	}
	return secret.Text(value)
}

// longestText is the length of the longest text in JSON.
func longestText(text []byte) int {
	longest := 0
	for {
		at := bytes.IndexByte(text, '"')
		if at < 0 {
			return longest
		}
		text = text[at+1:]
		end := 0
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		longest = max(longest, end)
		text = text[min(end+1, len(text)):]
	}
}
