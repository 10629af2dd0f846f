package measure

import (
	"os"
	"strings"
)

// Load is the load average of the last minute, as " at a load of 0.42": what else a machine did belongs to what was measured on it. ""
// where the system does not tell.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg") // proc_loadavg(5)
	first, _, ok := strings.Cut(string(text), " ")
	if err != nil || !ok {
		return ""
	}
	return " at a load of " + first
}
