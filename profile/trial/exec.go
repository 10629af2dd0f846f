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
	words  []string
	dir    string
	places places
	// out is the file for standard output; what goes to standard error lies beside it.
	out     string
	timeout time.Duration
	// temp is where the go command has its temporary files, "" for its own choice.
	temp string
}

// result is what became of it.
type result struct {
	wall time.Duration
	use  resources
	// failed is why it does not count, "" if it went well.
	failed string
}

// resources are what the kernel counted for a program and all that it waited for.
type resources struct {
	known bool
	cpu   time.Duration
	rss   int64 // bytes, the largest of any one process; -1 if unknown
}

const (
	// maxOutput is how much is kept of what a run says.
	maxOutput = 32 << 20
	// patience is how long a program has that was asked to end.
	patience = 5 * time.Second
	// What is shown of it; of a build more, as the first of its errors tells most.
	tailLines, buildLines = 20, 200
	lineSize              = 200 // bytes, of lines on average
)

// process is a program that was started.
type process struct {
	cmd      *exec.Cmd
	began    time.Time
	said     []*output
	stop     context.CancelFunc
	timedOut func() bool
	timeout  time.Duration
	// grace is how long what it leaves behind may take to end by itself.
	grace time.Duration
}

// start runs a program in a process group of its own, so that all of it can be ended.
func (c *command) start(ctx context.Context) (*process, error) {
	if err := os.MkdirAll(filepath.Dir(c.out), 0o755); err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, c.timeout)
	p := &process{stop: stop, timeout: c.timeout, timedOut: func() bool {
		return errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil
	}}
	words := c.places.expand(c.words)
	p.cmd = exec.CommandContext(limited, words[0], words[1:]...)
	p.cmd.Dir = c.dir
	p.cmd.Env = append(p.cmd.Environ(), c.places.environment()...)
	if c.temp != "" {
		p.cmd.Env = append(p.cmd.Env, "GOTMPDIR="+c.temp)
	}
	p.cmd.WaitDelay = patience
	inGroup(p.cmd)
	var ends []io.Closer // which the program has
	var err error
	for i, path := range []string{c.out, errorFile(c.out)} {
		o, w, openErr := newOutput(path)
		if err = openErr; err != nil {
			break
		}
		ends = append(ends, w)
		*[]*io.Writer{&p.cmd.Stdout, &p.cmd.Stderr}[i] = w
		p.said = append(p.said, o)
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

// output is what a program writes to one of its streams. It goes through a pipe of ours and not through one of os/exec, so
// that the end of the program can be told from that of the last that holds the pipe.
type output struct {
	r    *os.File
	kept bounded
	done chan struct{}
}

func newOutput(path string) (o *output, w *os.File, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	o = &output{kept: bounded{w: file, left: maxOutput}, done: make(chan struct{})}
	if o.r, w, err = os.Pipe(); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	go func() {
		defer close(o.done)
		_, _ = io.Copy(&o.kept, o.r) // ends when the pipe does
	}()
	return o, w, nil
}

// close waits until all is kept that was said. Who holds the pipe for longer is not heard.
func (o *output) close() error {
	_ = o.r.SetReadDeadline(time.Now().Add(patience)) // pipes have deadlines
	<-o.done
	return errors.Join(o.kept.err, o.kept.w.Close(), o.r.Close())
}

// errorFile is where standard error goes.
func errorFile(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".err" }

// wait waits for the end. What is left of the process group then is ended too: it would disturb the next run. An error is
// about this side.
func (p *process) wait() (result, error) {
	err := p.cmd.Wait()
	r := result{wall: time.Since(p.began), use: used(p.cmd.ProcessState)}
	timedOut := p.timedOut()
	endGroup(p.cmd, p.grace)
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

// close lets go of files and timers.
func (p *process) close() (err error) {
	p.stop()
	for _, o := range p.said {
		err = errors.Join(err, o.close())
	}
	return err
}

// run starts a program and waits for it. An error is about this side, or ctx's.
func (c *command) run(ctx context.Context) (result, error) {
	p, err := c.start(ctx)
	if err != nil {
		return result{}, fmt.Errorf("run %s: %w", c.words[0], err)
	}
	r, err := p.wait()
	return r, cmp.Or(ctx.Err(), err)
}

// bounded keeps the beginning of what is written, and passes over the rest. Where nothing can be kept any more it
// remembers why and takes all the same: it is no fault of who writes.
type bounded struct {
	w    io.WriteCloser
	left int64
	err  error
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	keep := p[:min(int64(len(p)), b.left)]
	b.left -= int64(len(keep))
	if b.err == nil && len(keep) > 0 {
		_, b.err = b.w.Write(keep)
	}
	return len(p), nil
}

// tail is the end of what a program said, and the file that holds all of it: standard error, or else standard output.
func tail(out string, lines int) (text, file string) {
	for _, path := range []string{errorFile(out), out} {
		if text := lastLines(path, lines); text != "" {
			return text, path
		}
	}
	return "", ""
}

func lastLines(path string, most int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	size := int64(most) * lineSize
	from := max(0, info.Size()-size)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // cut in its middle
	}
	lines = lines[max(0, len(lines)-most):]
	return strings.ToValidUTF8(string(bytes.Join(lines, []byte("\n"))), "?")
}
