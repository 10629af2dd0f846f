package terminal

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// statusKB returns the value of a line such as "VmRSS:     1234 kB" of /proc/PID/status, in bytes.
func statusKB(status []byte, name string) int64 {
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		rest, ok := strings.CutPrefix(s.Text(), name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err == nil {
			return n << 10
		}
	}
	return 0
}
