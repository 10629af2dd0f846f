package vectors

import (
	"fmt"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/words"
	"kitescope/replay"
)

// progress reports how far a replay is: stage is the work that is under way, text how far it has come.
type progress func(stage, text string)

func (p progress) load(l replay.LoadProgress) {
	p("read segments", fmt.Sprintf("%d of %d, %s", l.Done, l.Of, words.Bytes(l.Bytes)))
}

func (p progress) run(r replay.RunProgress) {
	if r.Stage != "load" {
		p("find "+r.Stage, "")
		return
	}
	p(pointText(r), loadText(&r.Load))
}

func (p progress) step(text string) { p(text, "") }

// statusLine reports on the line about progress. Whatever is written next calls the returned function first.
func statusLine(a *cli.App) (report progress, clearLine func()) {
	return func(stage, text string) {
		if text != "" {
			stage += ": " + text
		}
		a.Status("%s", stage)
	}, a.Transient.Clear
}
