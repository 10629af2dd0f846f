package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/target"
)

// engineCommand returns the command "engine", without its subcommands.
func engineCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "engine",
		Long: `Answer queries like hnswlib, faiss or a Milvus node, from the same files: the same
ids and distances, without Python or a cluster. Each library has one order of adding
up floats: distances of its other builds differ by a few units in the last place.

FILE is an index file of hnswlib or faiss; the folder of an index in Milvus's storage
(index_files/BUILD/VERSION/PARTITION/SEGMENT) or a file in it; or a file of vectors,
searched row by row. VECTORS and QUERIES are .npy, .fvecs, .bvecs or .parquet
(FILE#COLUMN).`,
		Example: `  kitescope engine info index_files/443/1/100/200
  kitescope engine build base.npy --m 16 --ef-construction 200 -O base.hnsw
  kitescope engine search base.hnsw --queries q.npy --k 10 --truth truth.ivecs
  kitescope engine bench base.hnsw --queries q.npy --ef 16,32,64 --threads 1,2`,
	}
}

// engineCommands returns the subcommands of "engine".
func engineCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "info", Short: "Show an index file or a log of Milvus's storage", Build: engineInfo},
		{Name: "search", Short: "Find neighbours of queries in an index file", Build: engineSearch},
		{Name: "build", Short: "Build an HNSW index of vectors, in hnswlib's format", Build: engineBuild},
		{Name: "verify", Short: "Check that an index file is sound and holds these vectors", Build: engineVerify},
		{Name: "bench", Short: "Measure queries per second, latency and recall", Build: engineBench},
	}
}

// engineFlags are the flags that several subcommands of "engine" share.
type engineFlags struct {
	report  cli.ReportFlags
	metric  string
	queries string
	truth   string

	k           int
	lib         string
	threads     int
	exclude     string
	searchFlags paramFlags
	sparse      sparseFlags
}

func (f *engineFlags) registerMetric(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.metric, "metric", "", "l2, ip, cosine, hamming, jaccard, bm25, if not in the file")
	_ = cmd.RegisterFlagCompletionFunc("metric",
		cli.FixedCompletions("l2", "ip", "cosine", "hamming", "jaccard", "bm25"))
}

// registerSearch adds the flags of a search.
func (f *engineFlags) registerSearch(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.queries, "queries", "", ".npy, .fvecs, .bvecs, .parquet, .csr (required)")
	fl.StringVar(&f.truth, "truth", "", "ids of true neighbours (.ivecs, .npy), or exact")
	fl.IntVarP(&f.k, "k", "k", 10, "number of neighbours")
	fl.StringVar(&f.lib, "library", "native", strings.Join(engine.Libraries(), ", "))
	f.sparse.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("library", cli.FixedCompletions(engine.Libraries()...))
}

// hint returns the properties of a file that the flags specify.
func (f *engineFlags) hint() (target.Hint, error) {
	if f.metric == "" {
		return target.Hint{}, nil
	}
	m, err := dist.ParseMetric(f.metric)
	if err != nil {
		return target.Hint{}, cli.Usage(fmt.Errorf("--metric: %w", err), "")
	}
	return target.Hint{Metric: &m}, nil
}

// options returns the options of a search by the flags.
func (f *engineFlags) options() (target.Options, error) {
	var o target.Options
	if f.queries == "" {
		return o, cli.Usage(errors.New("no queries"), "give their file: --queries q.npy")
	}
	var ok bool
	if o.Library, ok = engine.ParseLibrary(f.lib); !ok {
		return o, cli.Usagef("--library must be %s, not %q", strings.Join(engine.Libraries(), ", "), f.lib)
	}
	var err error
	if o.BM25, err = f.sparse.options(); err != nil {
		return o, err
	}
	return o, nil
}

// params returns the parameters of each query.
func (f *engineFlags) params() (index.Params, error) {
	p := index.Params{K: f.k}
	if f.k < 1 || f.k > target.MaxK {
		return p, cli.Usagef("--k must be 1 to %d, not %d", target.MaxK, f.k)
	}
	var err error
	p.SearchParams, err = f.searchFlags.read(false)
	return p, err
}

// checkParams returns an error for a parameter that does not apply to the index, because the results would not match
// the request.
func checkParams(t *target.Target, p *index.Params) error {
	name, of := t.Unused(p)
	if name == "" {
		return nil
	}
	return cli.Usage(fmt.Errorf("--%s applies to %s: %s is %s", name, of, t.File.Name, t.File.Kind()), "omit it")
}

// openTarget opens the file at path and writes the assumptions about it to stderr.
func (f *engineFlags) openTarget(ctx context.Context, a *cli.App, path string) (*target.Target, error) {
	hint, err := f.hint()
	if err != nil {
		return nil, err
	}
	t, err := target.Open(ctx, path, hint)
	if err != nil {
		return nil, err
	}
	for _, n := range t.Notes {
		a.Note("%s: %s", path, n)
	}
	return t, nil
}

// openVectors opens a file of vectors.
func openVectors(ctx context.Context, a *cli.App, path string) (*dataset.Set, error) {
	set, err := dataset.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if set.Vectors == nil {
		set.Close()
		return nil, fmt.Errorf("read %s: %w", path, set.NoVectors())
	}
	for _, n := range target.NoteSet(set) {
		a.Note("%s: %s", path, n)
	}
	return set, nil
}

// exactTruth is the value of --truth that computes the true neighbours here.
const exactTruth = "exact"

// trueNeighbours returns the true neighbours of the queries, one slice per query. It returns nil without
// --truth.
func (f *engineFlags) trueNeighbours(
	ctx context.Context, t *target.Target, queries *engine.Vectors, o target.Options, p index.Params,
) ([][]int64, error) {
	switch f.truth {
	case "":
		return nil, nil
	case exactTruth:
		return t.Exact(ctx, queries, p, o, runtime.GOMAXPROCS(0))
	}
	set, err := dataset.Open(ctx, f.truth)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	if set.IDs == nil {
		return nil, fmt.Errorf("read %s: it has vectors, expected ids of neighbours", f.truth)
	}
	if len(set.IDs) < queries.Rows {
		return nil,
			fmt.Errorf("read %s: neighbours of %d queries, but %s has %d", f.truth, len(set.IDs), f.queries,
				queries.Rows)
	}
	return set.IDs, nil
}

// numberList parses a list of numbers, e.g. "16,32,64". The numbers are at least 1.
func numberList(flag, text string) ([]int, error) {
	var list []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, cli.Usagef("--%s must be comma-separated numbers of 1 or more, not %q", flag, text)
		}
		list = append(list, n)
	}
	return list, nil
}

// maxThreads is the maximum of --threads.
const maxThreads = 4096

// threadsOf returns the number of threads for a flag value n: 0 means one per CPU.
func threadsOf(n int) (int, error) {
	if n < 0 || n > maxThreads {
		return 0, cli.Usagef("--threads must be 1 to %d, or 0 for one per CPU, not %d", maxThreads, n)
	}
	if n == 0 {
		return runtime.GOMAXPROCS(0), nil
	}
	return n, nil
}
