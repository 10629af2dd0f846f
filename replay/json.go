package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"kitescope/replay/load"
)

// What a saved result begins with.
const (
	resultVersion = "kitescope/v1"
	resultKind    = "ReplayResult"
)

// maxResult bounds what is read of a file, in bytes: a sweep of 100 points over 100,000 segments is a third of it.
const maxResult = 128 << 20

// WriteResult writes a result as one JSON object, of the present version whatever r says. Keys are lower_snake; ids, seeds and
// keys of rows are strings, durations numbers of seconds to the nanosecond, times RFC 3339 in UTC; what is unknown is left
// out, lists are never null. The functions of a plan are not in it. What WriteResult wrote and ReadResult read it writes again
// byte by byte.
func WriteResult(w io.Writer, r *Result) error {
	out := &writing{}
	out.begin('{')
	f := &fields{out: out}
	api, kind, version := resultVersion, resultKind, int64(ResultVersion)
	f.text("apiVersion", &api)
	f.text("kind", &kind)
	whole(f, "version", &version)
	resultFields(f, r)
	out.end('}')
	out.text = append(out.text, '\n')
	_, err := w.Write(out.text)
	return err
}

// ReadResult reads what WriteResult wrote; keys that it does not know are ignored. Errors say what is wrong with the file, and
// where: it is something else, of a later version, damaged.
func ReadResult(r io.Reader) (*Result, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxResult+1))
	if err != nil {
		return nil, fmt.Errorf("read a replay's result: %w", err)
	}
	if len(text) > maxResult {
		return nil, fmt.Errorf("read a replay's result: it is larger than %d MiB", maxResult>>20)
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("read a replay's result: %w", notJSON(err))
	}
	var wrong error
	f := &fields{in: in, err: &wrong}
	var api, kind string
	f.text("apiVersion", &api)
	f.text("kind", &kind)
	if wrong != nil || api != resultVersion || kind != resultKind {
		return nil, fmt.Errorf("read a replay's result: apiVersion %q and kind %q were expected, %q and %q found", resultVersion, resultKind, api, kind)
	}
	var version int64
	whole(f, "version", &version)
	if wrong == nil && version > ResultVersion {
		return nil, fmt.Errorf("read a replay's result: it is of version %d, and version %d is the last that this kitescope knows", version, ResultVersion)
	}
	if wrong == nil && version < 1 {
		wrong = errors.New("version: 1 was expected, 0 found")
	}
	result := &Result{Version: int(version)}
	resultFields(f, result)
	if wrong != nil {
		return nil, fmt.Errorf("read a replay's result: %w", wrong)
	}
	return result, nil
}

// notJSON says of what json has to say that matters here.
func notJSON(err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("JSON was expected: at byte %d %w", syntax.Offset, err)
	}
	return errors.New("a JSON object was expected")
}

func resultFields(f *fields, r *Result) {
	f.text("mode", &r.Kind)
	f.time("taken", &r.Taken)
	f.text("stopped", &r.Stopped)
	f.object("setup", func(f *fields) { setupFields(f, &r.Setup) })
	f.object("coverage", func(f *fields) { coverageFields(f, &r.Cover) })
	list(f, "points", &r.Points, pointFields)
	optional(f, "recall", &r.Recall, recallFields)
	optional(f, "differences", &r.Differences, differencesFields)
	optional(f, "costs", &r.Costs, costsFields)
	list(f, "slowest", &r.Slowest, slowFields)
	f.texts("notes", &r.Notes)
}

func setupFields(f *fields, s *Setup) {
	f.text("command", &s.Command)
	f.text("program", &s.Program)
	f.text("source", &s.Source)
	f.text("storage", &s.Storage)
	f.text("target", &s.Target)
	f.text("collection", &s.Collection)
	f.text("milvus", &s.Milvus)
	f.text("metric", &s.Metric)
	whole(f, "dim", &s.Dim)
	f.text("element", &s.Element)
	f.text("log", &s.Log)
	f.text("log_format", &s.LogFormat)
	f.text("log_digest", &s.LogDigest)
	f.seed("log_seed", &s.LogSeed)
	whole(f, "queries", &s.Queries)
	f.id("replica_id", &s.Replica)
	f.object("machine", func(f *fields) {
		f.text("cpu", &s.Machine.CPU)
		known(f, "cores", &s.Machine.Cores, 0)
		f.text("os", &s.Machine.OS)
		f.text("arch", &s.Machine.Arch)
		f.text("kernels", &s.Machine.Kernels)
		f.text("go_version", &s.Machine.GoVersion)
	})
}

func coverageFields(f *fields, c *Coverage) {
	whole(f, "segments", &c.Segments)
	whole(f, "loaded", &c.Loaded)
	whole(f, "rows", &c.Rows)
	whole(f, "covered_rows", &c.Covered)
	whole(f, "deleted_rows", &c.Deleted)
	whole(f, "segments_of_unknown_rows", &c.RowsUnknown)
	list(f, "missing", &c.Missing, func(f *fields, m *Missing) {
		f.id("segment_id", &m.Segment)
		f.state("state", &m.State)
		known(f, "rows", &m.Rows, -1)
		known(f, "segment_rows", &m.Of, -1)
		f.text("reason", &m.Reason)
	})
	whole(f, "read_bytes", &c.Bytes)
	whole(f, "memory_bytes", &c.Memory)
	f.seconds("took_seconds", &c.Took)
}

func recallFields(f *fields, r *Recall) {
	whole(f, "k", &r.K)
	whole(f, "queries", &r.Queries)
	f.number("mean", &r.Mean, 0)
	f.number("low", &r.Low, 0)
	f.number("high", &r.High, 0)
	f.number("unseen_rows_share", &r.Unseen, 0)
	f.number("worst", &r.Worst, 0)
	whole(f, "worst_query", &r.WorstQuery)
	f.text("against", &r.Against)
}

func differencesFields(f *fields, d *Differences) {
	f.text("against", &d.Against)
	whole(f, "queries", &d.Queries)
	whole(f, "hits", &d.Hits)
	whole(f, "equal", &d.Equal)
	whole(f, "same_set", &d.SameSet)
	whole(f, "bit_equal", &d.BitEqual)
	counts(f, "explained", &d.Explained)
	list(f, "examples", &d.Examples, func(f *fields, d *Difference) {
		whole(f, "query", &d.Query)
		whole(f, "place", &d.Place)
		f.object("want", func(f *fields) { hitFields(f, &d.Want) })
		f.object("got", func(f *fields) { hitFields(f, &d.Got) })
		f.flag("got_none", &d.GotNone)
		f.text("reason", &d.Reason)
	})
}

func hitFields(f *fields, h *load.Hit) {
	f.rowKey(&h.Key)
	f.single("distance", &h.Distance)
}

func costsFields(f *fields, c *Costs) {
	whole(f, "queries", &c.Queries)
	f.seconds("wall_seconds", &c.Wall)
	f.seconds("reduce_seconds", &c.Reduce)
	list(f, "segments", &c.Segments, func(f *fields, s *SegmentCost) {
		f.id("segment_id", &s.Segment)
		f.text("partition", &s.Partition)
		f.text("channel", &s.Channel)
		f.state("state", &s.State)
		f.text("index", &s.Index)
		f.id("node_id", &s.Node)
		f.text("node", &s.NodeName)
		known(f, "rows", &s.Rows, -1)
		known(f, "deleted_rows", &s.Deleted, -1)
		whole(f, "queries", &s.Queries)
		f.seconds("time_seconds", &s.Time)
		whole(f, "distances", &s.Distances)
		whole(f, "brute_force", &s.BruteForce)
		known(f, "ef", &s.EF, 0)
	})
}

func slowFields(f *fields, s *SlowQuery) {
	whole(f, "request", &s.Request)
	f.seconds("took_seconds", &s.Took)
	f.seconds("queued_seconds", &s.Queued)
	list(f, "segments", &s.Segments, func(f *fields, t *SegmentTime) {
		f.id("segment_id", &t.Segment)
		f.id("node_id", &t.Node)
		f.state("state", &t.State)
		f.seconds("took_seconds", &t.Took)
		whole(f, "distances", &t.Distances)
	})
}
