package profiles

import (
	"testing"
	"testing/synctest"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsOfFiles: a real shell runs one program of the command that a page over files copies, whatever they are called.
func TestCopiedCommandsOfFiles(t *testing.T) {
	shell := shellquotetest.New(t)
	for _, name := range tuitest.HostileWords() {
		var compare, judge string
		synctest.Test(t, func(t *testing.T) {
			d := driveComparison(t, pairedFixture(), 100, 30, func(c *tui.Config) { c.Args = []string{name, "new"} })
			compare = d.Keys("Y 1").Clip
			d = driveJudgement(t, judgementFixture(t), 100, 30, func(c *tui.Config) { c.Args = []string{name} })
			judge = d.Keys("Y 1").Clip
		})
		tuitest.IsRun(t, shell, compare, name)
		tuitest.IsRun(t, shell, judge, name)
	}
}
