package source

import (
	"errors"
	"fmt"
)

// ErrCompacted says that the wanted revision is gone from etcd: the store was
// compacted past it. Pin again to go on from the present.
var ErrCompacted = errors.New("revision was compacted away")

// HintError is an error together with what a person can try next. Error() is
// the error alone, one line; the command line prints Hint below it.
type HintError struct {
	Err error
	// Hint is one sentence in lower case, without a full stop.
	Hint string
}

func (e *HintError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its hint.
func (e *HintError) Unwrap() error { return e.Err }

// hint attaches advice to err, unless err already carries some.
func hint(err error, format string, args ...any) error {
	var known *HintError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &HintError{Err: err, Hint: fmt.Sprintf(format, args...)}
}

// hintf is hint for an error that is made on the spot.
func hintf(advice, format string, args ...any) error {
	return &HintError{Err: fmt.Errorf(format, args...), Hint: advice}
}
