//go:build !unix

package main

import "time"

// processTime returns 0, because the CPU time is not available on this system.
func processTime() time.Duration { return 0 }
