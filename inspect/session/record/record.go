// Package record is a flight recorder: it follows a live cluster and writes what it hears into a folder that is a source like any
// other (source.Recording). What enters is an open source and whoever asks its processes; what leaves are chunks, redacted.
//
//  1. Run follows the cluster with a session.Feed. Its source is one that passes on what it reads (tee): each change goes into the
//     chunk before it goes to the Feed, so that etcd is watched once.
//  2. A chunk begins with all keys at one revision; then come changes, each interval, and rounds of answers, whole (session.Round).
//     When it is old or large the next one begins where it ends.
//  3. What cannot be written or was not heard is a gap, and said: a full disk, an etcd that was compacted meanwhile, a clock set back.
//  4. The oldest chunks go when the folder is too old or too large (folder). Findings have profiles taken (profiles).
//
// What is behind the last interval may be lost when the process or the machine dies; nothing before it.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/internal/words"
)

// Options say what is recorded, and how much of it is kept.
type Options struct {
	// Dir is the folder; it is made.
	Dir string
	// Every is what is between two rounds of questions, and what may be lost.
	Every time.Duration
	// MaxAge and MaxSize bound what is kept: the oldest chunks go. 0: no bound.
	MaxAge  time.Duration
	MaxSize int64
	// ChunkAge and ChunkSize are when the next chunk begins; 0: 1 h and 64 MiB, less where MaxAge and MaxSize want it.
	ChunkAge  time.Duration
	ChunkSize int64
	// Kitescope is the version of the program.
	Kitescope string
	// Now is the clock.
	Now func() time.Time
	// Say is told what goes wrong, and when it is over; one line.
	Say func(line string)
	// Profiles are taken when findings appear; nil: none.
	Profiles *Profiles
}

// Recorder records one cluster. Close it when Run has returned.
type Recorder struct {
	o    Options
	lock *folderLock

	answers sync.Mutex
	said    []live.Record // of the round that is under way

	mu    sync.Mutex // guards what follows
	chunk *chunk     // nil: nothing can be written
	// wants is a source to read the keys of the next chunk from.
	wants source.Watcher
	// number is that of the last chunk; ended where it ends, zero if there is none.
	number int
	ended  source.Header
	// broken is since when nothing was written, and why.
	broken      time.Time
	why         string
	last        time.Time // when something was written last
	pruned      time.Time
	slow, tight bool // said already
	repeats     int  // the size of the largest round of the last chunk
	etcd        *model.Etcd
	silent      *model.Etcd // says why etcd is not heard of; nil: it is
}

// Open makes the folder ready, of which nobody else may be the recorder.
func Open(ctx context.Context, o Options) (*Recorder, error) {
	if o.MaxSize > 0 {
		o.ChunkSize = min(cmp.Or(o.ChunkSize, 64<<20), max(o.MaxSize/8, 64<<10))
	}
	o.ChunkSize = cmp.Or(o.ChunkSize, 64<<20)
	o.ChunkAge = cmp.Or(o.ChunkAge, time.Hour)
	if o.MaxAge > 0 {
		o.ChunkAge = min(o.ChunkAge, max(o.MaxAge/8, time.Minute))
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &Recorder{o: o, lock: lock, last: o.Now()}
	if err := r.resume(ctx); err != nil {
		lock.release()
		return nil, err
	}
	return r, nil
}

// Close ends the last chunk and gives the folder free.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.end()
	r.lock.release()
	return err
}

// Keep takes an answer of a process, which is redacted. It is for live.Options.
func (r *Recorder) Keep(answer live.Record) {
	r.answers.Lock()
	defer r.answers.Unlock()
	answer.Response = slices.Clone(answer.Response) // it is of a buffer that is used again
	r.said = append(r.said, answer)
}

// Run records until ctx ends. ask puts the questions to processes, nil: they are left alone. open opens the source, again where it
// was lost before anything was read.
func (r *Recorder) Run(ctx context.Context, open func(context.Context) (source.Source, error), ask session.Asker) error {
	ctx, stop := context.WithCancel(ctx)
	var ticking sync.WaitGroup
	ticking.Go(func() { r.tick(ctx) })
	defer ticking.Wait()
	defer stop()
	if r.o.Profiles != nil {
		defer r.o.Profiles.wait()
	}
	for {
		err := r.follow(ctx, open, ask)
		if ctx.Err() != nil {
			return nil
		}
		if refused, ok := errors.AsType[*notLiveError](err); ok {
			return refused
		}
		r.heard(ctx, history.Update{Err: err})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryAfter):
		}
	}
}

// retryAfter is how long it waits before it opens a source again.
const retryAfter = 3 * time.Second

// notLiveError is a source that does not change.
type notLiveError struct{ where string }

func (e *notLiveError) Error() string {
	return fmt.Sprintf("record %s: not a live source", e.where)
}

// follow records a source as long as it can be followed.
func (r *Recorder) follow(ctx context.Context, open func(context.Context) (source.Source, error), ask session.Asker) error {
	src, err := open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	watched, ok := src.(source.Live)
	if !ok {
		return &notLiveError{src.Origin().Location}
	}
	// What is recorded is read beside it: here only what says whom to ask, and all if it is judged.
	want := meta.Want{Parts: session.NodeNeeds | model.PartConfig}
	if r.o.Profiles != nil {
		want = meta.Want{Parts: model.PartAll, Records: true}
	}
	feed := &session.Feed{Every: r.o.Every, Interval: min(r.o.Every, 5*time.Second)}
	if ask != nil {
		feed.Ask = asker{r, ask}
	}
	return feed.FollowLive(ctx, tee{watched, r}, want, func(u history.Update) { r.heard(ctx, u) })
}

// tick writes what has come, each interval.
func (r *Recorder) tick(ctx context.Context) {
	tick := time.NewTicker(r.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.mu.Lock()
			r.settle(ctx)
			r.mu.Unlock()
		}
	}
}

// heard takes news of the cluster.
func (r *Recorder) heard(ctx context.Context, u history.Update) {
	r.mu.Lock()
	switch {
	case u.Err != nil && r.silent == nil:
		r.silent = &model.Etcd{At: r.o.Now(), Problem: words.Message(u.Err.Error())}
		r.gap(fmt.Sprintf("etcd does not answer: %v", u.Err))
	case u.Err == nil && u.Progress == "" && r.silent != nil:
		r.silent = nil
		r.o.Say("etcd answers again")
	}
	if u.Cluster != nil {
		r.etcd = u.Cluster.Etcd
	}
	r.mu.Unlock()
	if u.Cluster != nil && r.o.Profiles != nil {
		r.o.Profiles.judge(ctx, r, u.Cluster)
	}
}

// asker keeps the answers to each round of questions.
type asker struct {
	*Recorder
	client session.Asker
}

// Ask implements session.Asker.
func (a asker) Ask(ctx context.Context, c *model.Cluster) (*model.Runtime, error) {
	a.take()
	begun := a.o.Now()
	runtime, err := a.client.Ask(ctx, c)
	said := a.take()
	if err == nil && ctx.Err() == nil {
		a.round(said, a.o.Now().Sub(begun))
	}
	return runtime, err
}

// take empties what was said so far.
func (r *Recorder) take() []live.Record {
	r.answers.Lock()
	defer r.answers.Unlock()
	said := r.said
	r.said = nil
	return said
}

// round writes what processes have said.
func (r *Recorder) round(said []live.Record, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slow := took > r.o.Every; slow != r.slow {
		if r.slow = slow; slow {
			r.gap(fmt.Sprintf("processes take longer to answer than the %s interval: %s", r.o.Every, took.Round(time.Millisecond)))
		} else {
			r.o.Say("processes answer in time again")
		}
	}
	now := r.now() // which may find that nothing can be written
	if r.chunk == nil {
		return
	}
	if err := r.chunk.round(now, &session.Round{At: now, Every: r.o.Every, Records: said, Etcd: cmp.Or(r.silent, r.etcd)}); err != nil {
		r.fail(err)
	}
}

// now is the time, of which it is said if it went back, or if nothing was done for long.
func (r *Recorder) now() time.Time {
	now := r.o.Now()
	const patience = time.Second
	switch wall := now.Round(0).Sub(r.last.Round(0)); {
	case wall < -patience:
		r.gap(fmt.Sprintf("the clock went back by %s", -wall.Round(time.Second)))
	case wall > 3*r.o.Every+30*time.Second:
		r.gap(fmt.Sprintf("nothing was recorded for %s: the recorder was suspended, or its clock went forward", wall.Round(time.Second)))
	}
	r.last = now
	return now
}

// gap says what was not recorded, in the recording too.
func (r *Recorder) gap(text string) {
	r.o.Say(text)
	if r.chunk == nil {
		return
	}
	if err := r.chunk.gap(r.o.Now(), text); err != nil {
		r.fail(err)
	}
}

// redactor is that of a snapshot's keys.
func redactor(h source.Header) func(source.KV) (source.KV, bool) { return meta.Redactor(h) }
