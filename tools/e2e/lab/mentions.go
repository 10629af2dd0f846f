package lab

import "strings"

// Mentions reports whether a text in lower case contains one of the words. A number must match completely:
// querynode-1 is not in querynode-12.
func Mentions(text string, words []string) bool {
	for _, w := range words {
		w = strings.ToLower(w)
		for at := 0; w != ""; {
			i := strings.Index(text[at:], w)
			if i < 0 {
				break
			}
			end := at + i + len(w)
			if end == len(text) || !isDigit(text[end]) || !isDigit(w[len(w)-1]) {
				return true
			}
			at = end
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
