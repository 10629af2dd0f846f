package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// guardedScreen is a kitescope process on a pseudo-terminal.
type guardedScreen struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	ended  chan error

	mu  sync.Mutex
	out bytes.Buffer
}

func startScreen(t *testing.T, args ...string) *guardedScreen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open a pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &guardedScreen{t: t, master: master, ended: make(chan error, 1)}
	s.cmd = &exec.Cmd{
		Path: exe, Args: append([]string{"kitescope"}, args...), Stdin: slave, Stdout: slave, Stderr: slave,
		Env:         append(os.Environ(), "TERM=xterm-256color", "KITESCOPE_CONFIG="+t.TempDir()+"/none.yaml"),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = slave.Close() })
	return s
}

func (s *guardedScreen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// wait waits until text was written, at most 60 s.
func (s *guardedScreen) wait(text string) {
	s.t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(s.text(), text) {
			return
		}
	}
	s.t.Fatalf("%q was not written: %q", text, s.text())
}

// echoes reports whether the terminal is in its normal mode, i.e. with echo and line editing.
func (s *guardedScreen) echoes() bool {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0 && state.Lflag&unix.ICANON != 0
}

// child returns the id of the process that runs the UI, which is the child of the started process.
func (s *guardedScreen) child() int {
	s.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range stats {
		text, _ := os.ReadFile(path) // the process may have ended
		// The name is in parentheses and may contain parentheses. It is followed by the state and the parent.
		_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(s.cmd.Process.Pid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			s.t.Fatal(err)
		}
		return pid
	}
	s.t.Fatal("the UI runs in no child")
	return 0
}

// TestTerminalIsRestored checks that the terminal is restored however the UI ends: by a fault that cannot be
// recovered, by SIGKILL, and by signals to the child, to the parent and to both. SIGSEGV simulates the fault,
// because it ends a Go process in any state.
func TestTerminalIsRestored(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		to     func(s *guardedScreen) int
		says   string
	}{
		"a fault":           {syscall.SIGSEGV, (*guardedScreen).child, "the UI crashed"},
		"killed":            {syscall.SIGKILL, (*guardedScreen).child, "was ended: killed"},
		"terminated":        {syscall.SIGTERM, func(s *guardedScreen) int { return s.cmd.Process.Pid }, ""},
		"hung up":           {syscall.SIGHUP, func(s *guardedScreen) int { return s.cmd.Process.Pid }, ""},
		"all terminated":    {syscall.SIGTERM, func(s *guardedScreen) int { return -s.cmd.Process.Pid }, ""},
		"its stacks wanted": {syscall.SIGQUIT, (*guardedScreen).child, "the UI crashed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startScreen(t, "ui", "--from", capture("standalone-2.3.5", "etcd_snapshot.db.gz"))
			s.wait("\x1b[?1049h")
			s.wait("FINDINGS")
			if s.echoes() {
				t.Fatal("the UI does not have the terminal")
			}
			if err := syscall.Kill(c.to(s), c.signal); err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.ended:
			case <-time.After(30 * time.Second):
				t.Fatal("it goes on")
			}
			s.wait("\x1b[?1049l") // the last output may arrive after the exit
			s.wait(c.says)
			out := s.text()
			if !s.echoes() {
				t.Error("the terminal does not echo")
			}
			left := strings.LastIndex(out, "\x1b[?1049l")
			if left < strings.LastIndex(out, "\x1b[?1049h") {
				t.Error("the alternate screen was not left")
			}
			if at := strings.LastIndex(out, c.says); c.says != "" && at < left {
				t.Errorf("%q is not said behind the end of the alternate screen: %q", c.says,
					out[max(0, len(out)-300):])
			}
		})
	}
}
