// Package interrupt cancels the wait for blocking calls that the operating system does not interrupt.
package interrupt

import "context"

// Wait returns the result of do, or the error of ctx if ctx ends first. Opening or reading a pipe may block forever.
// After ctx has ended, Wait abandons the running call: its goroutine continues until do returns.
func Wait[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
