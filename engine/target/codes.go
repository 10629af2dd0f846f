package target

import "fmt"

// Quantize computes 8-bit codes of the target, on at most threads goroutines, if they pay for the given number of
// searches. Codes save most of the memory traffic, and change no answer.
func (t *Target) Quantize(searches, threads int) error {
	if !t.File.CodesPay(searches) {
		return nil
	}
	if err := t.File.Quantize(threads); err != nil {
		return fmt.Errorf("open %s: %w", t.File.Name, err)
	}
	return nil
}
