package profiles

import (
	"testing"
	"testing/synctest"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsOfFiles: a real shell runs one program of the command that a page over files copies, whatever they are called.
func TestCopiedCommandsOfFiles(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		var flame string
		synctest.Test(t, func(t *testing.T) {
			view := oneView("milvus-cpu-flat.pb.gz")
			view.Args = []string{name}
			flame = driveProfiles(t, view, 100, 30).Keys("Y 1").Clip
		})
		tuitest.IsRun(t, shell, flame, name)
	}
}
