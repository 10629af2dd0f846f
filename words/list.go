package words

import "strings"

// List joins texts as a sentence does, with a word before the last: "a, b and c".
func List(word string, texts ...string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " " + word + " " + texts[last]
}
