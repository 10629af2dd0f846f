package session

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRoomOfMounts: each folder that is mounted here is as writable as the kernel's list of mounts says.
func TestRoomOfMounts(t *testing.T) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	options := make(map[string][2]string) // of the mount, and of its file system; the last one at a place hides the others
	for line := range strings.Lines(string(text)) {
		left, right, _ := strings.Cut(line, " - ")
		mount, system := strings.Fields(left), strings.Fields(right)
		if len(mount) > 5 && len(system) > 2 {
			options[mount[4]] = [2]string{mount[5], system[2]}
		}
	}
	seen := 0
	for place, o := range options {
		x := roomOf(place)
		if x == nil {
			continue // /proc and its like have no room at all
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
