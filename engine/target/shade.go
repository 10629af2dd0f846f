package target

import (
	"fmt"
	"slices"
)

// Codes says whether the rows of a target get codes in 8 bits, which spare searches most of the memory traffic and change no answer.
type Codes uint8

// When there are codes.
const (
	CodesAuto Codes = iota // where so many searches of such an index pay for them
	CodesOn
	CodesOff
)

// CodesNames are the words for it, in their order.
func CodesNames() []string { return []string{"auto", "on", "off"} }

// ParseCodes finds one by its word.
func ParseCodes(word string) (Codes, bool) {
	i := slices.Index(CodesNames(), word)
	return Codes(max(i, 0)), i >= 0
}

// Shade gives the target codes for so many searches, on at most threads goroutines. An error says why there can be none, where they
// were asked for.
func (t *Target) Shade(c Codes, searches, threads int) error {
	if c == CodesOff || c == CodesAuto && !t.File.ShadePays(searches) {
		return nil
	}
	if err := t.File.Shade(threads); err != nil {
		return fmt.Errorf("open %s: %w", t.File.Name, err)
	}
	return nil
}
