// Package shellquotetest reads commands as a real shell does, for tests of what is printed and copied.
package shellquotetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs are those of the commands that kitescope prints. In the shell they do nothing but tell their words.
var programs = []string{"kitescope", "etcdctl", "kubectl", "docker", "mount", "findmnt", "df", "go", "grep", "curl", "say"}

// canaries are what planted names would run. They leave a mark.
var canaries = []string{"id", "rid"}

// Shell is a real one, in an empty folder, which finds no program but canaries.
type Shell struct {
	path, bin, work string
	preamble        string
}

// New finds the machine's shell. Without one the test fails: what it promises was not looked at.
func New(t testing.TB) *Shell {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("commands are read by a real shell: %v", err)
	}
	s := &Shell{path: path, bin: t.TempDir(), work: t.TempDir()}
	for _, name := range canaries {
		script := "#!" + path + "\n: > '" + filepath.Join(s.work, "ran "+name) + "'\n"
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(script), 0o700); err != nil { //nolint:gosec // it is to be run
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, name := range programs {
		fmt.Fprintf(&b, "%s() { printf '%%s\\0' %s \"$@\"; }\n", name, name)
	}
	s.preamble = b.String()
	if _, err := s.Words(t, "say $(id)"); err == nil {
		t.Fatal("a canary that ran left no mark: nothing would be found")
	}
	return s
}

// Words are those that the shell makes of a command, the program's name first, of each program in turn. An error tells that it does not parse, or that
// anything else ran or was written.
func (s *Shell) Words(t testing.TB, command string) ([]string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.path, "-c", s.preamble+command)
	cmd.Dir, cmd.Env = s.work, []string{"PATH=" + s.bin, "HOME=" + s.work}
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, problem.String())
	}
	entries, failed := os.ReadDir(s.work)
	for _, e := range entries {
		err = errors.Join(err, fmt.Errorf("%q was made: something ran that nobody wrote", e.Name()), os.Remove(filepath.Join(s.work, e.Name())))
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), errors.Join(err, failed)
}
