package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"kitescope/internal/hints"
)

const (
	// maxAnswer bounds what the go command may say on its standard output: a list of a few thousand packages has 1 MB.
	maxAnswer = 256 << 20
	// maxTail is how much of its last words an error keeps, and maxLine how much of one line is looked at.
	maxTail = 16 << 10
	maxLine = 4 << 10
	// grace is how long pipes may stay open after the command is gone.
	grace = 5 * time.Second
)

// errTooLong says that the go command told more than anyone wants to hold.
var errTooLong = errors.New("its answer is too long")

// goCommand runs the go command in a folder. Its standard output is the answer; each line of its standard
// error goes to words, if that is not nil, and its last lines into the error if it fails, but for those that
// words knows: an error among a million of them has to be seen.
//
// Where a folder for temporary files is named, compilers and linkers have theirs in it, and whoever made the folder
// removes them: a go command that is killed leaves its own behind, which are hundreds of megabytes.
func goCommand(ctx context.Context, dir, tmp string, words func(line []byte) bool, args ...string) ([]byte, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, hints.Errorf("install Go (go.dev/dl) or put it on the PATH", "no go command: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.WaitDelay = grace
	group(cmd)
	if tmp != "" {
		cmd.Env = cmd.Environ()
		for _, name := range []string{"GOTMPDIR", "TMPDIR", "TMP", "TEMP"} {
			cmd.Env = append(cmd.Env, name+"="+tmp)
		}
	}
	answer := &capped{left: maxAnswer}
	cmd.Stdout = answer
	lines := &lineWriter{to: words, tail: &tail{}}
	cmd.Stderr = lines
	err = cmd.Run()
	lines.end()
	switch {
	case ctx.Err() != nil:
		awaitGroup(cmd)
		return nil, fmt.Errorf("go %s: %w", args[0], ctx.Err())
	case answer.over:
		return nil, fmt.Errorf("go %s: %w", args[0], errTooLong)
	case err != nil:
		said := strings.TrimSpace(lines.tail.String())
		if said == "" {
			return nil, fmt.Errorf("go %s: %w", args[0], err)
		}
		return nil, &CommandError{Command: "go " + args[0], Output: said, Err: err}
	}
	return answer.Bytes(), nil
}

// CommandError is a go command that failed, with its last words.
type CommandError struct {
	Command string
	Output  string
	Err     error
}

func (e *CommandError) Error() string { return e.Brief() + ":\n" + e.Output }

// Brief is the error without what the command said, where that is shown in lines of its own.
func (e *CommandError) Brief() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }

// Unwrap is how the command ended.
func (e *CommandError) Unwrap() error { return e.Err }

// capped keeps what is written to it up to a limit, and takes no more after it.
type capped struct {
	bytes.Buffer
	left int
	over bool
}

func (c *capped) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		c.over = true
		return 0, errTooLong
	}
	return c.Buffer.Write(b)
}

// lineWriter cuts a stream into lines. A line longer than maxLine loses its end: the compiler prints whole
// function bodies, of which nobody here wants to know more than how they begin.
type lineWriter struct {
	to   func([]byte) bool
	line []byte
	tail *tail
}

func (w *lineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		part := b
		if i >= 0 {
			part = b[:i]
		}
		w.line = append(w.line, part[:min(len(part), maxLine-len(w.line))]...)
		if i < 0 {
			break
		}
		w.end()
		b = b[i+1:]
	}
	return n, nil
}

func (w *lineWriter) end() {
	if len(w.line) == 0 {
		return
	}
	if w.to == nil || !w.to(w.line) {
		w.tail.add(w.line)
	}
	w.line = w.line[:0]
}

// tail keeps the last lines.
type tail struct{ lines bytes.Buffer }

func (t *tail) add(line []byte) {
	if t.lines.Len() > 2*maxTail {
		kept := bytes.Clone(t.lines.Bytes()[t.lines.Len()-maxTail:])
		t.lines.Reset()
		t.lines.Write(kept)
	}
	t.lines.Write(line)
	t.lines.WriteByte('\n')
}

func (t *tail) String() string {
	b := t.lines.Bytes()
	if len(b) <= maxTail {
		return string(b)
	}
	b = b[len(b)-maxTail:]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	}
	return "...\n" + string(b)
}

// objects decodes a stream of JSON values, as go list prints them.
func objects[T any](answer []byte, each func(*T) error) error {
	for dec := json.NewDecoder(bytes.NewReader(answer)); ; {
		v := new(T)
		if err := dec.Decode(v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the answer of the go command: %w", err)
		}
		if err := each(v); err != nil {
			return err
		}
	}
}
