package main

import (
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/internal/words"
)

// lossReporter reports on standard error that a source has stopped responding: at once, then repeatedly with
// the duration, and finally that it is back. Otherwise the user of a watch would take silence for "no
// changes".
type lossReporter struct {
	*cli.App
	clock  func() time.Time
	losses map[string]*loss // by name of the source; "" is etcd
}

// loss is a source that does not respond.
type loss struct {
	since time.Time
	next  time.Duration // age at which it is reported again
}

// A loss is reported again when its age reaches repeatFirst, then at three times that age, and then every
// maxRepeat.
const (
	repeatFirst = 10 * time.Second
	maxRepeat   = time.Minute
)

func newLossReporter(a *cli.App) *lossReporter {
	return &lossReporter{App: a, clock: time.Now, losses: map[string]*loss{}}
}

// handle reports the sources that an update has lost, and the lost ones that are back.
func (t *lossReporter) handle(u history.Update) {
	if u.Progress != "" {
		return
	}
	now := t.clock()
	lost := map[string]bool{}
	if u.Err != nil {
		lost[""] = true
		t.report("", u.Since, now, cli.OneLine(u.Err.Error()))
	}
	for _, l := range u.Lost {
		lost[l.Name] = true
		t.report(l.Name, l.Since, now, l.Name+" is not responding")
	}
	for name, l := range t.losses {
		if lost[name] {
			continue
		}
		delete(t.losses, name)
		if name == "" {
			name = "etcd"
		}
		t.Warn("%s is back after %s", name, words.Age(now.Sub(l.since).Round(time.Second)))
	}
}

// report reports that a source is lost, since when and why, unless it was reported recently.
func (t *lossReporter) report(name string, since, now time.Time, why string) {
	l := t.losses[name]
	if l == nil {
		if since.IsZero() {
			since = now
		}
		l = &loss{since: since, next: repeatFirst}
		t.losses[name] = l
		t.Warn("%s", why+t.sinceText(l, now))
		return
	}
	if age := now.Sub(l.since); age >= l.next {
		for l.next <= age {
			l.next += min(2*l.next, maxRepeat)
		}
		t.Warn("%s", why+t.sinceText(l, now))
	}
}

func (t *lossReporter) sinceText(l *loss, now time.Time) string {
	return fmt.Sprintf("; last response at %s, stale for %s",
		l.since.Format(time.TimeOnly), words.Age(now.Sub(l.since).Round(time.Second)))
}
