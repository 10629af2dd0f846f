//go:build !unix

package trial

import (
	"os"
	"os/exec"
	"time"
)

// inGroup leaves it with ending the program itself: there are no process groups here.
func inGroup(*exec.Cmd) {}

func askGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func forceGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func endGroup(*exec.Cmd, time.Duration) {}

// used is what the system tells of a program that has ended.
func used(s *os.ProcessState) resources {
	if s == nil {
		return resources{rss: -1}
	}
	return resources{known: true, cpu: s.UserTime() + s.SystemTime(), rss: -1}
}
