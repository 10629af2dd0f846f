package live

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"kitescope/internal/redact"
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
	text = strings.Join(strings.Fields(redact.Text(strings.Map(graphic, text))), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "..."
	}
	return text
}

// graphic is a character as it may be shown: what steers a terminal is none. What is not seen at all is
// left out, as it would hide a secret from who looks for its name.
func graphic(r rune) rune {
	switch {
	case unicode.Is(unicode.Cf, r):
		return -1
	case r != utf8.RuneError && (unicode.IsGraphic(r) || unicode.IsSpace(r)):
		return r
	}
	return '?'
}

// safePair is redact.Pair for JSON of any size.
func safePair(name, value string) string {
	if tooHeavyJSON(value) {
		return redact.Redacted
	}
	return redact.Pair(name, value)
}

// safeText is redact.Text for JSON of any size.
func safeText(value string) string {
	if tooHeavyJSON(value) {
		return redact.Redacted
	}
	return redact.Text(value)
}

// tooHeavyJSON reports whether a value is JSON that would cost too much to decode.
func tooHeavyJSON(value string) bool {
	start := strings.TrimLeft(value, " \t\r\n")
	return len(value) > maxProse && (strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")) && heavy(weighJSON([]byte(value))) != nil
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
