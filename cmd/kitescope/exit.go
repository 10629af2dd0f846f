package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/profile"
	"kitescope/profile/bench"
	benchread "kitescope/profile/bench/read"
	"kitescope/profile/gobuild"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/replay/cache"
	"kitescope/replay/live"
	"kitescope/replay/log"
)

// Exit codes, as documented in "kitescope help exit-codes".
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFindings    = 3 // findings at or above --fail-on; diff: differences; pgo: not worth it, unfit, no effect
	exitIncomplete  = 4 // under --strict: something could not be read; pgo verify: it cannot be told
	exitInterrupted = 130
)

// usageError is a mistake in the command line.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// codeError ends the command with a code; nothing is printed when err is nil.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// exitCode is the one place that turns an error into a code.
func exitCode(ctx context.Context, err error) int {
	var coded *codeError
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}

// tellError prints one line for an error, and one for what to try. What the go command said comes before, in its own lines.
func tellError(ctx context.Context, s *streams, err error) {
	var coded *codeError
	if errors.As(err, &coded) && coded.err == nil {
		return
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		s.tell("kitescope: interrupted")
		return
	}
	if _, ok := errors.AsType[*outputError](err); ok && errors.Is(err, syscall.EPIPE) {
		return // "| head" has what it wants
	}
	message := err.Error()
	if failed, ok := errors.AsType[*gobuild.CommandError](err); ok {
		s.tellOutput(failed.Output)
		message = strings.ReplaceAll(message, failed.Error(), failed.Brief())
	}
	s.tell("kitescope: %s", oneLine(message))
	if hint := hintOf(err); hint != "" {
		s.tell("hint: %s", oneLine(hint))
	}
}

// maxLine bounds a message in bytes: what a server or a file says in it may have no end.
const maxLine = 4 << 10

// oneLine makes one line of a message that a terminal shows and does not obey: keys
// and names in it come from outside. A long one loses its middle: what failed stands before, why behind.
func oneLine(s string) string {
	if cut := len(s) - maxLine; cut > 0 {
		s = strings.ToValidUTF8(s[:maxLine/2], "") + fmt.Sprintf(" ... (%d bytes) ... ", cut) + strings.ToValidUTF8(s[len(s)-maxLine/2:], "")
	}
	return render.Harmless(strings.Join(strings.Fields(s), " "))
}

func hintOf(err error) string {
	if usage, ok := errors.AsType[*usageError](err); ok {
		return usage.hint
	}
	if hinted, ok := errors.AsType[*source.HintError](err); ok {
		return hinted.Hint
	}
	if hinted, ok := errors.AsType[*profile.HintError](err); ok {
		return hinted.Hint
	}
	if hinted, ok := errors.AsType[*gobuild.Error](err); ok {
		return hinted.Hint
	}
	if hinted, ok := errors.AsType[*benchread.HintError](err); ok {
		return hinted.Hint
	}
	if mismatch, ok := errors.AsType[*report.Mismatch](err); ok {
		return mismatch.Hint
	}
	if mismatch, ok := errors.AsType[*bench.Mismatch](err); ok {
		return mismatch.Hint
	}
	if hinted, ok := errors.AsType[*log.HintError](err); ok {
		return hinted.Hint
	}
	if hinted, ok := errors.AsType[*cache.HintError](err); ok {
		return hinted.Hint
	}
	if unknown, ok := errors.AsType[*meta.UnknownCollectionError](err); ok {
		if near := view.Suggest(unknown.Name, unknown.Known); len(near) > 0 {
			return "did you mean: " + strings.Join(near, ", ")
		}
	}
	if fault, ok := errors.AsType[*live.FaultError](err); ok {
		return fault.Hint
	}
	return ""
}
