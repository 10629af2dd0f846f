//go:build unix

package measure

import (
	"os"
	"runtime"
	"syscall"
)

// peakRSS returns the peak memory in bytes. ru_maxrss is in kilobytes, but in bytes on Apple's systems
// (getrusage(2)).
func peakRSS(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // 32 bits on some systems
}
