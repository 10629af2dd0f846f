// Package record implements a flight recorder. It follows a live cluster and writes its changes and the answers of
// its processes into redacted chunks. The folder of chunks can be opened as a source (source.Recording).
//
//  1. Run follows the cluster with a session.Feed. Its source is wrapped by tee, which writes each change into the
//     chunk before it passes the change to the Feed. So etcd is watched only once.
//  2. A chunk begins with all keys at one revision. Changes follow in each interval, and complete rounds of answers
//     (session.Round). When a chunk is old or large, the next one begins where it ends.
//  3. Data that cannot be written or was not received is reported and recorded as a gap, e.g. after a full disk, a
//     compaction of etcd in the meantime, or a clock set back.
//  4. The oldest chunks are removed when the folder is too old or too large (folder.go). New findings trigger pulls
//     of profiles (profiles.go).
//
// If the process or the machine dies, only data of the last interval may be lost.
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

// Options configure the content and the limits of a recording.
type Options struct {
	// Dir is the folder of the recording. It is created if missing.
	Dir string
	// Every is the time between two rounds of queries. It is also the maximum time that a crash may lose.
	Every time.Duration
	// MaxAge and MaxSize (in bytes) limit the recording; the oldest chunks are removed. 0 means no limit.
	MaxAge  time.Duration
	MaxSize int64
	// ChunkAge and ChunkSize (in bytes) are the limits at which the next chunk begins. 0 means 1 h and 64 MiB. Both
	// are lowered if MaxAge or MaxSize is small.
	ChunkAge  time.Duration
	ChunkSize int64
	// Kitescope is the version of the program.
	Kitescope string
	// Now is the clock.
	Now func() time.Time
	// Log is called with one line when a problem begins and when it ends.
	Log func(line string)
	// Profiles pulls profiles when findings appear. If it is nil, none are pulled.
	Profiles *Profiles
}

// Recorder records one cluster. Close it after Run has returned.
type Recorder struct {
	o    Options
	lock *folderLock

	answers sync.Mutex
	pending []live.Record // answers of the current round

	mu    sync.Mutex // guards the fields below
	chunk *chunk     // nil before the first pin and after a write error
	// live is the source of the next chunk's base keys.
	live source.Watcher
	// number is the number of the last chunk. ended is the header at its end, or zero if there is none.
	number int
	ended  source.Header
	// broken is the time since which writing fails, or zero. brokenReason is the error.
	broken       time.Time
	brokenReason string
	last         time.Time // time of the last call of now
	pruned       time.Time
	slow, tight  bool // already reported
	repeats      int  // size of the largest round of the last chunk, in bytes
	etcd         *model.Etcd
	unresponsive *model.Etcd // holds the reason why etcd is not responding; nil while etcd responds
}

// Open creates and locks the folder and resumes an earlier recording in it. It returns an error if another recorder
// has the lock.
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

// Close completes the last chunk and unlocks the folder.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.end()
	r.lock.release()
	return err
}

// Keep adds an answer of a process, already redacted, to the current round. It is used as randomChanges.Options.Keep.
func (r *Recorder) Keep(answer live.Record) {
	r.answers.Lock()
	defer r.answers.Unlock()
	answer.Response = slices.Clone(answer.Response) // the buffer is reused
	r.pending = append(r.pending, answer)
}

// Run records until ctx ends. ask queries the processes; a nil ask disables that. open opens the source, and
// is called again after a failure. Run returns an error only if the source is not live.
func (r *Recorder) Run(
	ctx context.Context, open func(context.Context) (source.Source, error), ask session.Asker,
) error {
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
		r.onUpdate(ctx, history.Update{Err: err})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryAfter):
		}
	}
}

// retryAfter is the wait before a source is opened again.
const retryAfter = 3 * time.Second

// notLiveError is returned for a source that is not live, e.g. a file.
type notLiveError struct{ where string }

func (e *notLiveError) Error() string {
	return fmt.Sprintf("record %s: not a live source", e.where)
}

// follow opens and records a source until it fails or ctx ends.
func (r *Recorder) follow(
	ctx context.Context, open func(context.Context) (source.Source, error), ask session.Asker,
) error {
	src, err := open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	watched, ok := src.(source.Live)
	if !ok {
		return &notLiveError{src.Origin().Location}
	}
	// tee records all data regardless of want. The feed needs only the parts that list the processes, or all for
	// checks.
	want := meta.Want{Parts: session.NodeNeeds | model.PartConfig}
	if r.o.Profiles != nil {
		want = meta.Want{Parts: model.PartAll, Records: true}
	}
	feed := &session.Feed{Every: r.o.Every, Interval: min(r.o.Every, 5*time.Second)}
	if ask != nil {
		feed.Ask = asker{r, ask}
	}
	return feed.FollowLive(ctx, tee{watched, r}, want, func(u history.Update) { r.onUpdate(ctx, u) })
}

// tick calls settle in each interval until ctx ends.
func (r *Recorder) tick(ctx context.Context) {
	tick := time.NewTicker(r.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.mu.Lock()
			r.syncOrRotate(ctx)
			r.mu.Unlock()
		}
	}
}

// onUpdate handles an update of the feed: outages of etcd, its health, and checks for new findings.
func (r *Recorder) onUpdate(ctx context.Context, u history.Update) {
	r.mu.Lock()
	switch {
	case u.Err != nil && r.unresponsive == nil:
		r.unresponsive = &model.Etcd{At: r.o.Now(), Problem: words.Message(u.Err.Error())}
		r.gap(fmt.Sprintf("etcd is not responding: %v", u.Err))
	case u.Err == nil && u.Progress == "" && r.unresponsive != nil:
		r.unresponsive = nil
		r.o.Log("etcd responds again")
	}
	if u.Cluster != nil {
		r.etcd = u.Cluster.Etcd
	}
	r.mu.Unlock()
	if u.Cluster != nil && r.o.Profiles != nil {
		r.o.Profiles.checkFindings(ctx, r, u.Cluster)
	}
}

// asker queries processes and records the answers of each round.
type asker struct {
	*Recorder
	client session.Asker
}

// Ask implements session.Asker.
func (a asker) Ask(ctx context.Context, c *model.Cluster) (*model.Runtime, error) {
	a.takeAnswers()
	begun := a.o.Now()
	runtime, err := a.client.Ask(ctx, c)
	said := a.takeAnswers()
	if err == nil && ctx.Err() == nil {
		a.round(said, a.o.Now().Sub(begun))
	}
	return runtime, err
}

// takeAnswers returns the answers so far and clears them.
func (r *Recorder) takeAnswers() []live.Record {
	r.answers.Lock()
	defer r.answers.Unlock()
	said := r.pending
	r.pending = nil
	return said
}

// round writes a round of answers. It records a gap if rounds begin to take longer than the interval.
func (r *Recorder) round(answers []live.Record, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slow := took > r.o.Every; slow != r.slow {
		if r.slow = slow; slow {
			r.gap(fmt.Sprintf("processes take longer to respond than the %s interval: %s",
				r.o.Every, took.Round(time.Millisecond)))
		} else {
			r.o.Log("processes respond in time again")
		}
	}
	now := r.now() // may set r.chunk to nil if writing fails
	if r.chunk == nil {
		return
	}
	if err := r.chunk.round(now, &session.Round{
		At: now, Every: r.o.Every, Records: answers, Etcd: cmp.Or(r.unresponsive, r.etcd),
	}); err != nil {
		r.fail(err)
	}
}

// now returns the time. It records a gap if the clock went back by more than 1 s, or if more than three intervals
// and 30 s have passed since the last call.
func (r *Recorder) now() time.Time {
	now := r.o.Now()
	const patience = time.Second
	switch wall := now.Round(0).Sub(r.last.Round(0)); {
	case wall < -patience:
		r.gap(fmt.Sprintf("the clock went back by %s", -wall.Round(time.Second)))
	case wall > 3*r.o.Every+30*time.Second:
		r.gap(fmt.Sprintf("nothing was recorded for %s: the recorder was suspended, or its clock jumped ahead",
			wall.Round(time.Second)))
	}
	r.last = now
	return now
}

// gap reports a gap and records it.
func (r *Recorder) gap(text string) {
	r.o.Log(text)
	if r.chunk == nil {
		return
	}
	if err := r.chunk.gap(r.o.Now(), text); err != nil {
		r.fail(err)
	}
}

// redactor returns the redactor for keys of a snapshot.
func redactor(h source.Header) func(source.KV) (source.KV, bool) { return meta.Redactor(h) }
