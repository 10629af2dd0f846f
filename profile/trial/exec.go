package trial

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// command is a program to run.
type command struct {
	words        []string
	dir          string
	placeholders placeholders
	// out is the file for standard output. Standard error goes to a file next to it (see errorFile).
	out     string
	timeout time.Duration
	// temp is the go command's folder for temporary files, "" for its default.
	temp string
}

// result is the outcome of a command.
type result struct {
	wall time.Duration
	use  resources
	// failed is the reason why the run does not count, "" if it succeeded.
	failed string
}

// resources holds the kernel's accounting of a program and of all children that it waited for.
type resources struct {
	known bool
	cpu   time.Duration
	rss   int64 // peak in bytes of the largest process; -1 if unknown
}

const (
	// maxOutput is the number of bytes kept of each output stream of a run.
	maxOutput = 32 << 20
	// exitTimeout is how long a program may take to exit after SIGTERM.
	exitTimeout = 5 * time.Second
	// tailLines and buildLines limit the displayed output. A build gets more lines, because its first errors
	// are the most useful.
	tailLines, buildLines = 20, 200
	lineSize              = 200 // average bytes per line
)

// process is a started program.
type process struct {
	cmd      *exec.Cmd
	began    time.Time
	outputs  []*output
	stop     context.CancelFunc
	timedOut func() bool
	timeout  time.Duration
	// gracePeriod is the time that processes left behind have to exit on their own.
	gracePeriod time.Duration
}

// start starts a program in its own process group, so that all its processes can be ended.
func (c *command) start(ctx context.Context) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(c.out), 0o755); err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, c.timeout)
	p := &process{stop: stop, timeout: c.timeout, timedOut: func() bool {
		return errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil
	}}
	words := c.placeholders.expand(c.words)
	p.cmd = exec.CommandContext(limited, words[0], words[1:]...)
	p.cmd.Dir = c.dir
	p.cmd.Env = append(p.cmd.Environ(), c.placeholders.environment()...)
	if c.temp != "" {
		p.cmd.Env = append(p.cmd.Env, "GOTMPDIR="+c.temp)
	}
	p.cmd.WaitDelay = exitTimeout
	setGroup(p.cmd)
	var ends []io.Closer // write ends of the pipes, inherited by the program
	var err error
	for i, path := range []string{c.out, errorFile(c.out)} {
		o, w, openErr := newOutput(path)
		if err = openErr; err != nil {
			break
		}
		ends = append(ends, w)
		*[]*io.Writer{&p.cmd.Stdout, &p.cmd.Stderr}[i] = w
		p.outputs = append(p.outputs, o)
	}
	if err == nil {
		p.began = time.Now()
		err = p.cmd.Start()
	}
	for _, w := range ends {
		_ = w.Close()
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// output copies an output stream of a program to a file. It uses its own pipe instead of the one of os/exec, to
// distinguish the end of the program from the end of the last process that holds the pipe.
type output struct {
	r    *os.File
	file limitedWriter
	done chan struct{}
}

func newOutput(path string) (o *output, w *os.File, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	o = &output{file: limitedWriter{w: file, left: maxOutput}, done: make(chan struct{})}
	if o.r, w, err = os.Pipe(); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	go func() {
		defer close(o.done)
		_, _ = io.Copy(&o.file, o.r) // ends with the pipe
	}()
	return o, w, nil
}

// close waits until all output is written, but drops the output of processes that hold the pipe for longer than
// patience.
func (o *output) close() error {
	_ = o.r.SetReadDeadline(time.Now().Add(exitTimeout)) // pipes support deadlines
	<-o.done
	return errors.Join(o.file.err, o.file.w.Close(), o.r.Close())
}

// errorFile returns the file for standard error.
func errorFile(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".err" }

// wait waits for the program to exit. It then ends the rest of the process group, which would disturb the next run.
// It returns an error only for a failure of kitescope itself, not of the program.
func (p *process) wait() (result, error) {
	err := p.cmd.Wait()
	r := result{wall: time.Since(p.began), use: resourcesOf(p.cmd.ProcessState)}
	timedOut := p.timedOut()
	endGroup(p.cmd, p.gracePeriod)
	switch {
	case timedOut:
		r.failed = "it took longer than " + p.timeout.String() + " (--run-timeout)"
	case err != nil:
		r.failed = err.Error()
	}
	if err := p.close(); err != nil {
		return r, fmt.Errorf("save the output of %s: %w", filepath.Base(p.cmd.Path), err)
	}
	return r, nil
}

// close releases files and timers.
func (p *process) close() (err error) {
	p.stop()
	for _, o := range p.outputs {
		err = errors.Join(err, o.close())
	}
	return err
}

// run starts a program and waits for it. It returns an error only for a failure of kitescope itself, or ctx's
// error.
func (c *command) run(ctx context.Context) (result, error) {
	p, err := c.start(ctx)
	if err != nil {
		return result{}, fmt.Errorf("run %s: %w", c.words[0], err)
	}
	r, err := p.wait()
	return r, cmp.Or(ctx.Err(), err)
}

// limitedWriter writes the beginning of its input to w and drops the rest. After a write error it keeps the error and
// accepts all further input, because the writer is not at fault.
type limitedWriter struct {
	w    io.WriteCloser
	left int64
	err  error
}

// Write implements io.Writer.
func (b *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(int64(len(p)), b.left)]
	b.left -= int64(len(keep))
	if b.err == nil && len(keep) > 0 {
		_, b.err = b.w.Write(keep)
	}
	return len(p), nil
}

// tail returns the end of a program's output and the path of the complete output: standard error, or standard
// output if standard error is empty.
func tail(out string, lines int) (text, file string) {
	for _, path := range []string{errorFile(out), out} {
		if text := lastLines(path, lines); text != "" {
			return text, path
		}
	}
	return "", ""
}

func lastLines(path string, n int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	size := int64(n) * lineSize
	from := max(0, info.Size()-size)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // cut in the middle
	}
	lines = lines[max(0, len(lines)-n):]
	return strings.ToValidUTF8(string(bytes.Join(lines, []byte("\n"))), "?")
}
