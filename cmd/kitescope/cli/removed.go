package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
)

const (
	copyBucket = "copy the bucket once (mc mirror MINIO/BUCKET/PREFIX DIR) and give --storage DIR"
	compileLog = "go build -gcflags=-m=2 -pgo=FILE prints how the compiler uses a profile"
	buildInfo  = "verify reads the build information of the binary; kitescope pgo trial measures the effect"
	replayRows = "such an index is not searched; kitescope replay run compares the vectors of its insert logs row " +
		"by row"
	queryCosts  = "kitescope replay reports the cost of a query; get metrics shows counters"
	faissBuilds = "engine build makes HNSW files of hnswlib; in Python faiss.index_factory and faiss.write_index " +
		"make others"
	mouse       = "the UI leaves the mouse to the terminal, which selects text with it"
	localNames  = "name frames first: PPROF_BINARY_PATH=FOLDER go tool pprof -proto FILE > NAMED.pb.gz"
	pullFirst   = "pull first: kitescope profile pull --header-file FILE URL -O FOLDER"
	pprofTags   = "go tool pprof has -tagfocus and -tagroot for labels"
	exactSparse = "all lists are scored in full, which finds the same rows"
	trueRecall  = "engine search --truth exact measures recall, of real queries"
	nearestK    = "search for the nearest --k, and filter by distance: -o csv"
	filterLogs  = "a query log has filters, and kitescope replay run evaluates them; --exclude leaves out ids"
)

// removedFlags maps removed flags to the hint of the error. A key is "COMMAND FLAG", with the top-level
// command of the flag, or the name of a removed global flag.
var removedFlags = map[string]string{
	"compare column": "rename the columns in the header: run, pair, metric, unit, value, before, after",
	"engine accumulation": "floats are added up in one order for each --library; distances of other builds differ " +
		"in the last bits",
	"engine algorithm":       exactSparse,
	"engine codes":           "8-bit codes are built where they pay off; results are the same",
	"engine bits":            faissBuilds,
	"engine entry":           "results are those of a node that has not run the queries before",
	"engine exactly":         "8-bit codes are built where they pay off; results are the same",
	"engine max-score-ratio": exactSparse,
	"engine fields":          filterLogs,
	"engine filter":          filterLogs,
	"engine format":          faissBuilds,
	"engine index":           faissBuilds,
	"engine min-recall":      trueRecall,
	"engine nlist":           faissBuilds,
	"engine noise":           trueRecall,
	"engine parts":           faissBuilds,
	"engine radius":          nearestK,
	"engine range-filter":    nearestK,
	"engine rbq-bits-query":  replayRows,
	"engine refine-k":        replayRows,
	"engine sample":          trueRecall,
	"engine reorder-k":       replayRows,
	"compare plot": "-o html has a picture of all runs; VectorDBBench and ann-benchmarks draw recall " +
		"curves themselves",
	"compare no-mouse": mouse,
	"demo no-mouse":    mouse,
	"pgo no-mouse":     mouse,
	"profile no-mouse": mouse,
	"replay no-mouse":  mouse,
	"ui no-mouse":      mouse,
	"pgo bench": "trial takes benchmarks by --build 'go test -c {pgo} -o {bin} ./codec' and --load " +
		"'{bin} -test.bench=.'",
	"pgo benchtime":          "-test.benchtime=200x in --load",
	"pgo control":            buildInfo,
	"pgo dir":                compileLog,
	"pgo min-overlap":        "profiles are not compared with each other; kitescope profile diff does",
	"pgo package":            compileLog,
	"pgo weight":             "profiles are weighted by their samples",
	"pgo write":              "copy default.pgo and default.pgo.json from the folder of the trial",
	"pgo whole-stacks":       "kitescope profile flame shows the profiles themselves",
	"pgo running":            buildInfo,
	"profile O":              "write the samples to a file: -o jsonl > usage.jsonl",
	"profile counter":        queryCosts,
	"profile out":            "write the samples to a file: -o jsonl > usage.jsonl",
	"profile queries":        queryCosts,
	"replay save":            "use --out",
	"replay storage":         "kitescope diagnose --storage checks that the files exist, and replay run reads them",
	"tree dropped":           "use --all",
	"verbose":                "--debug logs each call",
	"replay algorithm":       exactSparse,
	"replay cache":           copyBucket,
	"replay cache-limit":     copyBucket,
	"replay calls":           "replay whatif --calibrate measures call costs from the load itself",
	"replay check":           "replay whatif is checked against a live run: --calibrate",
	"replay concurrency":     "replay whatif predicts one load: --at SESSIONS or --rate",
	"replay cpu-period":      "--node-cores limits the CPU of a node",
	"replay max-score-ratio": exactSparse,
	"replay ef":              "replay plot draws all points; replay show --where ef=N lists some",
	"replay sessions":        "replay plot draws all points; replay show --where sessions=N lists some",
	"replay title":           "the title is the collection and the kind of plot",
	"replay rbq-bits-query":  replayRows,
	"replay refine-k":        replayRows,
	"replay reorder-k":       replayRows,
	"replay scheduler":       "replay whatif models the queues of nodes",

	"diagnose symbols":    localNames,
	"pgo header-file":     pullFirst,
	"pgo symbols":         localNames,
	"profile column":      "give each side as a file of its own to kitescope profile diff",
	"profile dark":        "the page follows the colours of the browser: -o html",
	"profile demangle":    "names are as go tool pprof shows them",
	"profile effect":      "--where 'flat_percent>1' leaves out small changes",
	"profile header-file": pullFirst,
	"profile label":       pprofTags,
	"profile level": "a change is noise at P of 0.01 or more; --where 'flat_p_corrected<0.001' is " +
		"stricter",
	"profile mean":                 "go tool pprof -mean",
	"profile min-share":            "the page omits frames too small to see",
	"profile relative":             "the page colours by change of the total or of each frame: -o html",
	"profile relative-percentages": "go tool pprof -relative_percentages",
	"profile show-from":            "go tool pprof -show_from",
	"profile subtract":             "go tool pprof -base",
	"profile symbols":              localNames,
	"profile tag":                  pprofTags,
	"profile threads":              pprofTags,
	"profile upright":              "the page can be flipped: -o html",
	"profile vanished":             "frames that vanished are always shown",
	"profile weight-by":            "--sample samples counts samples",
	"profile width":                "an SVG scales",
}

// removedCommands maps the path of a removed command to the hint of the error.
var removedCommands = map[string]string{
	"profile nodes": "profile top --by node adds up nodes, profile watch measures them, and diagnose judges their " +
		"profiles",
	"profile peek": "profile flame shows callers and callees of a function (c); profile merge and go tool pprof " +
		"-peek print them",
	"profile share": "profile top --focus REGEX shows the share of matching stacks",
	"profile trend": "profile diff compares two rounds of a record",
	"profile web":   "profile merge FILE -O FILE.pb.gz, then go tool pprof -http : FILE.pb.gz",
}

// replacement returns the hint for a removed flag of a command, or "" if the flag was not removed.
func replacement(cmd *cobra.Command, flag string) string {
	group, _, _ := strings.Cut(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), " ")
	return cmp.Or(removedFlags[group+" "+flag], removedFlags[flag])
}
