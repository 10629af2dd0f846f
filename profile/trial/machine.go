package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine is where a trial ran. What is unknown is "" or nil.
type Machine struct {
	CPU    string `doc:",omitzero"`
	OS     string `doc:",omitzero"`
	Arch   string `doc:",omitzero"`
	Kernel string `doc:",omitzero"`
	// Governor is how the frequency of the CPU is chosen (Linux: cpufreq).
	Governor string `doc:",omitzero"`
	// Go are settings of the go command that change what it builds.
	Go    map[string]string `doc:",omitzero"`
	Cores int
	// Load is the load average over 1, 5 and 15 minutes.
	Load []float64 `doc:"load_average_before,omitzero"`
}

// goSettings are what of `go env` changes a binary.
var goSettings = [...]string{"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT", "GOTOOLCHAIN"}

func (t *trial) machine(ctx context.Context) Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Load: loadAverage(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"), CPU: processor(),
		Governor: firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, goSettings[:]...)...)
	cmd.Dir = t.plan.Dir
	text, err := cmd.Output()
	if err != nil || json.Unmarshal(text, &m.Go) != nil {
		return m // the first step says what is wrong with the go command
	}
	for name, value := range m.Go {
		if value == "" {
			delete(m.Go, name)
			continue
		}
		m.Go[name] = redactScript(value) // -ldflags may hold anything
	}
	return m
}

// firstLine is that of a file of the kernel, "" if there is none.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// processor is what Linux calls the CPU (man 5 proc, /proc/cpuinfo).
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

// loadAverage is that of the last 1, 5 and 15 minutes (man 5 proc, /proc/loadavg), nil if unknown.
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
