// Package shellquotetest parses commands with a real shell. Tests use it to check commands that kitescope prints or
// copies.
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

// programs are the programs in commands that kitescope prints. The shell defines each as a function that only prints
// its arguments.
var programs = []string{
	"kitescope", "etcdctl", "kubectl", "docker", "mount", "findmnt", "df", "go", "grep", "curl", "say",
}

// canaries are programs that injected names would run. Each leaves a file as evidence.
var canaries = []string{"id", "rid"}

// Shell is a real shell in an empty directory. Its PATH contains only the canaries.
type Shell struct {
	path, bin, work string
	preamble        string
}

// New returns the machine's shell. It fails the test without a shell, because the commands would go unchecked.
func New(t testing.TB) *Shell {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("commands are read by a real shell: %v", err)
	}
	s := &Shell{path: path, bin: t.TempDir(), work: t.TempDir()}
	for _, name := range canaries {
		script := "#!" + path + "\n: > '" + filepath.Join(s.work, "ran "+name) + "'\n"
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(script), 0o700); err !=
			nil { //nolint:gosec // it is to be run
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

// Words returns the words that the shell parses from command: for each program its name, followed by its
// arguments. It returns an error if the command does not parse, or if it runs or writes anything else.
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
		err = errors.Join(err, fmt.Errorf("%q was made: something ran that nobody wrote", e.Name()),
			os.Remove(filepath.Join(s.work, e.Name())))
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), errors.Join(err, failed)
}
