package words

import (
	"fmt"
	"strings"
)

// List joins texts with commas, and with a word before the last one: "a, b and c".
func List(word string, texts ...string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + word + " " + texts[last]
}

// Split splits a line at blanks and tabs, except within single or double quotes. It returns an error if a quote
// is not closed.
func Split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
