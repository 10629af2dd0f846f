package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"kitescope/internal/hints"
	"kitescope/profile"
)

var packers = map[string]func(t testing.TB, text []byte) []byte{
	"gzip": func(t testing.TB, text []byte) []byte {
		t.Helper()
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	},
	"zstd": func(t testing.TB, text []byte) []byte {
		t.Helper()
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(text, nil)
	},
}

// overflowing returns a pprof file whose values add up to more than 64 bits can hold.
func overflowing(t *testing.T) string {
	t.Helper()
	b := profile.NewBuilder(samplesType)
	for name, v := range map[string]int64{"a": math.MaxInt64, "b": -1} {
		if err := b.Sample([]uint32{b.Frame(name, profile.NoMapping)}, []int64{v}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := b.Profile().Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestRefused checks that a file that is not a profile is rejected with a one-line error and a hint.
func TestRefused(t *testing.T) {
	pack := func(b []byte) []byte { return packers["gzip"](t, b) }
	for name, c := range map[string]struct{ data, message, hint string }{
		"nothing":            {"", "the file is empty", ""},
		"blanks":             {" \n\t\n", "only white space", ""},
		"perf's own data":    {"PERFILE2\x68\x00\x00", "perf's binary data", "perf script -i FILE > FILE.txt"},
		"xz":                 {magicXz + "\x00\x01", "compressed with xz", "xz -d FILE"},
		"zip":                {"PK\x03\x04\x14", "zip archive", "unzip FILE"},
		"a program":          {"\x7fELF\x02\x01\x01\x00", "program", ""},
		"a trace of Go":      {"go 1.22 trace\x00\x00\x00", "execution trace", "go tool trace"},
		"goroutines as text": {"goroutine 1 [running]:\nmain.main()\n", "dump of goroutines", "debug"},
		"heap as text":       {"heap profile: 1: 2 [3: 4] @ heap/1048576\n", "heap profile of Go as text", "debug"},
		"a web page":         {"<!DOCTYPE html>\n<html>", "web page", ""},
		"busy": {
			"Could not enable CPU profiling: cpu profiling already in use\n", "another CPU profile was running",
			"again",
		},
		"a trace of Chrome": {`{"traceEvents": [{"ph": "X"}]}`, "Chrome and Node.js traces", "speedscope"},
		"other JSON":        {`{"a": 1}`, "JSON format is unknown", "speedscope"},
		"prose": {
			"It was the best of times,\nit was the worst of times.\n", "unknown format", "perf script",
		},
		"a log": {
			strings.Repeat("2026-11-20 INFO started\n", 3) + "port 80\n", "not folded stacks", "semicolons",
		},
		"a difference":     {"main;a 1 2\nmain;b 3 4\n", "difference of two profiles", "profile diff"},
		"UTF-16":           {"\xff\xfem\x00a\x00;\x00b\x00 \x005\x00\n\x00", "UTF-16", "iconv"},
		"compressed twice": {string(pack(pack([]byte("main;a 1\n")))), "compressed twice", "gunzip"},
		"values beyond 64": {overflowing(t), "add up to more than 64 bits", "pull it again"},
		"broken JSON":      {`{"profiles": [],, }`, "the JSON is broken at byte", ""},
		"fractions":        {"main;a 0.5\nmain;b 1.25\n", "line 1: the count 0.5 is not a whole number", "awk"},
		"a huge count":     {"main;a 99999999999999999999\n", "line 1: the count", ""},
		"a huge sum":       {"main;a 9223372036854775807\nmain;b 1\n", "line 2: the values add up", ""},
		"a cut gzip":       {"\x1f\x8b\x08\x00", "its compressed data is cut", "again"},
		"grouped events": {
			"# Samples: 7  of events 'a, b'\n# Overhead  Symbol\n# ........  ......\n    20.00%  10.00%  [.] f\n",
			"several events in a row", "--no-group",
		},
		"a table of nothing": {
			"# Samples: 0  of event 'a'\n# Overhead  Symbol\n# ........  ......\n", "the table has no rows",
			"perf report",
		},
		"no addresses": {
			"x 1 2.000000: 3 cycles: \n\nx 1 2.000000: 3 cycles: \n\n", "no sample has an address",
			"perf script -F +ip,sym,dso",
		},
		"records alone":   {"x 1 2.000000: PERF_RECORD_COMM: x:1/1\n", "it has no samples", "perf record -g"},
		"speedscope, cut": {`{"shared": {"frames": [{"name": "a"}`, "cut in the middle", ""},
		"speedscope, unit": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"miles","samples":[[0]],"weights":[1]}]}`,
			`unknown unit "miles"`, "",
		},
		"speedscope, frame": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"none","samples":[[1]],"weights":[1]}]}`,
			"profile 1: a stack has frame 1, but there are 1", "",
		},
		"speedscope, weights": {
			`{"shared":{"frames":[]},"profiles":[{"type":"sampled","unit":"none","samples":[[]],"weights":[]}]}`,
			"1 samples and 0 weights", "",
		},
		"speedscope, events": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","unit":"none","events":[{"type":"C","frame":0,"at":1}]}]}`,
			"event 1 of type \"C\" does not close", "",
		},
		"speedscope, time": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","unit":"none","events":[{"type":"O","frame":0,"at":2},{"type":"C","frame":0,"at":1}]}]}`,
			"event 2 is earlier", "",
		},
		"speedscope, open": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","unit":"none","events":[{"type":"O","frame":0,"at":2}]}]}`,
			"1 frames are not closed", "",
		},
		"speedscope, nothing": {`{"shared":{"frames":[]},"profiles":[]}`, "no sample", ""},
		"two of speedscope": {
			`{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"none","samples":[[0]],"weights":[1]}]} {}`,
			"more data follows the JSON", "one profile",
		},
		"two of JFR": {
			strings.Repeat(`{"recording": {"events": [{"type": "jdk.ExecutionSample", "values": {}}]}}`, 2),
			"more data follows the JSON", "one profile",
		},
		"heap of tcmalloc": {
			"heap profile:   3:  3072 [  5:  5120] @ heap_v2/524288\n", "heap profile as text", "go tool pprof -proto",
		},
		"a picture": {
			"<?xml version=\"1.0\" standalone=\"no\"?>\n<!DOCTYPE svg PUBLIC \"x\" \"y\">\n<svg>", "it is a picture",
			"made from",
		},
		"xctrace": {
			"<?xml version=\"1.0\"?>\n<trace-query-result><node></node></trace-query-result>", "XML output of xctrace",
			"inferno-collapse-xctrace",
		},
		"XML": {"<?xml version=\"1.0\"?>\n<a/>", "XML, not a profile", "supported formats: pprof"},
		"DTrace": {
			"CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s\n\n\n          " +
				"    genunix`kmem_cpu_reload+0x20\n                2\n",
			"DTrace", "stackcollapse.pl",
		},
		"bpftrace": {
			"Attaching 1 probe...\n\n@[\n    cpuidle_enter+1\n    do_idle+2\n]: 5\n", "bpftrace",
			"stackcollapse-bpftrace.pl",
		},
		"pmcstat": {
			"@ inst_retired.any [200 samples]\n\n60.00%  [120]      hash_block @ /boot/kernel/kernel\n 100.0%  [120] " +
				"      store_block\n",
			"pmcstat", "stackcollapse-pmc.pl",
		},
		"sample of macOS": {
			"Analysis of sampling rg (pid 1) every 1 millisecond\n", "sample(1)", "stackcollapse-sample.awk",
		},
		"GHC": {
			"\tSun Aug  6 14:52 2023 Time and Allocation Profiling Report  (Final)\n", "GHC report",
			"inferno-collapse-ghcprof",
		},
		"callgrind": {
			"# callgrind format\nevents: Instructions\n\nfl=a.c\nfn=main\n16 20\n", "callgrind file", "speedscope",
		},
		"pprof -top": {
			"Showing nodes accounting for 150, 100% of 150 total\n      flat  flat%   sum%        cum   cum%\n       " +
				" 80 53.33% 53.33%        130 86.67%  line3002\n",
			"text that pprof printed", "made from",
		},
		"pprof -traces": {
			"File: x\nType: cpu\n-----------+------\n      key1:  tag1\n        1s   0000000000001000 line1000 " +
				"file1000.src:1\n",
			"text that pprof printed", "made from",
		},
		"old cpuprofile": {
			`{"head":{"functionName":"(root)","url":"","id":1,"hitCount":0,"children":[]}}`, "Chrome or Node.js",
			"speedscope",
		},
		"heapprofile": {
			`{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]}}`, "Chrome or Node.js",
			"speedscope",
		},
		"Firefox": {
			`{"meta":{"interval":1,"processType":0,"product":"Firefox","version":27},"threads":[]}`, "Firefox",
			"speedscope",
		},
		"stackprof": {
			`{"version":1.2,"mode":"cpu","interval":1000,"samples":489,"gc_samples":79}`, "stackprof", "speedscope",
		},
		"Safari": {
			`{"version":1,"recording":{"displayName":"x","startTime":4.1}}`, "Safari", "speedscope",
		},
		"folded, other lines": {
			"main;a 3\nmain;b\nmain;c 1\n", "line 2: unexpected line in folded stacks: \"main;b\"", "not stacks",
		},
		"perf script, frame": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\tnonsense\n",
			"line 3: unexpected line in perf script: \"\\tnonsense\"", "perf script -i",
		},
		"perf script, sample": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\nWarnings:\n\nsh 1 1.000000: 10 cycles: \n\t1 f (/b)\n",
			"line 4: unexpected line in perf script: \"Warnings:\"", "remove lines",
		},
		"perf script, prose": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\nit took 12\n\n",
			"line 4: unexpected line in perf script: \"it took 12\"", "remove lines",
		},
		"perf script, stderr": {
			"sh 1 1.000000: 10 cycles: \n\t1 f (/b)\n\n[ make: Woken up 1 times to write data ]\n",
			"line 4: unexpected line in perf script", "remove lines",
		},
		"perf report, shares": {
			reportCount +
				"# Overhead  Symbol\n# ........  ......\n    60.00%  [.] f\n    40.20%  [.] g\n     0.01%  [.] h\n",
			"line 7: the shares of the table add up to more than 100%", "perf report",
		},
		"perf report, lines": {
			reportCount + "# Overhead  Symbol\n# ........  ......\n    60.00%  [.] f\n  f is slow\n",
			"line 7: unexpected line in perf report:", "perf report",
		},
		"perf report, count": {
			strings.Replace(reportHead, "1000", "18446744073709551615", 1), "line 2: unexpected line in perf report:",
			"perf report",
		},
		"perf script, lost": {
			"sh 1 0.500000: PERF_RECORD_LOST lost 18446744073709551615\n", "line 1: unexpected line in perf script:",
			"perf script",
		},
		"JFR":          {"FLR\x00\x00\x02", "a Java Flight Recording", "jfr print --json"},
		"JFR, nothing": {`{"recording": {"events": []}}`, "no jdk.ExecutionSample", "StartFlightRecording"},
	} {
		_, err := From(context.Background(), "it", strings.NewReader(c.data), Options{})
		hint := ""
		if hinted, ok := errors.AsType[*hints.Error](err); ok {
			hint = hinted.Hint()
		}
		switch {
		case err == nil:
			t.Errorf("%s: accepted", name)
		case !strings.HasPrefix(err.Error(), "read it: ") || !strings.Contains(err.Error(), c.message) ||
			strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(hint, c.hint) || (hint == "") != (c.hint == "") && c.hint != "":
			t.Errorf("%s: hint %q", name, hint)
		}
	}
}

// TestRefusedLate checks errors that occur far behind the beginning.
func TestRefusedLate(t *testing.T) {
	_, err := From(context.Background(), "it", strings.NewReader("a;b 1\n"+strings.Repeat("x", maxLine+maxLine/2)),
		Options{})
	if err == nil || !strings.Contains(err.Error(), "line 2 is longer than") {
		t.Error(err)
	}
	deep := "x 1 2.000000: 3 cycles: \n" + strings.Repeat("\t 1 f (g)\n", maxDepth+1)
	_, err = From(context.Background(), "it", strings.NewReader(deep), Options{})
	if err == nil || !strings.Contains(err.Error(), "a stack has more than") {
		t.Error(err)
	}
}

func TestOpenFolder(t *testing.T) {
	if _, err := Open(context.Background(), t.TempDir(), Options{}); err == nil ||
		!strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := Open(context.Background(), filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range []string{"a;b 1\n", "x 1 2.000000: 3 cycles: 4 f (g)\n", `{"shared":{"frames":[]}}`} {
		if _, err := From(ctx, "it", strings.NewReader(text), Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFolded(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    Options
		want map[string]int64
		skip int64
	}{
		"stacks": {
			"main;a;b 3\nmain;a 2\nmain;a;b 1\n", Options{}, map[string]int64{"b;a;main": 4, "a;main": 2}, 0,
		},
		"no line end": {"main;a 3", Options{}, map[string]int64{"a;main": 3}, 0},
		"Windows": {
			"\ufeffmain;a 3\r\nmain;b 4\r\n", Options{}, map[string]int64{"a;main": 3, "b;main": 4}, 0,
		},
		"spaces": {
			"my thread;operator new(unsigned long) 7\nmy thread;f 1\n",
			Options{},
			map[string]int64{"operator new(unsigned long);my thread": 7, "f;my thread": 1},
			0,
		},
		"tab": {"main;a\t3\n", Options{}, map[string]int64{"a;main": 3}, 0},
		"comments": {
			"# made by hand\n\nmain;a 3\n#x;y 4\n", Options{}, map[string]int64{"a;main": 3, "y;#x": 4}, 0,
		},
		"whole decimals": {"main;a 3.00\nmain;b 4.\n", Options{}, map[string]int64{"a;main": 3, "b;main": 4}, 0},
		"empty frames":   {"main;;a; 3\n", Options{}, map[string]int64{"a;main": 3}, 0},
		"libraries": {
			"[libknowhere.so];[[vdso]];[unknown] 3\n",
			Options{},
			map[string]int64{"[unknown];[[vdso]];[libknowhere.so]": 3},
			0,
		},
		"annotations": {
			"main;do_idle_[k];jitted_[j];inner_[i] 3\n", Options{}, map[string]int64{"inner;jitted;do_idle;main": 3}, 0,
		},
		"numbers in names": {
			"main;worker 3\nmain;a 1 2\n", Options{}, map[string]int64{"a 1;main": 2, "worker;main": 3}, 0,
		},
		"negative": {"main;a -3\nmain;b 4\n", Options{}, map[string]int64{"a;main": -3, "b;main": 4}, 0},
		"C++": {
			"main;std::vector<int, std::allocator<int>>::push_back(int&&) 3\nmain;main.(*T).f 1\n",
			Options{},
			map[string]int64{"std::vector::push_back;main": 3, "main.(*T).f;main": 1},
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustRead(t, c.text, c.o)
			if diff := cmp.Diff(c.want, stacks(p, 0)); diff != "" {
				t.Errorf("stacks (-want +got):\n%s", diff)
			}
			var skipped int64
			for _, n := range p.Notes {
				skipped += n.Count
			}
			if skipped != c.skip {
				t.Errorf("notes %v", p.Notes)
			}
		})
	}
	p := mustRead(t, "main;do_idle_[k] 3\n", Options{})
	if m := p.MappingOf(p.Stack(0)[0]); m == nil || m.File != "[kernel.kallsyms]" {
		t.Errorf("the mapping of a frame of the kernel: %v", m)
	}
}

// TestMemoryGrowsWithStacks reads the same samples repeatedly and checks that the profile keeps each stack
// once.
func TestMemoryGrowsWithStacks(t *testing.T) {
	text, err := os.ReadFile(fixture("perf-script-goldmark.txt"))
	if err != nil {
		t.Fatal(err)
	}
	once, many := mustRead(t, string(text), Options{}), mustRead(t, strings.Repeat(string(text), 20), Options{})
	if many.Len() != once.Len() || len(many.Stacks) != len(once.Stacks) || len(many.Functions) != len(once.Functions) {
		t.Errorf("%d stacks of 20 times the samples, %d of them once", many.Len(), once.Len())
	}
	if got, want := many.Value(0, 0), 20*once.Value(0, 0); got != want {
		t.Errorf("a value of %d, want %d", got, want)
	}
}

// TestLimits checks that text with a new name on each line hits the memory limit of the profile.
func TestLimits(t *testing.T) {
	long := strings.Repeat("n", 10_000)
	folded, script := &strings.Builder{}, &strings.Builder{}
	scope, events := []string{}, []string{}
	for i := range 200 {
		fmt.Fprintf(folded, "main;%s%d 1\n", long, i)
		fmt.Fprintf(script, "sh 1 1.000000: cpu-clock: \n\t1 %s%d (/b)\n\n", long, i)
		scope = append(scope, fmt.Sprintf(`{"name": "%s%d"}`, long, i))
		events = append(events,
			fmt.Sprintf(
				`{"type": "jdk.ExecutionSample", "values": {"stackTrace": {"frames": [{"method": {"name": "%s%d"}}]}}}`,
				long, i,
			))
	}
	stacks := strings.TrimSuffix(strings.Repeat("[0],", 199)+"[0]", ",")
	for i := range 199 {
		stacks = strings.Replace(stacks, "[0]", fmt.Sprintf("[%d]", i+1), 1)
	}
	for name, text := range map[string]string{
		"folded": folded.String(), "perf script": script.String(),
		"JFR": `{"recording": {"events": [` + strings.Join(events, ",") + "]}}",
		"speedscope": `{"shared": {"frames": [` + strings.Join(scope, ",") +
			`]}, "profiles": [{"type": "sampled", "samples": [` + stacks + `], "weights": [1` +
			strings.Repeat(",1", 199) + "]}]}",
	} {
		_, err := From(context.Background(), "it", strings.NewReader(text),
			Options{Limits: profile.Limits{MaxMemory: 1 << 20}})
		if !errors.Is(err, profile.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := From(context.Background(), "it", strings.NewReader(text), Options{}); err != nil {
			t.Errorf("%s without a limit: %v", name, err)
		}
	}
}

// TestOddCharacters checks that names may contain any characters, and that a stack may be longer than sniffLen.
func TestOddCharacters(t *testing.T) {
	text := strings.Repeat("main;usual 1\n", 20) + "main;a\x00\x01b 5\n"
	if got := stacks(mustRead(t, text, Options{}), 0); got["a\x00\x01b;main"] != 5 {
		t.Errorf("%v", got)
	}
	p := mustRead(t, strings.Repeat("frame;", 100_000)+"leaf 3\n", Options{})
	if p.Len() != 1 || len(p.Stack(0)) != 100_001 {
		t.Errorf("%d samples", p.Len())
	}
}

// TestImpossiblePeriod checks that an impossible period counts as missing and does not become part of the
// event name.
func TestImpossiblePeriod(t *testing.T) {
	for _, period := range []string{"-5", "99223372036854775807"} {
		p := mustRead(t,
			"sh 1 1.000000: "+period+" cpu-clock: \n\t1 f (/b)\n\nsh 1 2.000000: 7 cpu-clock: \n\t1 f (/b)\n\n",
			Options{})
		if len(p.Types) != 2 || p.Types[1].Type != "cpu-clock" ||
			!strings.Contains(notesOf(p), "samples of cpu-clock without a period") {
			t.Errorf("%s: types %v, notes %s", period, p.Types, notesOf(p))
		}
	}
}
