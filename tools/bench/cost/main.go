// Command cost runs a program and reports its cost on file descriptor 3. It is a small program of its own so
// that its memory does not count in the peak of the measured one.
package main

import (
	"os"

	"kitescope/tools/bench/measure"
)

func main() { os.Exit(measure.Launch(os.Args[1:], os.NewFile(3, "report"))) }
