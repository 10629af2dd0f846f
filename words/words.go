// Package words cuts texts of others to a bound. What enters is any text, what leaves is short enough to be kept many times,
// and tells texts apart that were different.
package words

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// around is more than what stands between the ends of a text that was cut.
const around = 100

// Keep is a text of most bytes at the most, more than a few hundred: of a longer one its ends, its length, and what tells it from
// others with the same ends.
func Keep(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := (most - around) / 2
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s...(%d bytes, %x)...%s",
		strings.ToValidUTF8(text[:end], ""), len(text), sum[:8], strings.ToValidUTF8(text[len(text)-end:], ""))
}
