package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// Rolling is a continuous record: a folder with a folder for each round. The oldest rounds are removed. Rounds
// are ordered by their sequence number, independent of the clock.
type Rolling struct {
	// Dir is created if it does not exist. Foreign files in it are kept.
	Dir string
	// Every is the time from the start of a round to the start of the next one. If a round takes longer, the
	// next one follows at once.
	Every time.Duration
	// Keep is how many rounds are kept; 0 means all.
	Keep int
	// Now is the clock for names of rounds; nil means time.Now.
	Now func() time.Time
}

// Round takes the profiles of a round and writes them to an existing folder.
type Round func(ctx context.Context, dir string) (*Manifest, error)

// roundName matches the folder of a round: its start, and a number if several rounds start within a second.
var roundName = profile.NewPattern(`^[0-9]{8}T[0-9]{6}Z(-[0-9]+)?$`)

const roundLayout = "20060102T150405Z"

// Run takes rounds until ctx ends, which is not an error. It calls done for each saved round and for each
// failed one. A failed round ends the record only if the local disk is the reason.
func (r *Rolling) Run(ctx context.Context, round Round, done func(path string, m *Manifest, err error)) error {
	if r.Every <= 0 || r.Keep < 0 {
		return errors.New("a rolling recording needs an interval above 0, and must not keep a negative number of " +
			"rounds")
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("save %s: %w", r.Dir, err)
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, ManifestName)); err == nil {
		return hints.Errorf("name another folder", "save %s: it holds the profiles of one round, not of several", r.Dir)
	}
	r.sweep()
	for {
		begun := time.Now()
		if err := r.next(ctx, round, done); err != nil {
			return err
		}
		if !sleep(ctx, r.Every-time.Since(begun)) {
			return nil
		}
	}
}

// next takes one round. Its error ends the record.
func (r *Rolling) next(ctx context.Context, round Round, done func(path string, m *Manifest, err error)) error {
	path, m, err := r.runRound(ctx, round)
	if own, ok := errors.AsType[*diskError](err); ok {
		return own.err
	}
	if m != nil || ctx.Err() == nil {
		done(path, m, err)
	}
	return nil
}

// diskError is the error if a round cannot be saved. It ends the record.
type diskError struct{ err error }

func (e *diskError) Error() string { return e.err.Error() }
func (e *diskError) Unwrap() error { return e.err }

func (r *Rolling) runRound(ctx context.Context, round Round) (string, *Manifest, error) {
	s, err := newStage(r.Dir)
	if err != nil {
		return "", nil, &diskError{fmt.Errorf("save %s: %w", r.Dir, err)}
	}
	defer s.remove()
	m, err := round(ctx, s.dir)
	if m == nil {
		return "", nil, err
	}
	if ctx.Err() != nil && m.Failed() == len(m.Profiles) {
		return "", nil, err // no profile was complete
	}
	rounds, path, saveErr := r.place(m)
	if saveErr == nil {
		saveErr = s.publish(m, path)
	}
	if saveErr != nil {
		return "", m, &diskError{fmt.Errorf("save %s: %w", r.Dir, saveErr)}
	}
	r.prune(rounds)
	return path, m, err
}

// place sets the sequence of a round, and returns the earlier rounds and the path for the new one.
func (r *Rolling) place(m *Manifest) (rounds []savedRound, path string, err error) {
	if rounds, err = savedRounds(r.Dir); err != nil {
		return nil, "", err
	}
	m.Sequence = 1
	if len(rounds) > 0 {
		m.Sequence = rounds[len(rounds)-1].sequence + 1
	}
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	name := now().UTC().Format(roundLayout)
	for i := 1; ; i++ {
		path = filepath.Join(r.Dir, name)
		if i > 1 {
			path += fmt.Sprintf("-%d", i)
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return rounds, path, nil
		} else if err != nil {
			return nil, "", err
		}
	}
}

// savedRound is a saved round.
type savedRound struct {
	path     string
	sequence int64
	files    []string
}

// savedRounds returns the rounds of a record, oldest first. It ignores other folders.
func savedRounds(dir string) ([]savedRound, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var rounds []savedRound
	for _, e := range entries {
		if !e.IsDir() || !roundName().MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		m, err := readManifest(folder(path))
		if err != nil || m.Sequence < 1 {
			continue // not from a rolling record
		}
		k := savedRound{path: path, sequence: m.Sequence}
		for i := range m.Profiles {
			if name := m.Profiles[i].File; isFile(name) {
				k.files = append(k.files, name)
			}
		}
		rounds = append(rounds, k)
	}
	slices.SortStableFunc(rounds, func(a, b savedRound) int { return int(max(-1, min(1, a.sequence-b.sequence))) })
	return rounds, nil
}

// prune removes the files listed in the manifests of the oldest rounds, and then their folders if empty.
func (r *Rolling) prune(before []savedRound) {
	if r.Keep == 0 {
		return
	}
	for len(before)+1 > r.Keep && len(before) > 0 {
		old := before[0]
		before = before[1:]
		for _, name := range append(old.files, ManifestName) {
			_ = os.Remove(filepath.Join(old.path, name)) // a foreign file only keeps its folder
		}
		_ = os.Remove(old.path)
	}
}

// staleAfter is the age after which an incomplete folder is considered abandoned.
const staleAfter = 48 * time.Hour

// sweep removes incomplete folders that killed rounds left behind.
func (r *Rolling) sweep() {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), stageName) ||
			time.Since(info.ModTime()) < staleAfter {
			continue
		}
		_ = os.RemoveAll(filepath.Join(r.Dir, e.Name()))
	}
}
