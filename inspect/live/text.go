package live

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"kitescope/internal/redact"
)

// Bounds of text from processes. Longer text is truncated before the search for secrets, whose time is
// quadratic in the length.
const (
	maxReason = 400
	maxProse  = 4 << 10
)

// oneLine makes text from a process displayable: in one line, short, without secrets.
func oneLine(text string) string {
	if len(text) > maxProse {
		// Not within a word, because part of a secret could not be recognized.
		text = text[:maxProse]
		text = text[:strings.LastIndexAny(text, " \t\r\n")+1] + "..."
	}
	text = strings.Join(strings.Fields(redact.Text(strings.Map(graphic, text))), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "..."
	}
	return text
}

// graphic replaces a control character by '?', because it could control a terminal. It drops invisible
// characters, because they could hide the name of a secret from the search.
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
	if tooLargeJSON(value) {
		return redact.Redacted
	}
	return redact.Pair(name, value)
}

// safeText is redact.Text for JSON of any size.
func safeText(value string) string {
	if tooLargeJSON(value) {
		return redact.Redacted
	}
	return redact.Text(value)
}

// tooLargeJSON reports whether a value is JSON that would take too much memory to decode.
func tooLargeJSON(value string) bool {
	start := strings.TrimLeft(value, " \t\r\n")
	return len(value) > maxProse && (strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")) &&
		checkSize(decodedJSONSize([]byte(value))) != nil
}

// longestText returns the length of the longest string in JSON, in bytes.
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
