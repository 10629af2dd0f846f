//go:build !unix

package main

import "os/exec"

// runInFront runs a command on the terminal.
func runInFront(cmd *exec.Cmd) error { return cmd.Run() }
