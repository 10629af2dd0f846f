//go:build !unix

package trial

import (
	"os"
	"os/exec"
	"time"
)

// setGroup does nothing, because there are no process groups on this system: only the program itself is ended.
func setGroup(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func endGroup(*exec.Cmd, time.Duration) {}

// resourcesOf returns the resources of a program that has ended.
func resourcesOf(s *os.ProcessState) resources {
	if s == nil {
		return resources{rss: -1}
	}
	return resources{known: true, cpu: s.UserTime() + s.SystemTime(), rss: -1}
}
