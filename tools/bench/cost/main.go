// Command cost runs a program and reports what it took on file descriptor 3. It is
// small, so that its own memory does not show in the peak of the program.
package main

import (
	"os"

	"kitescope/tools/bench/measure"
)

func main() { os.Exit(measure.Launch(os.Args[1:], os.NewFile(3, "report"))) }
