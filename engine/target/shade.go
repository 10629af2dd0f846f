package target

import "fmt"

// Shade gives the target 8-bit codes on at most threads goroutines if so many searches pay for them. Codes spare searches most of the
// memory traffic and change no answer.
func (t *Target) Shade(searches, threads int) error {
	if !t.File.ShadePays(searches) {
		return nil
	}
	if err := t.File.Shade(threads); err != nil {
		return fmt.Errorf("open %s: %w", t.File.Name, err)
	}
	return nil
}
