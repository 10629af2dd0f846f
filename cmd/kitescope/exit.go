package main

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
	"kitescope/paste"
	"kitescope/profile/gobuild"
	"kitescope/words"
	"kitescope/words/hints"
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

// Hint implements hints.Hinter.
func (e *usageError) Hint() string { return e.hint }

// usagef is a usageError that says by itself what to do.
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
	s.tell("kitescope: %s", oneLine(noFile(err, message)))
	if hint := hintOf(err); hint != "" {
		s.tell("hint: %s", oneLine(hint))
	}
}

// noFile is a message that a file is not there, in the one way in which that is said. What the system says names a call, and in English only here
// and there what was meant.
func noFile(err error, message string) string {
	if !errors.Is(err, fs.ErrNotExist) || strings.HasPrefix(message, "write ") {
		return message
	}
	const there = ": there is no such file"
	before, behind, found := strings.Cut(message, ": "+syscall.ENOENT.Error())
	if !found {
		return message
	}
	at, call := -1, "" // the last one that begins a part of the message
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

// oneLine makes one line of a message that a terminal shows and does not obey.
func oneLine(s string) string { return words.Message(s) }

// collectionHint names the collections that were probably meant: spelled alike, in another database, else what there is.
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
		return "there are none"
	case len(unknown.Known) > most:
		return fmt.Sprintf("there are: %s and %d more: %s", strings.Join(unknown.Known[:most], ", "), len(unknown.Known)-most, paste.Shell("kitescope", "get", "collections"))
	}
	return "there are: " + strings.Join(unknown.Known, ", ")
}

// hintOf is what to try after an error. Those of unknown names need what the command line can ask next, so they have their hints from here.
func hintOf(err error) string {
	if hints.Carried(err) {
		return hints.Of(err)
	}
	if unknown, ok := errors.AsType[*meta.UnknownCollectionError](err); ok {
		return collectionHint(unknown)
	}
	if missing, ok := errors.AsType[*view.NotFoundError](err); ok && len(missing.Near) == 0 {
		return "what there is: " + paste.Shell("kitescope", "get", missing.Resource.Name).String()
	}
	return ""
}
