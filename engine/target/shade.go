package target

import "fmt"

// Shade computes 8-bit codes of the target, on at most threads goroutines, if they pay for the given number of
// searches. Codes save most of the memory traffic, and change no answer.
func (t *Target) Shade(searches, threads int) error {
	if !t.File.ShadePays(searches) {
		return nil
	}
	if err := t.File.Shade(threads); err != nil {
		return fmt.Errorf("open %s: %w", t.File.Name, err)
	}
	return nil
}
