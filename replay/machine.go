package replay

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"kitescope/engine/dist"
	"kitescope/engine/segment"
)

// ThisMachine describes the machine of this process. The CPU model is known only on Linux, otherwise "".
func ThisMachine() Machine {
	backends := dist.Backends()
	return Machine{
		CPU: cpuModel(), Cores: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernels: backends[len(backends)-1].String(), GoVersion: runtime.Version(),
	}
}

func cpuModel() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return modelIn(string(data))
}

// modelIn returns the model name in /proc/cpuinfo, "" if there is none, as on ARM.
func modelIn(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// OptionsFor returns the engine options of a Milvus release ("2.3.5", "v2.4"). It returns the options of the newest
// release if the version is unknown.
func OptionsFor(version string) segment.Options {
	const newest = 6
	major, minor := 2, newest
	if parts := strings.Split(strings.TrimPrefix(version, "v"), "."); len(parts) >= 2 {
		a, err1 := strconv.Atoi(parts[0])
		b, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			major, minor = a, b
		}
	}
	return segment.Milvus(major, minor)
}
