//go:build !unix

package gobuild

import "os/exec"

// group leaves the command to exec.CommandContext, which ends it alone: where there are no process groups,
// compilers that it started run to their end, and their pipes are closed after WaitDelay.
func group(*exec.Cmd) {}

func awaitGroup(*exec.Cmd) {}
