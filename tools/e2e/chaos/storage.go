package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// storageChecks lists the checks that report an object store, or files in it, that cannot be read or written.
var storageChecks = []string{
	"files-missing", "storage-files-missing", "storage-errors", "storage-unreachable", "storage-failing",
	"storage-read-only",
}

// Folders of a collection's files below the root of the storage.
const (
	indexFiles = "index_files"
	insertLogs = "insert_log"
)

func storageKinds() []*Kind {
	files := func(d *dice) Args {
		a := Args{What: pick(d, []string{indexFiles, insertLogs})}
		a.Collection = pick(d, indexed)
		return a
	}
	whole := func(Args) []string { return []string{"storage"} }
	wantFiles := func(a Args) Want {
		return Want{
			Checks: storageChecks, Names: [][]string{{a.Collection}},
			Follow: []string{
				"load-stuck", "load-state-mismatch", "no-shard-leader", "segment-not-loaded", "target-behind",
				"task-failed",
			},
		}
	}
	return []*Kind{
		{
			Name: "files removed, then load", Weight: 6, Draw: files, Targets: whole, Want: wantFiles, Alone: true,
			Storage: true,
			Inject:  func(ctx context.Context, l *Lab, a Args) error { return spoilFiles(ctx, l, a, moveAway) },
			Observe: notLoaded, Heal: reload, Limit: 100 * time.Second, Hold: 40 * time.Second,
		},
		{
			Name: "files cut, then load", Weight: 5, Draw: files, Targets: whole, Want: wantFiles, Alone: true,
			Storage: true,
			Inject:  func(ctx context.Context, l *Lab, a Args) error { return spoilFiles(ctx, l, a, cutFile) },
			Observe: notLoaded, Heal: reload, Limit: 100 * time.Second, Hold: 40 * time.Second,
		},
		{
			Name: "storage removed, then load", Weight: 4, Targets: whole, Alone: true, Storage: true, Want: wantFiles,
			Draw:   func(d *dice) Args { return Args{Collection: pick(d, loaded)} },
			Inject: removeStorage, Observe: notLoaded, Heal: reload, Limit: 100 * time.Second, Hold: 40 * time.Second,
		},
		{
			Name: "storage read-only, then inserts", Weight: 5, Targets: whole, Alone: true, Storage: true,
			Draw: func(d *dice) Args { return Args{Collection: pick(d, loaded)} },
			Want: func(Args) Want {
				return Want{
					Checks: storageChecks, Names: [][]string{{"storage", "read-only", "write"}},
					Follow: append([]string{
						"node-unreachable", "stale-session", "role-missing", "growing-too-old", "growing-flushed",
						"index-stuck",
					}, consequences["datanode"]...),
				}
			},
			Inject: readOnly, Limit: 120 * time.Second, Hold: 60 * time.Second,
			Observe: func(_ context.Context, l *Lab, _ Args) Observation {
				err := os.WriteFile(filepath.Join(l.Data(), "chaos"), nil, 0o600)
				return Observation{
					Present: err != nil, What: fmt.Sprintf("writing: %v; datanode %q", err, l.State("datanode")),
				}
			},
			Heal: func(ctx context.Context, l *Lab, a Args) error {
				l.EndBackground(false)
				l.UndoAll()
				_ = os.Remove(filepath.Join(l.Data(), "chaos"))
				if err := bringBack(ctx, l, Args{Processes: lab.AllProcesses}); err != nil {
					return err
				}
				return l.Client(ctx, 120*time.Second, "flush", a.Collection)
			},
		},
	}
}

// clusterState is the needed part of the output of state.py.
type clusterState struct {
	Segments map[string]struct {
		Collection string `json:"collection"`
		State      string `json:"state"`
	} `json:"segments"`
	Indexes map[string]struct {
		Segment string `json:"segment"`
	} `json:"indexes"`
	Nodes map[string]struct {
		Error  string   `json:"error"`
		Sealed []string `json:"sealed"`
	} `json:"nodes"`
	Names  map[string]string `json:"names"` // of collections
	Unrest []string          `json:"unrest"`
}

func (l *Lab) stateNow(ctx context.Context, words ...string) (*clusterState, error) {
	file := filepath.Join(l.Out, "state.json")
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	if _, err := l.Output(ctx, l.Python(),
		append([]string{filepath.Join(l.dir, "..", "state.py"), lab.EtcdAddress, "-o", file}, words...)...); err !=
		nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &clusterState{}
	return s, json.Unmarshal(text, s)
}

func (s *clusterState) collection(name string) string {
	for id, n := range s.Names {
		if n == name {
			return id
		}
	}
	return ""
}

// filesOf returns the files of a kind of a collection's flushed segments.
func (l *Lab) filesOf(ctx context.Context, name, kind string) ([]string, error) {
	state, err := l.stateNow(ctx)
	if err != nil {
		return nil, err
	}
	id := state.collection(name)
	var found []string
	for build, x := range state.Indexes {
		if s := state.Segments[x.Segment]; kind == indexFiles && s.Collection == id && s.State == "Flushed" {
			f, _ := filepath.Glob(filepath.Join(l.Data(), kind, build, "*", "*", "*", "*"))
			found = append(found, f...)
		}
	}
	for segment, s := range state.Segments {
		if kind == insertLogs && s.Collection == id && s.State == "Flushed" {
			f, _ := filepath.Glob(filepath.Join(l.Data(), kind, id, "*", segment, "*", "*"))
			found = append(found, f...)
		}
	}
	if id == "" || len(found) == 0 {
		return nil, fmt.Errorf("no %s of %s (collection %q)", kind, name, id)
	}
	return found, nil
}

// spoilFiles releases a collection, spoils its files and starts to load it again.
func spoilFiles(ctx context.Context, l *Lab, a Args, spoil func(*Lab, string) error) error {
	files, err := l.filesOf(ctx, a.Collection, a.What)
	if err != nil {
		return err
	}
	if err := l.Client(ctx, 60*time.Second, "release", a.Collection); err != nil {
		return err
	}
	for _, f := range files {
		if err := spoil(l, f); err != nil {
			return err
		}
	}
	return l.StartClient(ctx, "load", a.Collection, "600")
}

// backUp keeps the content of a file in memory, and restores the file when the fault is taken back.
func (l *Lab) backUp(file string) error {
	text, err := os.ReadFile(file)
	if err == nil {
		l.Undo(func() error {
			return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
		})
	}
	return err
}

func moveAway(l *Lab, file string) error {
	if err := l.backUp(file); err != nil {
		return err
	}
	return os.Remove(file)
}

func cutFile(l *Lab, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := l.backUp(file); err != nil {
		return err
	}
	return os.Truncate(file, info.Size()/2)
}

func removeStorage(ctx context.Context, l *Lab, a Args) error {
	if err := l.Client(ctx, 60*time.Second, "release", a.Collection); err != nil {
		return err
	}
	away := l.Data() + ".away"
	if err := os.Rename(l.Data(), away); err != nil {
		return err
	}
	l.Undo(func() error { return errors.Join(os.RemoveAll(l.Data()), os.Rename(away, l.Data())) })
	return l.StartClient(ctx, "load", a.Collection, "600")
}

// notLoaded returns whether segments of the collection are still not loaded on any node.
func notLoaded(ctx context.Context, l *Lab, a Args) Observation {
	state, err := l.stateNow(ctx)
	if err != nil {
		return Observation{What: err.Error()}
	}
	served := map[string]bool{}
	for _, n := range state.Nodes {
		for _, s := range n.Sealed {
			served[s] = true
		}
	}
	wanted, missing := 0, 0
	for id, s := range state.Segments {
		if s.Collection == state.collection(a.Collection) && s.State == "Flushed" {
			wanted++
			if !served[id] {
				missing++
			}
		}
	}
	return Observation{
		Present: missing > 0,
		What:    fmt.Sprintf("%d of %d segments of %s are on no node", missing, wanted, a.Collection),
	}
}

func reload(ctx context.Context, l *Lab, a Args) error {
	l.EndBackground(false)
	l.UndoAll()
	_ = l.Client(ctx, 60*time.Second, "release", a.Collection)
	return l.Client(ctx, 150*time.Second, "load", a.Collection, "140")
}

// readOnly mounts the storage read-only over itself and inserts rows. Removing write permission would not
// stop root.
func readOnly(ctx context.Context, l *Lab, a Args) error {
	for _, words := range []string{"--bind " + l.Data() + " " + l.Data(), "-o remount,ro,bind " + l.Data()} {
		if _, err := l.Output(ctx, "mount", strings.Fields(words)...); err != nil {
			return err
		}
	}
	l.Undo(func() error {
		_, err := l.Output(context.WithoutCancel(ctx), "umount", "-l", l.Data())
		return err
	})
	if err := l.Client(ctx, 60*time.Second, "insert", a.Collection, "300", "3"); err != nil {
		return err
	}
	return l.StartClient(ctx, "flush", a.Collection)
}
