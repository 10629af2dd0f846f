package read

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/profile"
)

// seeds adds the beginnings of fixtures, cut at a line end.
func seeds(f *testing.F, names ...string) {
	f.Helper()
	for _, pattern := range names {
		found, err := filepath.Glob(fixture(pattern))
		if err != nil || len(found) == 0 {
			f.Fatalf("%s: no such fixture (%v)", pattern, err)
		}
		for _, name := range found {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			const most = 700 // the fuzzer minimizes interesting inputs, which is slow for long ones
			if len(data) > most {
				data = data[:bytes.LastIndexByte(data[:most], '\n')+1]
			}
			f.Add(data)
		}
	}
}

// fuzzLimits holds the limits during fuzzing.
var fuzzLimits = profile.Limits{MaxBytes: 4 << 20, MaxMemory: 16 << 20}

// checked reads data and checks the invariants of the resulting profile.
func checked(t *testing.T, data []byte, o Options) {
	t.Helper()
	o.Limits, o.MaxText = fuzzLimits, 4<<20
	p, err := From(context.Background(), "it", bytes.NewReader(data), o)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "read it: ") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("the error %q", err)
		}
		return
	}
	if p.Origin.Format == "" || len(p.Types) == 0 && p.Len() > 0 {
		t.Fatalf("%+v with types %v", p.Origin, p.Types)
	}
	if p.Origin.Format != "pprof" { // a pprof file may have data that Encode drops
		checkSound(t, p)
	}
}

func FuzzFrom(f *testing.F) {
	seeds(f, "*.folded", "pmp/*.txt", "perf/*.txt", "perf/*.report", "perf-script-goldmark.txt", "jfr/words.json")
	f.Add([]byte("{" + speedscopeFrames +
		`, "profiles": [{"type": "sampled", "unit": "none", "samples": [[0]], "weights": [1]}]}`))
	f.Add([]byte(magicGzip))
	f.Add([]byte(magicZstd + "\x04\x00\x01\x00\x00"))
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, data []byte) { checked(t, data, Options{}) })
}

func FuzzFolded(f *testing.F) {
	seeds(f, "*.folded")
	f.Add([]byte("a;b 1 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readFolded(context.Background(), r, &Options{})
		})
	})
}

func FuzzPMP(f *testing.F) {
	seeds(f, "pmp/*.txt")
	f.Add([]byte("  2 f<a,(x.c:1),operator->,std::map<a,b>::g(lib.so),??\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readPMP(context.Background(), r, &Options{})
		})
	})
}

func FuzzPerfScript(f *testing.F) {
	seeds(f, "perf/cpp*.txt", "perf/postgres*.txt", "perf-script-goldmark.txt")
	f.Add([]byte("sh 1 1.000000: 10 cycles: \n\t1 swap (inlined)\n\t1 f+0x1 (/b)\n  a.c:7\n\nsh 1 2.000000: " +
		"task-clock: 1 f (/b)\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readPerfScript(context.Background(), r, &Options{})
		})
	})
}

func FuzzPerfReport(f *testing.F) {
	seeds(f, "perf/*.report", "perf/cpp-report.txt")
	f.Add([]byte(reportHead + "    70.00%  sh       libc.so.6             [.] f\n"))
	f.Add([]byte("# Children Self Samples Period Command Shared Object Symbol\n90.0% 60.0% 6 600 my sh libc.so.6 [.] " +
		"f - -\n|\n--40.0%--main\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readPerfReport(context.Background(), r, &Options{})
		})
	})
}

func FuzzSpeedscope(f *testing.F) {
	for _, p := range []string{
		`{"type": "sampled", "unit": "none", "samples": [[0], [0, 1]], "weights": [1, 2.5]}`,
		`{"type": "evented", "unit": "seconds", "events": [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 2}]}`,
	} {
		f.Add([]byte("{" + speedscopeFrames + `, "activeProfileIndex": 0, "profiles": [` + p + `]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readSpeedscope(context.Background(), r, &Options{})
		})
	})
}

func FuzzJFRPrint(f *testing.F) {
	seeds(f, "jfr/words*.json")
	f.Add([]byte(
		`{"recording": {"events": [{"type": "jdk.NativeMethodSample", "values": {"stackTrace": {"frames": [{"method": {"name": "f"}}]}}}]}}`,
	))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, data, func(r *bytes.Reader) (*profile.Profile, error) {
			return readJFRPrint(context.Background(), r, &Options{})
		})
	})
}

func fuzzReader(t *testing.T, data []byte, read func(*bytes.Reader) (*profile.Profile, error)) {
	t.Helper()
	p, err := read(bytes.NewReader(data))
	if err == nil {
		checkSound(t, p)
	}
}
