package replays

import (
	"testing"
	"testing/synctest"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// TestCopiedCommand checks that a real shell runs the copied command as one program, for hostile file names.
func TestCopiedCommand(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		var copied string
		synctest.Test(t, func(t *testing.T) {
			d := driveReplay(t, &Data{Result: resultData(t).Result}, 100, 30, func(c *tui.Config) {
				c.Args = []string{"run", name}
			})
			copied = d.Keys("Y 1").Clip
		})
		tuitest.IsRun(t, shell, copied, name)
	}
}
