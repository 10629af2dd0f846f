package session

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDiskSpaceOfMounts checks that ReadOnly of each mounted folder matches the kernel's list of mounts.
func TestDiskSpaceOfMounts(t *testing.T) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	// Options of the mount and of its file system. The last mount at a place hides the others.
	options := make(map[string][2]string)
	for line := range strings.Lines(string(text)) {
		left, right, _ := strings.Cut(line, " - ")
		mount, system := strings.Fields(left), strings.Fields(right)
		if len(mount) > 5 && len(system) > 2 {
			options[mount[4]] = [2]string{mount[5], system[2]}
		}
	}
	seen := 0
	for place, o := range options {
		x := diskSpace(place)
		if x == nil {
			continue // /proc and similar file systems have no size
		}
		seen++
		want := slices.Contains(strings.Split(o[0], ","), "ro") || slices.Contains(strings.Split(o[1], ","), "ro")
		if x.ReadOnly != want {
			t.Errorf("%s (%s; %s): read-only %v", place, o[0], o[1], x.ReadOnly)
		}
	}
	if seen == 0 {
		t.Errorf("none of %d mounts has room", len(options))
	}
}
