package measure

import (
	"os"
	"strings"
)

// Load returns the load average of the last minute, as " at a load of 0.42", because other work of the
// machine affects a measurement. It returns "" if the system does not report it.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg") // proc_loadavg(5)
	first, _, ok := strings.Cut(string(text), " ")
	if err != nil || !ok {
		return ""
	}
	return " at a load of " + first
}
