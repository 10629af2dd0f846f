package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
)

// Exit codes, as documented in "kitescope help exit-codes".
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitFindings    = 3 // findings at or above --fail-on; diff: differences; pgo: not worth it, unfit, no effect
	ExitIncomplete  = 4 // under --strict: something could not be read; pgo verify: the result is unknown
	ExitInterrupted = 130
)

// UsageError is a mistake in the command line.
type UsageError struct {
	Err    error
	Advice string
}

// Usage returns a UsageError with a hint, which may be "".
func Usage(err error, hint string) error { return &UsageError{Err: err, Advice: hint} }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Hint implements hints.Hinter.
func (e *UsageError) Hint() string { return e.Advice }

// Usagef returns a UsageError without a hint, for messages that include the fix.
func Usagef(format string, args ...any) error { return &UsageError{Err: fmt.Errorf(format, args...)} }

// CodeError ends the command with an exit code. Nothing is printed if Err is nil.
type CodeError struct {
	Code int
	Err  error
}

func (e *CodeError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

// ExitCode returns the exit code of an error. It is the only function that does so.
func ExitCode(ctx context.Context, err error) int {
	var coded *CodeError
	var usage *UsageError
	switch {
	case err == nil, Closed(err):
		return ExitOK
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &usage):
		return ExitUsage
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	return ExitFailed
}

// Closed reports whether err is a write to standard output after its reader closed it, e.g. "| head". Commands
// whose exit code is a verdict ignore such an error and compute the verdict.
func Closed(err error) bool {
	_, ok := errors.AsType[*outputError](err)
	return ok && errors.Is(err, syscall.EPIPE)
}

// PrintError prints the error on one line and the hint on another. Output of the go command is printed first, on
// its own lines.
func PrintError(ctx context.Context, s *Streams, err error) {
	var coded *CodeError
	if errors.As(err, &coded) && coded.Err == nil {
		return
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		s.Notef("kitescope: interrupted")
		return
	}
	if Closed(err) {
		return
	}
	message := err.Error()
	if failed, ok := errors.AsType[*pgo.CommandError](err); ok {
		s.PrintOutput(failed.Output)
		message = strings.ReplaceAll(message, failed.Error(), failed.Brief())
	}
	s.writeLine(NoFile(err, message))
	if hint := hintOf(err); hint != "" {
		s.Notef("hint: %s", OneLine(hint))
	}
}

// NoFile rewrites the message of fs.ErrNotExist to "NAME: no such file". The original message includes the
// system call and is not always in English.
func NoFile(err error, message string) string {
	if !errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(message, "write ") {
		return message
	}
	const there = ": no such file"
	before, behind, found := strings.Cut(message, ": "+syscall.ENOENT.Error())
	if !found {
		return message
	}
	at, call := -1, "" // the last occurrence that starts a part of the message
	for _, x := range []string{"open ", "stat ", "lstat "} {
		i := strings.LastIndex(before, ": "+x) + len(": ")
		if i < len(": ") && strings.HasPrefix(before, x) {
			i = 0
		}
		if (i == 0 || i >= len(": ")) && i > at {
			at, call = i, x
		}
	}
	switch {
	case at == 0:
		before = "read " + before[len(call):]
	case at > 0:
		before = before[:at] + before[at+len(call):]
	}
	return before + there + behind
}

// OneLine returns a message as one line, with control characters escaped.
func OneLine(s string) string { return words.Message(s) }

// collectionHint suggests collections with a similar name or with the same name in another database. If there
// are none, it lists the existing collections.
func collectionHint(unknown *meta.UnknownCollectionError) string {
	near := view.Suggest(unknown.Name, unknown.Known)
	if len(near) == 0 {
		var plain []string // without databases, in the order of Known
		for _, name := range unknown.Known {
			plain = append(plain, name[strings.LastIndexByte(name, '.')+1:])
		}
		for _, name := range view.Suggest(unknown.Name, plain) {
			near = append(near, unknown.Known[slices.Index(plain, name)])
		}
	}
	const most = 8
	switch {
	case len(near) > 0:
		return "did you mean: " + strings.Join(near, ", ")
	case len(unknown.Known) == 0:
		return "no collections exist"
	case len(unknown.Known) > most:
		return fmt.Sprintf("available: %s and %d more: %s", strings.Join(unknown.Known[:most], ", "),
			len(unknown.Known)-most, shellquote.Shell("kitescope", "get", "collections"))
	}
	return "available: " + strings.Join(unknown.Known, ", ")
}

// hintOf returns the hint of an error, or "". It adds hints to errors about unknown names because those hints
// name commands of kitescope.
func hintOf(err error) string {
	if hints.HasHint(err) {
		return hints.Of(err)
	}
	if unknown, ok := errors.AsType[*meta.UnknownCollectionError](err); ok {
		return collectionHint(unknown)
	}
	if missing, ok := errors.AsType[*view.NotFoundError](err); ok && len(missing.Suggestions) == 0 {
		return "list them with: " + shellquote.Shell("kitescope", "get", missing.Resource.Name).String()
	}
	return ""
}
