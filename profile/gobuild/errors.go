package gobuild

import "fmt"

// Error is an error together with what a person can try next. Error() is the error alone, so that both
// can be shown where they belong.
type Error struct {
	Err error
	// Hint is a short sentence, lower case and without a period.
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the error without the hint.
func (e *Error) Unwrap() error { return e.Err }

// hinted makes an error with a hint.
func hinted(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}
