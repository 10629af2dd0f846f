package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"kitescope/profile/bench"
)

// folder is where a trial keeps what it makes.
type folder string

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

const (
	stateFile    = "state.json"
	stateVersion = 1
	maxStateSize = 256 << 20
)

// state is what is known of a trial so far.
type state struct {
	Version int
	// Hash is of the whole plan, Plan what of it may be kept.
	// Begun is the hash of what counts from the beginning on, before anything is measured.
	Hash, Begun string
	Plan        Plan
	Seed        uint64

	Sessions []Session
	// Took is how long each step took, over all sessions, by its number.
	Took [9]time.Duration

	Module Module
	Plain  *Build
	Packed *Build
	// Rounds are runs that were made for profiles.
	Rounds []Round
	Pack   *Pack
	// Runs are those that count, which are kept in a file of their own (journal.go); Discarded those that were made
	// again: half of a pair when the trial was interrupted, or failures that ended it.
	Runs      []Measured `json:"-"`
	Discarded []Measured
	// Stopped is why the trial gave up, "" if it did not.
	Stopped  string
	Warmed   int
	Finished bool
}

// Session is one start of the trial, up to its end.
type Session struct {
	Began, Ended time.Time
	Machine      Machine `doc:",inline"`
	// LoadAfter is the load average at the end; nil if unknown.
	LoadAfter []float64 `doc:"load_average_after,omitzero" json:",omitempty"`
}

// Measured is one run that was measured.
type Measured struct {
	// Number is its place in the order in which runs were made, from 1 on; Pair the pair that it belongs to, Control
	// that of a pair of the control. Side is where its program lies: "a" without PGO, "b" with, "c" the copy.
	Number  int
	Pair    int
	Control bool
	Side    string
	Began   time.Time
	Wall    time.Duration
	Values  []bench.Value
	// Failed is why it does not count, "" if it does; Output is the file with what it said, below the folder.
	Failed, Output string
	// Left reports that it left processes behind, which were ended then.
	Left bool `json:",omitempty"`
}

// Round is one run for a profile.
type Round struct {
	Side string
	// After says that it was made after the measurements, for the witness.
	After bool
	// File is the profile, below the folder.
	File   string
	Events int64
	Wall   time.Duration
}

// open makes the folder, and keeps others out of it until unlock is called.
func (f folder) open() (unlock func(), err error) {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return nil, fmt.Errorf("make the trial's folder: %w", err)
	}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, fmt.Errorf("read the trial's folder: %w", err)
	}
	ours := len(entries) == 0
	for _, e := range entries {
		ours = ours || e.Name() == stateFile || e.Name() == lockFile
	}
	if !ours {
		return nil, planError("name a new folder with -O; existing files are not touched", "%s is not empty, and holds no trial", f)
	}
	if unlock, err = f.lock(); err != nil || len(entries) > 0 {
		return unlock, err
	}
	if err := f.write([]byte("*\n"), ".gitignore"); err != nil { // it may lie in a repository, and is no part of it
		unlock()
		return nil, fmt.Errorf("make the trial's folder: %w", err)
	}
	return unlock, nil
}

// load reads the state of a trial that was begun, or makes a new one.
func (f folder) load(plan *Plan) (*state, error) {
	hash, begun, err := plan.hashes()
	if err != nil {
		return nil, err
	}
	s := &state{Version: stateVersion, Hash: hash, Begun: begun, Plan: plan.shown(), Seed: plan.Seed}
	file, err := os.Open(f.path(stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		if s.Seed == 0 {
			s.Seed = uint64(plan.Now().UnixNano())
		}
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("continue the trial: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("continue the trial: %w", err)
	}
	if info.Size() > maxStateSize {
		return nil, fmt.Errorf("continue the trial: %s is larger than any state", f.path(stateFile))
	}
	var kept state
	if err := json.NewDecoder(file).Decode(&kept); err != nil {
		return nil, planError("start over in a new folder, with -O", "continue the trial: %s cannot be read: %w", f.path(stateFile), err)
	}
	switch {
	case kept.Version != stateVersion:
		return nil, planError("start over in a new folder, with -O", "%s is of another version of kitescope", f.path(stateFile))
	case kept.Hash != hash && kept.Begun == begun && kept.Pack == nil:
		kept.Hash, kept.Plan = hash, s.Plan // nothing is measured yet: how often it will be may change
	case kept.Hash != hash:
		return nil, planError("continue with the original command line, or start over in a new folder with -O",
			"the trial in %s was begun with another plan%s", f, differences(&kept.Plan, &s.Plan))
	}
	if kept.Runs, err = f.readJournal(); err != nil {
		return nil, err
	}
	return &kept, kept.check()
}

// check refuses a state that another program wrote, before it is relied on.
func (s *state) check() error {
	for i := range s.Runs {
		if r := &s.Runs[i]; !slices.Contains([]string{sidePlain, sidePacked, sideCopy}, r.Side) || r.Pair < 0 {
			return planError("start over in a new folder, with -O", "the trial's state is damaged: run %d is of no side", i+1)
		}
	}
	for _, r := range s.Rounds {
		if !filepath.IsLocal(r.File) {
			return planError("start over in a new folder, with -O", "the trial's state is damaged: a profile outside the folder")
		}
	}
	return nil
}

// differences says which parts of two plans differ: ": Pairs 20, now 30".
func differences(before, now *Plan) string {
	var parts []string
	a, b := reflect.ValueOf(*before), reflect.ValueOf(*now)
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if field.Tag.Get("json") == "-" {
			continue
		}
		if x, y := fmt.Sprint(a.Field(i).Interface()), fmt.Sprint(b.Field(i).Interface()); x != y {
			parts = append(parts, fmt.Sprintf("%s was %s and is %s now", strings.ToLower(field.Name), orNothing(x), orNothing(y)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

func orNothing(s string) string {
	if s == "" || s == "[]" {
		return "nothing"
	}
	return s
}

// save writes the state, so that it is there whole or as it was.
func (t *trial) save() error {
	text, err := json.MarshalIndent(t.state, "", " ")
	if err != nil {
		return fmt.Errorf("keep the trial's state: %w", err)
	}
	if err := t.folder.write(append(text, '\n'), stateFile); err != nil {
		return fmt.Errorf("keep the trial's state: %w", err)
	}
	return nil
}

// write makes a file that appears when it is complete.
func (f folder) write(text []byte, parts ...string) error {
	path := f.path(parts...)
	return writeFile(path, text)
}

func writeFile(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".kitescope-*")
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err // the temporary name says nothing to anybody
	}
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// begin opens a session, and puts aside what an interruption left in halves. To say again what a trial came to is none.
func (t *trial) begin(ctx context.Context) error {
	t.state.reopen(t.plan.order(t.state.Seed))
	if t.state.Finished && len(t.state.Sessions) > 0 {
		return nil
	}
	t.state.Sessions = append(t.state.Sessions, Session{Began: t.plan.Now().UTC(), Machine: t.machine(ctx)})
	// First what was put aside: a crash in between leaves a run twice, and none lost.
	return cmp.Or(t.save(), t.folder.writeJournal(t.state.Runs))
}

// ended notes when a session ended, and how busy the machine was then.
func (t *trial) ended() {
	if t.state.Finished {
		return
	}
	last := &t.state.Sessions[len(t.state.Sessions)-1]
	last.Ended, last.LoadAfter = t.plan.Now().UTC(), loadAverage()
}

// end closes a session.
func (t *trial) end() error {
	t.ended()
	return t.save()
}
