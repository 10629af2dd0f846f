package trial

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine of a trial. Unknown values are "" or nil.
type Machine struct {
	CPU   string `doc:",omitzero"`
	OS    string `doc:",omitzero"`
	Arch  string `doc:",omitzero"`
	Cores int
	// Load is the load average over 1, 5 and 15 minutes.
	Load []float64 `doc:"load_average_before,omitzero"`
}

func machine() Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Load: loadAverage(), CPU: processor(),
	}
}

// firstLine returns the first line of a file of the kernel, "" if it cannot be read.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// processor returns the CPU's model name on Linux (man 5 proc, /proc/cpuinfo), "" if unknown.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// loadAverage returns the load average over 1, 5 and 15 minutes (man 5 proc, /proc/loadavg), nil if unknown.
func loadAverage() []float64 {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	if len(fields) < 3 {
		return nil
	}
	var load []float64
	for _, f := range fields[:3] {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil
		}
		load = append(load, x)
	}
	return load
}
