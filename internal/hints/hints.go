// Package hints attaches to errors what a person can try next. An error stays one line about what failed, its hint is another
// about what to do, so that both can be shown where they belong.
package hints

import (
	"errors"
	"fmt"
)

// Hinter is an error that knows what to try next: a short sentence, lower case and without a period, or "".
type Hinter interface {
	error
	Hint() string
}

// Error is any error together with advice.
type Error struct {
	Err    error
	Advice string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the error without its hint.
func (e *Error) Unwrap() error { return e.Err }

// Hint implements Hinter.
func (e *Error) Hint() string { return e.Advice }

// Errorf makes an error with advice on the spot.
func Errorf(advice, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Advice: advice}
}

// Attach gives advice to err, unless err carries some already: what is nearer to the fault knows more of it.
func Attach(err error, advice string) error {
	if err == nil || Carried(err) {
		return err
	}
	return &Error{Err: err, Advice: advice}
}

// Carried reports whether err is or wraps a Hinter.
func Carried(err error) bool {
	_, ok := errors.AsType[Hinter](err)
	return ok
}

// Of is the hint of the outermost Hinter in err, "" if there is none.
func Of(err error) string {
	if hinted, ok := errors.AsType[Hinter](err); ok {
		return hinted.Hint()
	}
	return ""
}
