//go:build !unix

package trial

import (
	"os"
	"os/exec"
	"time"
)

// inGroup does nothing, because there are no process groups on this system: only the program itself is ended.
func inGroup(*exec.Cmd) {}

func askGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func forceGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func endGroup(*exec.Cmd, time.Duration) {}

// used returns the resources of a program that has ended.
func used(s *os.ProcessState) resources {
	if s == nil {
		return resources{rss: -1}
	}
	return resources{known: true, cpu: s.UserTime() + s.SystemTime(), rss: -1}
}
