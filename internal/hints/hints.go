// Package hints attaches advice to errors. The error stays one line about the failure. The hint is another line
// that suggests a fix, so that each can be shown in its own place.
package hints

import (
	"errors"
	"fmt"
)

// Hinter is an error with a hint: a short sentence about what to try next, in lower case and without a period, or "".
type Hinter interface {
	error
	Hint() string
}

// Error is an error with advice.
type Error struct {
	Err    error
	Advice string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its hint.
func (e *Error) Unwrap() error { return e.Err }

// Hint implements Hinter.
func (e *Error) Hint() string { return e.Advice }

// Errorf returns a formatted error with advice.
func Errorf(advice, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Advice: advice}
}

// Attach adds advice to err unless err already has a hint, because advice from closer to the failure is more
// specific.
func Attach(err error, advice string) error {
	if err == nil || HasHint(err) {
		return err
	}
	return &Error{Err: err, Advice: advice}
}

// HasHint reports whether err is or wraps a Hinter.
func HasHint(err error) bool {
	_, ok := errors.AsType[Hinter](err)
	return ok
}

// Of returns the hint of the outermost Hinter in err, or "" without one.
func Of(err error) string {
	if hinted, ok := errors.AsType[Hinter](err); ok {
		return hinted.Hint()
	}
	return ""
}
