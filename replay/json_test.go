package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine"
	"kitescope/internal/encode/encodetest"
	"kitescope/render/rendertest"
	"kitescope/replay"
	"kitescope/replay/load"
)

// filled returns a result with a distinct value in each field, so that fields that are not saved are detected.
func filled() *replay.Result {
	r := &replay.Result{}
	encodetest.Fill(r, fillOwn)
	r.Version = replay.ResultVersion
	return r
}

// fillOwn sets fields of types with rules of their own.
func fillOwn(at any, n int) bool {
	switch at := at.(type) {
	case *replay.State:
		*at = replay.State(n % 3)
	case *engine.Key:
		*at = engine.NumberKey(math.MaxInt64 - int64(n))
		if n%2 == 0 {
			*at = engine.TextKey(fmt.Sprintf("row-%d", n))
		}
	case *[]load.Bar:
		*at = []load.Bar{{UpTo: time.Duration(n)}, {UpTo: time.Duration(n) * time.Second, Count: int64(n)}}
	default:
		return false
	}
	return true
}

var sameResult = cmp.Options{
	cmpopts.IgnoreFields(load.Plan{}, "CPU", "Switches", "Progress", "Sink", "SinkWarmup"), cmpopts.EquateNaNs(),
	cmpopts.EquateEmpty(),
}

func saved(t testing.TB, r *replay.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := replay.WriteResult(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestResultRoundTrips(t *testing.T) {
	unknown := &replay.Result{
		Version: 1, Kind: "run",
		Cover: replay.Coverage{
			Missing: []replay.Missing{{Segment: 7, Rows: -1, State: replay.Indexed, Reason: "no such file"}},
		},
		Points: []load.Point{{Recall: -1}},
	}
	for name, r := range map[string]*replay.Result{"empty": {Version: 1}, "filled": filled(), "unknown": unknown} {
		text := saved(t, r)
		got, err := replay.ReadResult(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(r, got, sameResult); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if again := saved(t, got); again != text {
			t.Errorf("%s: written again: %s", name, cmp.Diff(text, again))
		}
		if strings.Contains(text, "null") || !json.Valid([]byte(text)) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// keyPaths collects all keys of a JSON value, with the path of their object and [] for lists.
func keyPaths(v any, path string, all map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, of := range v {
			switch path {
			case "points[].errors.", "differences.explained.":
				k = "*"
			}
			all[path+k] = true
			keyPaths(of, path+k+".", all)
		}
	case []any:
		for _, of := range v {
			keyPaths(of, strings.TrimSuffix(path, ".")+"[].", all)
		}
	}
}

const latencyKeys = "bars bars[].count bars[].up_to_seconds count max_seconds mean_seconds min_seconds p50_seconds " +
	"p90_seconds p95_seconds p999_seconds p99_seconds sd_seconds"

// wantKeys holds the keys of saved files. None may ever be renamed. New ones must be added here and to
// docs/reference/json.md.
var wantKeys = map[string]string{
	"": "apiVersion costs coverage differences kind mode notes points recall setup " +
		"slowest stopped taken version",
	"costs": "queries reduce_seconds segments wall_seconds",
	"costs.segments[]": "brute_force channel deleted_rows distances ef index node node_id partition " +
		"queries rows segment_id state time_seconds",
	"coverage": "covered_rows deleted_rows loaded memory_bytes missing read_bytes rows segments " +
		"segments_of_unknown_rows took_seconds",
	"coverage.missing[]":          "reason rows segment_id state segment_rows",
	"differences":                 "against bit_equal equal examples explained hits queries same_set",
	"differences.explained":       "*",
	"differences.examples[]":      "got got_none place query reason want",
	"differences.examples[].got":  "distance key key_text",
	"differences.examples[].want": "distance key key_text",
	"points[]": "asked cpu_per_query_seconds distances_per_query ef errors failed failed_latency k late latency " +
		"notes nprobe open_sessions plan qps qps_high " +
		"qps_low queries recall recall_high recall_low rounds served stopped switches_per_query took_seconds unsent " +
		"voluntary_per_query involuntary_per_query waited_latency",
	"points[].errors":         "*",
	"points[].latency":        latencyKeys,
	"points[].failed_latency": latencyKeys,
	"points[].waited_latency": latencyKeys,
	"points[].plan": "deadline_seconds poisson rate requests round_seconds rounds seed sessions speed " +
		"timed total warmup_seconds",
	"points[].rounds[]":         "asked cpu_seconds cut failed latency qps queries tail took_seconds",
	"points[].rounds[].latency": latencyKeys,

	"points[].served":                  "client_seconds phases processes requests took_seconds",
	"points[].served.processes[]":      "cores cpu_seconds here idle_cores name node_id role",
	"points[].served.phases[]":         "estimate name nodes parent role wait_seconds",
	"points[].served.phases[].nodes[]": "calls each_seconds high_seconds low_seconds node_id",

	"recall": "against high k low mean queries worst worst_query unseen_rows_share",
	"setup": "collection command dim element log log_digest log_format log_seed machine metric milvus " +
		"program queries replica_id source storage target",
	"setup.machine":        "arch cores cpu go_version kernels os",
	"slowest[]":            "request segments took_seconds",
	"slowest[].segments[]": "distances node_id segment_id state took_seconds",
}

func TestResultKeys(t *testing.T) {
	r := filled()
	for i := range r.Differences.Examples { // one key of each kind
		r.Differences.Examples[i].Want.Key = []engine.Key{engine.NumberKey(1), engine.TextKey("a")}[i]
		r.Differences.Examples[i].Got.Key = []engine.Key{engine.NumberKey(1), engine.TextKey("a")}[i]
	}
	var v any
	if err := json.Unmarshal([]byte(saved(t, r)), &v); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	keyPaths(v, "", got)
	want := map[string]bool{}
	for path, names := range wantKeys {
		for name := range strings.FieldsSeq(names) {
			want[strings.TrimPrefix(path+"."+name, ".")] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rendertest.Golden(t, "result.json", []byte(saved(t, r))) // docs/reference/json.md is compared with this file
}

// TestReadResultInvalid checks invalid files of results. The tests of internal/encode cover the rest.
func TestReadResultInvalid(t *testing.T) {
	good := saved(t, filled())
	change := func(old, by string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in the file", old)
		}
		return strings.Replace(good, old, by, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"other kind": {
			`{"apiVersion":"kitescope/v1","kind":"SegmentList","items":[]}`, `found "kitescope/v1" and "SegmentList"`,
		},
		"state":         {change(`"state":"growing"`, `"state":"asleep"`), "expected a segment's state"},
		"negative bars": {change(`"bars":[{"up_to_seconds":`, `"bars":[{"up_to_seconds":-1,"x":`), "bars in order"},
		"points":        {change(`"points": [`, `"points": [{},`), "points[0].plan is missing"},
	} {
		_, err := replay.ReadResult(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "read a replay's result: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, not %q", name, err, c.want)
		}
	}
	if _, err := replay.ReadResult(iotest.ErrReader(errors.New("disk gone"))); err == nil ||
		!strings.Contains(err.Error(), "disk gone") {
		t.Error(err)
	}
}

// TestReadResultUnknownKeys checks that keys of later versions are ignored anywhere.
func TestReadResultUnknownKeys(t *testing.T) {
	r := filled()
	later := strings.ReplaceAll(saved(t, r), "{", `{"added_later":{"a":[null,1.5]},`)
	// Errors and explanations are objects with a count by text. No keys can be added to them.
	for _, key := range []string{`"errors":`, `"explained":`} {
		later = strings.ReplaceAll(later, key+`{"added_later":{"added_later":{"a":[null,1.5]},"a":[null,1.5]},`,
			key+"{")
		later = strings.ReplaceAll(later, key+`{"added_later":{"a":[null,1.5]},`, key+"{")
	}
	got, err := replay.ReadResult(strings.NewReader(later))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got, sameResult); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadResult(f *testing.F) {
	whole := []byte(saved(f, filled()))
	f.Add(whole)
	f.Add([]byte(saved(f, &replay.Result{})))
	f.Add(bytes.Replace(slices.Clone(whole), []byte(`"version": 1`), []byte(`"version": 9`), 1))
	f.Add([]byte(`{"apiVersion":"kitescope/v1","kind":"ReplayResult","version":1,"points":[{},{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := replay.ReadResult(bytes.NewReader(text))
		if err != nil {
			return
		}
		first := saved(t, r)
		again, err := replay.ReadResult(strings.NewReader(first))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if second := saved(t, again); second != first {
			t.Errorf("written again: %s", cmp.Diff(first, second))
		}
	})
}

// TestInvalidStates checks that an invalid state has a word, and that reading it is refused.
func TestInvalidStates(t *testing.T) {
	bad := replay.State(7)
	if bad.String() != "unknown" || bad.Word() != "unknown" {
		t.Errorf("%s, %s", bad.String(), bad.Word())
	}
	text := saved(t, &replay.Result{Cover: replay.Coverage{Missing: []replay.Missing{{Segment: 1, State: bad}}}})
	_, err := replay.ReadResult(strings.NewReader(text))
	if err == nil || !strings.Contains(err.Error(), "expected a segment's state") {
		t.Errorf("%v", err)
	}
}
