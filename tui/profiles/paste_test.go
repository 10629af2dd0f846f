package profiles

import (
	"testing"
	"testing/synctest"

	"kitescope/internal/shellquote/shellquotetest"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// TestCopiedCommandsOfFiles checks that a real shell runs a copied command as one program, for hostile file names.
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
