//go:build !linux

package main

import (
	"fmt"
	"runtime"
	"time"
)

// threadTime and processTime panic, because the program measures CPU time and memory on Linux only.
func threadTime() time.Duration  { panic(fmt.Sprintf("no clock of CPU time on %s", runtime.GOOS)) }
func processTime() time.Duration { return threadTime() }
