package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session/demo"
	"kitescope/internal/table"
	"kitescope/replay"
	"kitescope/replay/layout"
)

// replayInput are the flags that select the segments to replay and the location of their files.
type replayInput struct {
	storage string
	field   string
	milvus  string
	metric  string
	replica int
	threads int
	memory  string
	cores   float64
	nodes   *cli.NodeFlags
}

func (in *replayInput) register(a *cli.App, cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&in.storage, "storage", "", "where the files are (see: help sources)")
	cli.WithSection(fl, cli.SectionReplay, func() { in.registerMore(fl) })
	in.nodes = cli.AddNodeFlags(cmd, true)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.CompleteGet(cmd, []string{"collections"}, word)
	}
}

func (in *replayInput) registerMore(fl *pflag.FlagSet) {
	fl.StringVar(&in.field, "field", "", "vector field, if there are several")
	fl.StringVar(&in.milvus, "milvus", "", "behave like this Milvus version; default: the cluster's")
	fl.StringVar(&in.metric, "metric", "", "L2, IP, COSINE, HAMMING or JACCARD, if the metadata of Milvus 2.1 has none")
	fl.IntVar(&in.replica, "replica", 0, "replica to query, in the order of replay info")
	fl.IntVar(&in.threads, "load-threads", 0, "segments to read in parallel; default: one per CPU")
	fl.Float64Var(&in.cores, "node-cores", 0,
		"cores per query node, overriding what they report: for containers with a limit")
	fl.StringVar(&in.memory, "memory-limit", "",
		"reject segments that need more memory: 16GiB; default: available memory on Linux")
}

// checkUnusedFlags returns an error if a flag has no effect.
func (in *replayInput) checkUnusedFlags(cmd *cobra.Command) error {
	if in.cores == 0 {
		return requireFlag(cmd, "node-cores")
	}
	return nil
}

// oneCollection requires exactly one argument, the collection.
func oneCollection(example string) cobra.PositionalArgs {
	return cli.Args(1, 1, "one collection", example)
}

// readLayout reads the cluster and the layout of a collection.
func (in *replayInput) readLayout(
	ctx context.Context, a *cli.App, collection string,
) (*model.Cluster, *replay.Layout, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	c, err := a.LoadLive(ctx, in.nodes, meta.Want{Parts: layout.Parts, Collection: collection, Records: true})
	if err != nil {
		return nil, nil, err
	}
	l, err := layout.New(c, layout.Options{
		Collection: collection, Field: in.field, Version: in.milvus, Metric: in.metric,
	})
	if err != nil {
		_ = a.Completeness(c) // the missing parts may explain err
		return nil, nil, err
	}
	if in.metric != "" && !strings.EqualFold(in.metric, l.Collection.Metric.String()) {
		a.Warn("--metric %s ignored: the metadata has %s", in.metric, l.Collection.Metric)
	}
	if in.replica < 0 || in.replica > 0 && in.replica >= len(l.Replicas) {
		return nil, nil, cli.Usagef("--replica must be 0 to %d, not %d", max(len(l.Replicas)-1, 0), in.replica)
	}
	for i := range l.Nodes {
		if n := &l.Nodes[i]; in.cores > 0 {
			n.Cores = in.cores
		}
	}
	return c, l, nil
}

// check returns an error if a flag is invalid, before anything is read.
func (in *replayInput) check() error {
	if !(in.cores >= 0) || math.IsInf(in.cores, 0) {
		return cli.Usagef("--node-cores must be above 0, not %g", in.cores)
	}
	if in.threads < 0 || in.threads > maxThreads {
		return cli.Usagef("--load-threads must be 1 to %d, not %d", maxThreads, in.threads)
	}
	if major, _, _ := strings.Cut(strings.TrimPrefix(in.milvus, "v"), "."); in.milvus != "" &&
		(major == in.milvus || major != "2") {
		return cli.Usagef("--milvus must be a version such as 2.3.5, not %q", in.milvus)
	}
	if in.metric != "" {
		if _, err := dist.ParseMetric(in.metric); err != nil {
			return cli.Usagef("--metric must be L2, IP, COSINE, HAMMING or JACCARD, not %q", in.metric)
		}
	}
	return nil
}

// openStorage opens the storage of the segment files: the location of --storage, or else that of the cluster's
// configuration. It also returns the location.
func (in *replayInput) openStorage(ctx context.Context, a *cli.App, l *replay.Layout) (object.Store, string, error) {
	place, keys := in.storage, a.StorageKeys()
	var store object.Store
	var err error
	switch {
	case place != "":
		store, err = object.Open(ctx, place, keys)
	case a.ReadsDemo():
		place = "the demo"
		store, err = demo.Storage(ctx)
	case l.Storage.Kind == "local" && l.Storage.Folder != "":
		place = l.Storage.Folder
		if store, err = object.Open(ctx, place, keys); err != nil {
			err = cli.WithHint(err, "the cluster keeps its files on local disk: give a copy with --storage DIR")
		}
	case l.Storage.Bucket != "":
		place = "s3://" + l.Storage.Bucket
		store, err = object.OpenS3(ctx, object.S3{
			Endpoint: l.Storage.Endpoint, Bucket: l.Storage.Bucket, Region: l.Storage.Region, Insecure: !l.Storage.TLS,
			Keys: keys,
		})
		if err != nil {
			err = cli.WithHint(err, "give another location of the files with --storage")
		}
	default:
		return nil, "",
			cli.Usage(errors.New("location of the segment files unknown"), "give the folder or bucket with --storage")
	}
	if err != nil {
		return nil, "", err
	}
	return store, place, nil
}

// loadedData is a layout with its segments in memory.
type loadedData struct {
	*replay.Loaded
	cluster *model.Cluster // nil for a file of vectors
	place   string
	file    *dataset.Set // the file of vectors that holds the segment, if any
}

// Release releases the memory of the segments and closes the file of vectors.
func (l *loadedData) Release() {
	l.Loaded.Release()
	if l.file != nil {
		l.file.Close()
	}
}

// loadSegments reads the layout and the segments. The result includes the assumptions and the missing parts;
// the caller reports them.
func (in *replayInput) loadSegments(
	ctx context.Context, a *cli.App, collection string, report progress,
) (*loadedData, error) {
	memory, err := in.memoryLimit()
	if err != nil {
		return nil, err
	}
	c, l, err := in.readLayout(ctx, a, collection)
	if err != nil {
		return nil, err
	}
	store, place, err := in.openStorage(ctx, a, l)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	located, found, err := layout.Locate(ctx, fileExists(store), l)
	if err != nil {
		return nil, err
	}
	switch {
	case len(l.Segments) == 0:
		return nil,
			cli.WithHint(fmt.Errorf("collection %s has no segments: nothing to search", l.Collection.Name),
				"insert and flush, or choose another collection")
	case !found && !anyFiles(l):
		return nil,
			cli.WithHint(fmt.Errorf("collection %s has nothing in storage: its %d segments are growing",
				l.Collection.Name, len(l.Segments)), "flush it, or wait for its first sync")
	case !found && in.storage == "" && a.ReadsDemo():
		return nil,
			cli.WithHint(fmt.Errorf("the demo has no files of %s", collection),
				"it has those of "+demo.StoredCollection)
	case !found:
		return nil,
			cli.WithHint(fmt.Errorf("%s has no files of %s", place, collection),
				"give the folder or bucket with insert_log: --storage")
	}
	data, err := replay.Load(ctx, store, located, replay.LoadOptions{
		Threads: in.threads, MemoryLimit: memory, Now: a.Now, Progress: report.load,
	})
	if err != nil {
		return nil, err
	}
	return &loadedData{Loaded: data, cluster: c, place: place}, nil
}

// anyFiles reports whether the metadata names files of any segment.
func anyFiles(l *replay.Layout) bool {
	return slices.ContainsFunc(l.Segments, func(s replay.Segment) bool { return s.Files.HasLogs() })
}

// fileExists returns a function that reports whether a store has a file of the given name, or files below it.
func fileExists(store object.Store) func(ctx context.Context, name string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		list, err := store.List(ctx, name)
		return len(list) > 0, err
	}
}

func (in *replayInput) memoryLimit() (int64, error) {
	if in.memory != "" {
		return parseSize("memory-limit", in.memory)
	}
	text, _ := os.ReadFile("/proc/meminfo") // Linux only; unknown elsewhere
	return availableIn(string(text)), nil
}

// availableIn returns MemAvailable of /proc/meminfo, the memory that is available without swapping, in bytes.
// It returns 0 if it is unknown.
func availableIn(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil || n < 0 || n > math.MaxInt64>>10 {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// absPath returns the absolute path for use in a result, so that the file is found from other folders. URLs
// are unchanged.
func absPath(path string) string {
	if path == "" || strings.Contains(path, "://") {
		return path
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// parseSize parses a number of bytes.
func parseSize(flag, text string) (int64, error) {
	n, err := table.ParseNumber(text)
	if err != nil || n <= 0 {
		return 0, cli.Usagef("--%s must be a size such as 20GiB, not %q", flag, text)
	}
	return n, nil
}
