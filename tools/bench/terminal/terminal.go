// Package terminal emulates the terminal of an interactive program and times the program's output.
//
//  1. Start runs a command on a pseudo terminal of a given size.
//  2. Output is read at once and timestamped. Queries to the terminal are answered, because programs wait
//     for the answers.
//  3. Send presses keys. WaitOutput, WaitText and WaitQuiet return the time of the output.
package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// Terminal is a running program with its output.
type Terminal struct {
	cmd     *exec.Cmd
	master  *os.File
	started time.Time

	mu      sync.Mutex
	chunks  []chunk
	bytes   int64
	text    []byte // output without control sequences since the last ForgetText
	pending []byte // an incomplete control sequence
	ended   bool
	changed chan struct{} // closed and replaced whenever something arrives
}

type chunk struct {
	at      time.Time
	printed int // visible characters
}

// Start runs cmd on a pseudo terminal.
func Start(cmd *exec.Cmd, columns, rows int) (*Terminal, error) {
	master, slave, err := open(columns, rows)
	if err != nil {
		return nil, fmt.Errorf("open a pseudo terminal: %w", err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	controlling(cmd)
	t := &Terminal{cmd: cmd, master: master, changed: make(chan struct{}), started: time.Now()}
	if err := cmd.Start(); err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("run %s on a terminal: %w", cmd.Path, err)
	}
	go t.read()
	return t, nil
}

// Started returns the time when the program was started.
func (t *Terminal) Started() time.Time { return t.started }

// PID returns the process id of the program.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Close kills the program, unless it has ended, and waits for it.
func (t *Terminal) Close() error {
	_ = t.cmd.Process.Kill() // it may have ended already
	_ = t.cmd.Wait()         // it was killed, so its state does not matter
	return t.master.Close()
}

// Send presses keys and returns the time.
func (t *Terminal) Send(keys string) (time.Time, error) {
	at := time.Now()
	_, err := t.master.WriteString(keys)
	return at, err
}

// Bytes returns how many bytes the program has written so far.
func (t *Terminal) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes
}

func (t *Terminal) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buffer)
		at := time.Now()
		t.mu.Lock()
		if n > 0 {
			t.store(buffer[:n], at)
		}
		if err != nil {
			t.ended = true
		}
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// store stores output and answers the queries in it.
func (t *Terminal) store(output []byte, at time.Time) {
	t.bytes += int64(len(output))
	data := slices.Concat(t.pending, output)
	printed := 0
	for len(data) > 0 {
		if data[0] != escape {
			end := bytes.IndexByte(data, escape)
			if end < 0 {
				end = len(data)
			}
			printed += visible(data[:end])
			t.text = append(t.text, data[:end]...)
			data = data[end:]
			continue
		}
		n := sequence(data)
		if n == 0 {
			break // the rest comes with the next read
		}
		if reply := response(string(data[:n])); reply != "" {
			_, _ = t.master.WriteString(reply) // the program may have ended
		}
		data = data[n:]
	}
	t.pending = slices.Clone(data)
	t.chunks = append(t.chunks, chunk{at, printed})
}

// visible counts printable ASCII characters without spaces. That is enough to distinguish a frame from a mode
// switch.
func visible(data []byte) int {
	n := 0
	for _, b := range data {
		if b > ' ' && b < 0x7f {
			n++
		}
	}
	return n
}

// ForgetText makes WaitText search only later output.
func (t *Terminal) ForgetText() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = nil
}

// Text returns the last 4000 bytes of the output since ForgetText, without control sequences, for error
// messages.
func (t *Terminal) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	const enough = 4000
	return string(t.text[max(0, len(t.text)-enough):])
}

// WaitOutput waits for output after a time with at least the given number of visible characters, and returns
// the time when it came.
func (t *Terminal) WaitOutput(after time.Time, printed int, timeout time.Duration) (time.Time, error) {
	return t.wait(timeout, fmt.Sprintf("%d characters", printed), func() (time.Time, bool) {
		sum := 0
		for i := len(t.chunks) - 1; i >= 0 && t.chunks[i].at.After(after); i-- {
			sum += t.chunks[i].printed
		}
		if sum < printed || len(t.chunks) == 0 || !t.chunks[len(t.chunks)-1].at.After(after) {
			return time.Time{}, false
		}
		sum = 0
		for _, c := range t.chunks {
			if c.at.After(after) {
				if sum += c.printed; sum >= printed {
					return c.at, true
				}
			}
		}
		return time.Time{}, false
	})
}

// WaitText waits until the output contains text, and returns the time when it was found.
func (t *Terminal) WaitText(text string, timeout time.Duration) (time.Time, error) {
	return t.wait(timeout, fmt.Sprintf("%q", text), func() (time.Time, bool) {
		if !bytes.Contains(t.text, []byte(text)) {
			return time.Time{}, false
		}
		return t.chunks[len(t.chunks)-1].at, true
	})
}

// wait calls done, with t locked, until it returns true.
func (t *Terminal) wait(timeout time.Duration, what string, done func() (time.Time, bool)) (time.Time, error) {
	deadline := time.After(timeout)
	for {
		t.mu.Lock()
		at, ok := done()
		news, ended := t.changed, t.ended
		t.mu.Unlock()
		switch {
		case ok:
			return at, nil
		case ended:
			return time.Time{}, fmt.Errorf("the program ended before %s showed", what)
		}
		select {
		case <-news:
		case <-deadline:
			return time.Time{}, fmt.Errorf("%s did not show in %v", what, timeout)
		}
	}
}

// WaitQuiet waits until nothing was written for the duration quiet, and returns the time of the last output.
func (t *Terminal) WaitQuiet(quiet, timeout time.Duration) (time.Time, error) {
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		t.mu.Lock()
		last := t.started
		if n := len(t.chunks); n > 0 {
			last = t.chunks[n-1].at
		}
		t.mu.Unlock()
		left := quiet - time.Since(last)
		if left <= 0 {
			return last, nil
		}
		time.Sleep(left)
	}
	return time.Time{}, fmt.Errorf("not quiet for %v within %v", quiet, timeout)
}
