//go:build !unix

package measure

import "os"

// peakRSS is unknown here: the process state does not carry it.
func peakRSS(*os.ProcessState) int64 { return 0 }
