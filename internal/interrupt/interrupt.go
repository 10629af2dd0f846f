// Package interrupt ends waits that the operating system does not end.
package interrupt

import "context"

// Wait returns what do returns, or the error of ctx if that ends first: opening and reading a pipe may wait for ever. The call
// that is under way is left to itself then.
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
