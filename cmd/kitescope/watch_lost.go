package main

import (
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/internal/words"
)

// lossTeller says on standard error that a source is not heard of any more: at once, then again and again with for how
// long, and when it is back. Who sees nothing new in a watch must not take it for nothing happening.
type lossTeller struct {
	*cli.App
	clock func() time.Time
	told  map[string]*loss // by the name of the source; "" is etcd
}

// loss is a source that is not heard of.
type loss struct {
	since time.Time
	next  time.Duration // after how long it is said again
}

// How long after a source was last heard of its loss is said again: repeatFirst, then after three times as long, and every
// repeatMost from then on.
const (
	repeatFirst = 10 * time.Second
	repeatMost  = time.Minute
)

func newLossTeller(a *cli.App) *lossTeller {
	return &lossTeller{App: a, clock: time.Now, told: map[string]*loss{}}
}

// take compares what an update says of the sources with what was said.
func (t *lossTeller) take(u history.Update) {
	if u.Progress != "" {
		return
	}
	now := t.clock()
	lost := map[string]bool{}
	if u.Err != nil {
		lost[""] = true
		t.tell("", u.Since, now, cli.OneLine(u.Err.Error()))
	}
	for _, l := range u.Lost {
		lost[l.Name] = true
		t.tell(l.Name, l.Since, now, l.Name+" does not answer")
	}
	for name, l := range t.told {
		if lost[name] {
			continue
		}
		delete(t.told, name)
		if name == "" {
			name = "etcd"
		}
		t.Warn("%s is back after %s", name, words.Age(now.Sub(l.since).Round(time.Second)))
	}
}

// tell says why a source is lost and since when, if that is due.
func (t *lossTeller) tell(name string, since, now time.Time, why string) {
	l := t.told[name]
	if l == nil {
		if since.IsZero() {
			since = now
		}
		l = &loss{since: since, next: repeatFirst}
		t.told[name] = l
		t.Warn("%s", why+t.sinceText(l, now))
		return
	}
	if age := now.Sub(l.since); age >= l.next {
		for l.next <= age {
			l.next += min(2*l.next, repeatMost)
		}
		t.Warn("%s", why+t.sinceText(l, now))
	}
}

func (t *lossTeller) sinceText(l *loss, now time.Time) string {
	return fmt.Sprintf("; last answer at %s, stale for %s", l.since.Format(time.TimeOnly), words.Age(now.Sub(l.since).Round(time.Second)))
}
