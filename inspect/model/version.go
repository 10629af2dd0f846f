package model

import (
	"strconv"
	"strings"
)

// VersionAtLeast reports whether a version, e.g. "v2.6.8-lite", is at least the given one. It returns false for invalid
// versions and for versions with too few components to decide.
func VersionAtLeast(version string, want ...int) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	for i, w := range want {
		if i >= len(parts) {
			return false
		}
		have, err := strconv.Atoi(parts[i])
		if err != nil {
			return false
		}
		if have != w {
			return have > w
		}
	}
	return true
}
