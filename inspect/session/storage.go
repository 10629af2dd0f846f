package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/engine/binlog"
	"kitescope/engine/object"
	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Limits of a check of the storage. Parts that were skipped are reported.
const (
	maxListings     = 1000
	maxOpened       = 4000
	storageParallel = 8
	storageTimeout  = 30 * time.Second
	// rootTries is the approximate number of segments, spread over all, that are tried to find the root of the
	// files.
	rootTries = 6
)

// noFilesError is returned if the storage is readable but has no files of the tried segments. Its value is their
// number.
type noFilesError int

func (n noFilesError) Error() string {
	return fmt.Sprintf("all files of %d checked segments are missing", int(n))
}

// runsLocally reports whether a process of a live cluster that responded runs on this machine.
func runsLocally(c *model.Cluster) bool {
	own, err := net.InterfaceAddrs()
	if err != nil || c.Runtime == nil || c.Origin.Kind != "etcd" {
		return false
	}
	for _, n := range c.Runtime.Nodes {
		host, _, err := net.SplitHostPort(n.Address)
		ip := net.ParseIP(host)
		if err != nil || ip == nil || n.Outcome != model.Answered {
			continue
		}
		if slices.ContainsFunc(own, func(a net.Addr) bool { x, ok := a.(*net.IPNet); return ok && x.IP.Equal(ip) }) {
			return true
		}
	}
	return false
}

// CheckStorage checks that the files listed in the metadata exist. If place cannot be opened, that becomes a
// problem of the result, because other checks still work. Only a place that does not exist is an error
// (fs.ErrNotExist), unless it is the cluster's own storage, which is then reported as lost.
func CheckStorage(ctx context.Context, place string, keys object.Keys, c *model.Cluster) (*model.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	store, err := object.Open(ctx, place, keys)
	here := runsLocally(c)
	if errors.Is(err, fs.ErrNotExist) && c.ConfiguredStorage().Matches(place, here) {
		return c.WithStorage(&model.Storage{
			Location: redact.Text(place), Problem: "no such folder", Lost: true, Local: here,
			Segments: len(expectedSegments(c)),
		}), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the storage: %w", err)
	}
	if err != nil {
		return c.WithStorage(&model.Storage{
			Location: redact.Text(place), Problem: "it cannot be opened: " + redact.Text(err.Error()),
		}), nil
	}
	defer store.Close()
	facts := scanStorage(ctx, store, c)
	facts.Location, facts.DiskSpace, facts.Local = redact.Text(place), diskSpace(place), here
	if facts.Lost && !c.ConfiguredStorage().Matches(place, here) {
		facts.Problem += ": another cluster's folder, not the folder with insert_log, or everything is lost"
	}
	return c.WithStorage(facts), nil
}

// isLoss reports whether err means that the storage was reached but its files or bucket are missing.
func isLoss(err error) bool {
	_, none := errors.AsType[noFilesError](err)
	return none || errors.Is(err, object.ErrNoBucket)
}

// expectedFolder holds the expected files of a folder in the storage.
type expectedFolder struct {
	path  string
	files []model.MissingFiles // for insert logs one per field, each in its own folder below path
	// manifest is the path of the manifest that lists the files instead (storage version 3), or "".
	manifest        string
	unknownLocation error // reason why the location is unknown
}

// expectedSegment holds the expected folders of a segment.
type expectedSegment struct {
	segment *model.Segment
	urgency int
	folders []expectedFolder
}

// storageCheck is the state of a check of the storage.
type storageCheck struct {
	store object.Store
	root  string

	mu           sync.Mutex
	listingsLeft int // listings that may still be made
	opensLeft    int // files that may still be opened
	unopened     int // sets of files that were not opened because of that limit
	out          *model.Storage
}

func scanStorage(ctx context.Context, store object.Store, c *model.Cluster) *model.Storage {
	wanted := expectedSegments(c)
	l := &storageCheck{
		store: store, listingsLeft: maxListings, opensLeft: maxOpened, out: &model.Storage{Segments: len(wanted)},
	}
	if len(wanted) == 0 {
		return l.out
	}
	if err := l.findRoot(ctx, c, wanted); err != nil {
		l.out.Problem, l.out.Lost = err.Error(), isLoss(err)
		return l.out
	}
	free := make(chan struct{}, storageParallel)
	var wg sync.WaitGroup
	for i := range wanted {
		if !l.reserveListings(len(wanted[i].folders)) {
			l.limit(fmt.Sprintf("limit of %d listed folders reached", maxListings))
			break
		}
		free <- struct{}{}
		if ctx.Err() != nil {
			l.limit(fmt.Sprintf("time limit of %s reached", storageTimeout))
			break
		}
		wg.Go(func() {
			defer func() { <-free }()
			l.segment(ctx, &wanted[i])
		})
	}
	wg.Wait()
	if l.unopened > 0 {
		l.out.Unseen = append(l.out.Unseen, model.Skipped{
			What:   fmt.Sprintf("whether files in %d folders are truncated", l.unopened),
			Reason: fmt.Sprintf("limit of %d opened files reached", maxOpened),
		})
	}
	slices.SortFunc(l.out.Missing, func(a, b model.MissingFiles) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Build, b.Build))
	})
	slices.SortFunc(l.out.Unseen, func(a, b model.Skipped) int { return strings.Compare(a.What, b.What) })
	return l.out
}

func (l *storageCheck) reserveListings(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listingsLeft -= n
	return l.listingsLeft >= 0
}

func (l *storageCheck) limit(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Limit = cmp.Or(l.out.Limit, why)
}

// findRoot finds the root path of the files. It tries the path of the configuration, none, and Milvus's default
// "files".
func (l *storageCheck) findRoot(ctx context.Context, c *model.Cluster, wanted []expectedSegment) error {
	roots := []string{c.ConfiguredStorage().Root, "", "files"}
	step := max(1, len(wanted)/rootTries)
	tried := 0
	var last error
	for i := 0; i < len(wanted); i += step {
		if slices.ContainsFunc(wanted[i].folders, func(f expectedFolder) bool { return f.unknownLocation == nil }) {
			tried++
		}
		for k, root := range roots {
			if slices.Contains(roots[:k], root) {
				continue
			}
			for _, f := range wanted[i].folders {
				if f.unknownLocation != nil {
					continue
				}
				files, err := l.list(ctx, path.Join(root, f.path))
				if err != nil {
					last = err
				}
				if len(files) > 0 {
					l.root = root
					return nil
				}
			}
		}
	}
	if last != nil {
		return fmt.Errorf("it cannot be listed: %w", last)
	}
	if tried == 0 { // the records of all tried segments have no location
		return nil
	}
	return noFilesError(tried)
}

// list returns the files below a folder, or none if it does not exist.
func (l *storageCheck) list(ctx context.Context, folder string) ([]object.File, error) {
	files, err := l.store.List(ctx, folder+"/")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// segment checks the files of a segment.
func (l *storageCheck) segment(ctx context.Context, w *expectedSegment) {
	var missing []model.MissingFiles
	for _, f := range w.folders {
		if f.unknownLocation != nil {
			l.addUnseen(w.segment, f.unknownLocation)
			return
		}
		files, err := l.list(ctx, path.Join(l.root, f.path))
		if err != nil && ctx.Err() != nil {
			l.limit(fmt.Sprintf("time limit of %s reached", storageTimeout))
			return
		}
		if err != nil {
			l.addUnseen(w.segment, err)
			return
		}
		if f.manifest != "" {
			lost, err := l.compareManifest(ctx, w.segment, &f, files)
			if err != nil {
				l.addUnseen(w.segment, err)
				return
			}
			missing = append(missing, lost...)
		}
		for _, x := range f.files {
			x.Path = path.Join(l.root, x.Path)
			var there []object.File
			for _, file := range files {
				if file.Size > 0 && strings.HasPrefix(file.Name, x.Path+"/") {
					there, x.Size = append(there, file), x.Size+file.Size
				}
			}
			if x.Found = len(there); x.Found >= x.Want {
				if x.Bytes, err = l.writtenSize(ctx, there); err != nil {
					l.addUnseen(w.segment, err)
					return
				}
			}
			if x.Found < x.Want || x.Truncated() {
				missing = append(missing, x)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Checked++
	l.out.Missing = append(l.out.Missing, missing...)
}

func (l *storageCheck) addUnseen(s *model.Segment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Unseen = append(l.out.Unseen, model.Skipped{What: "files of segment " + s.ID.String(), Reason: err.Error()})
}

// writtenSize returns the total size of files in bytes according to their own headers. A file without a size counts
// with its actual size. It returns 0 if too many files were opened already.
func (l *storageCheck) writtenSize(ctx context.Context, files []object.File) (sum int64, err error) {
	l.mu.Lock()
	l.opensLeft -= len(files)
	if l.opensLeft < 0 {
		l.unopened++
	}
	shut := l.opensLeft < 0
	l.mu.Unlock()
	if shut {
		return 0, nil
	}
	for _, file := range files {
		n, err := l.fileWrittenSize(ctx, file)
		if err != nil {
			return 0, err
		}
		sum += max(n, file.Size)
	}
	return sum, nil
}

func (l *storageCheck) fileWrittenSize(ctx context.Context, file object.File) (int64, error) {
	r, err := l.store.Open(ctx, file.Name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return binlog.DeclaredSize(r, r.Size())
}

// expectedSegments returns the files that the metadata lists for each flushed segment, sorted by urgency and newest
// first.
func expectedSegments(c *model.Cluster) []expectedSegment {
	var list []expectedSegment
	for _, s := range c.Segments {
		collection := c.Collection(s.Collection)
		if s.State != model.SegmentFlushed || s.Fake || s.Invisible || collection == nil || collection.Dropped() {
			continue
		}
		if folders := foldersOf(c, s); len(folders) > 0 {
			list = append(list, expectedSegment{s, urgencyOf(c, s), folders})
		}
	}
	slices.SortStableFunc(list, func(a, b expectedSegment) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), -cmp.Compare(a.segment.ID, b.segment.ID))
	})
	return list
}

// urgencyOf returns the urgency of a segment: 0 if it is being loaded, 1 if it is loaded and no node serves it, 2
// if it waits for an index, 3 if it is loaded, 4 otherwise.
func urgencyOf(c *model.Cluster, s *model.Segment) int {
	load := c.LoadState(s.Collection)
	waits := slices.ContainsFunc(s.Indexes, func(x model.SegmentIndex) bool {
		return !x.Deleted && x.State != model.IndexFinished
	})
	switch {
	case load != nil && load.Status == "Loading":
		return 0
	case load != nil && c.Runtime != nil && len(c.Runtime.Served(s.ID)) == 0:
		return 1
	case waits:
		return 2
	case load != nil:
		return 3
	}
	return 4
}

// foldersOf returns the expected folders of a segment. It names them as Milvus does in pkg/util/metautil
// (binlog.go, segment_index.go).
func foldersOf(c *model.Cluster, s *model.Segment) []expectedFolder {
	part := fmt.Sprintf("%s/%s/%s", s.Collection, s.Partition, s.ID)
	insert, deltas := expectedFolder{path: "insert_log/" + part}, expectedFolder{path: "delta_log/" + part}
	for _, f := range s.Logs {
		x := model.MissingFiles{Segment: s.ID, Collection: s.Collection, Want: int(f.Files)}
		switch {
		case f.Files <= 0:
		case f.Kind == model.InsertLog:
			x.Kind, x.Field, x.Path = "insert log", f.Field, insert.path+"/"+f.Field.String()
			insert.files = append(insert.files, x)
		case f.Kind == model.DeltaLog:
			x.Kind, x.Path = "delta log", deltas.path
			deltas.files = append(deltas.files, x)
		}
	}
	list := slices.DeleteFunc([]expectedFolder{insert, deltas},
		func(f expectedFolder) bool { return len(f.files) == 0 })
	if s.Details != nil && s.Details.ManifestPath != "" {
		list = []expectedFolder{manifestFolder(s)}
	}
	for i := range s.Indexes {
		x := &s.Indexes[i]
		if x.Deleted || x.Legacy || x.State != model.IndexFinished || x.Files <= 0 {
			continue
		}
		at := x.Folder(s.Partition, s.ID)
		want := model.MissingFiles{
			Segment: s.ID, Collection: s.Collection, Kind: "index", Index: x.Index, Build: x.Build, Path: at,
			Want: int(x.Files),
		}
		if index := c.Index(x.Index); index != nil {
			if index.Deleted {
				continue
			}
			want.Field = index.Field
		}
		list = append(list, expectedFolder{path: at, files: []model.MissingFiles{want}})
	}
	return list
}
