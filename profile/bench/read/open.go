package read

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/interrupt"
	"kitescope/internal/words"
	"kitescope/profile/bench"
)

// maxFiles is the maximum number of files of a side. maxDepth is the maximum depth of subfolders.
const (
	maxFiles = 20_000
	maxDepth = 4
)

// Open reads one side of a comparison: a file, a folder in which each file or subfolder is a run, or several
// paths. Files of the same run, e.g. from a load generator and from vmstat, are matched by folder or by name.
// It returns several Sets if the files hold several sides. A file in a folder that is not a result is skipped
// and listed in Set.Notes. It returns an error if such a file is in paths itself.
func Open(ctx context.Context, paths []string, o Options) ([]*bench.Set, error) {
	if len(paths) == 0 {
		return nil, errors.New("read results: no file")
	}
	g := &collector{o: o}
	for _, path := range paths {
		if err := g.path(ctx, path, len(paths) == 1); err != nil {
			return nil, err
		}
	}
	name := paths[0]
	if len(paths) > 1 {
		name = fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
	}
	return g.join(name)
}

// collector collects the files of a side.
type collector struct {
	o     Options
	files []file
	// refused lists the files in folders that no reader accepts; first is the error for the first one.
	refused []string
	first   error
}

// file is one file of a side.
type file struct {
	path  string
	group string // shared by the files of a run
	name  string // of the run
	table *table
}

// path adds a file or the files of a folder. If it is the only path, each entry of the folder is a run.
// Otherwise the folder is one run.
func (g *collector) path(ctx context.Context, path string, only bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hints.Errorf("is the path right?", "read %s: no such file", path)
	case err != nil:
		return fmt.Errorf("read results: %w", err)
	case !info.IsDir():
		return g.file(ctx, path, filepath.Dir(path)+"/", true)
	case only:
		return g.entries(ctx, path)
	}
	return g.folder(ctx, path, path, 1)
}

// entries adds the entries of a folder, each as a run.
func (g *collector) entries(ctx context.Context, dir string) error {
	entries, err := visible(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = g.folder(ctx, path, path, 1)
		} else {
			err = g.file(ctx, path, dir+"/", false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folder adds all files of a folder as one run.
func (g *collector) folder(ctx context.Context, dir, run string, depth int) error {
	entries, err := visible(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir():
			err = g.file(ctx, path, run, false)
		case depth < maxDepth:
			err = g.folder(ctx, path, run, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visible returns the files and folders in a folder, except hidden ones. It sorts "run 2" before "run 10".
func visible(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		if strings.HasPrefix(e.Name(), ".") {
			return true
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		return err != nil || !info.IsDir() && !info.Mode().IsRegular()
	})
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return words.CompareNatural(a.Name(), b.Name()) })
	return entries, nil
}

// file reads one file. It returns an error if the user named the file and it is not a result.
func (g *collector) file(ctx context.Context, path, group string, named bool) error {
	if len(g.files)+len(g.refused) >= maxFiles {
		return hints.Errorf("give the folder of the results only", "read results: more than %d files", maxFiles)
	}
	t, err := g.open(ctx, path)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && named:
		return err
	case err != nil:
		if g.first == nil {
			g.first = err
		}
		g.refused = append(g.refused, clean(filepath.Base(path)))
		return nil
	}
	name := group
	if strings.HasSuffix(group, "/") {
		name = stem(filepath.Base(path))
		group += name
	}
	g.files = append(g.files, file{path: path, group: group, name: filepath.Base(name), table: t})
	return nil
}

func (g *collector) open(ctx context.Context, path string) (*table, error) {
	f, err := interrupt.Wait(ctx, func() (*os.File, error) { return os.Open(path) }) // a pipe waits for a writer
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return from(ctx, path, f, g.o)
}

// stem returns the part of a file name that identifies the run: "3" for "ab-3.txt", "vmstat-3.log" and
// "3.perf.csv". It drops words that name a program or a kind of file.
func stem(base string) string {
	parts := strings.FieldsFunc(base, func(r rune) bool { return strings.ContainsRune("._- ", r) })
	var kept []string
	for _, w := range parts {
		switch strings.ToLower(w) {
		case "ab", "hyperfine", "bench", "benchmark", "benchmarks", "vmstat", "perf", "stat", "perfstat", "jmh",
			"osb", "result", "results", "output", "out", "stdout", "stderr", "log", "txt", "text", "json", "jsonl",
			"csv", "md", "gz", "load":
		default:
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, "-")
}
