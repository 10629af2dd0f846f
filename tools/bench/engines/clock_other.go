//go:build !linux

package main

import (
	"fmt"
	"runtime"
	"time"
)

// The program measures CPU time and memory as Linux tells them.
func threadTime() time.Duration  { panic(fmt.Sprintf("no clock of CPU time on %s", runtime.GOOS)) }
func processTime() time.Duration { return threadTime() }
