package rounds

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// scrape is the text of a /metrics that a real process gave.
func scrape(t testing.TB) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "testdata", "snapshots", "cluster-2.3.5-healthy-load", "metrics", "querynode1.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSamples: the steps between two texts lead from one to the other, byte by byte.
func TestSamples(t *testing.T) {
	base := "# HELP a about a\n# TYPE a counter\na{x=\"1\"} 1\na{x=\"2\"} 2\na{x=\"3\"} 3.5\nb 1.7e+09\nc NaN\n"
	for name, now := range map[string]string{
		"same":               base,
		"nothing left":       "",
		"moved":              strings.ReplaceAll(base, "} 2", "} 7"),
		"a run":              strings.NewReplacer("} 1", "} 4", "} 2", "} 5").Replace(base),
		"other digits":       strings.ReplaceAll(base, "3.5", "3.25"),
		"whole":              strings.ReplaceAll(base, "3.5", "4"),
		"large":              strings.ReplaceAll(base, "1.7e+09", "1.700000015e+09"),
		"tiny":               strings.ReplaceAll(base, "1.7e+09", "1.5e-09"),
		"negative":           strings.ReplaceAll(base, "3.5", "-3.5"),
		"minus zero":         strings.ReplaceAll(base, "3.5", "-0"),
		"written otherwise":  strings.ReplaceAll(base, "3.5", "3.50"),
		"a number now":       strings.ReplaceAll(base, "NaN", "7"),
		"no number now":      strings.ReplaceAll(base, "3.5", "+Inf"),
		"with a time":        strings.ReplaceAll(base, "} 2", "} 2 1700000000000"),
		"a line more":        strings.ReplaceAll(base, "b 1", "a{x=\"4\"} 9\nb 1"),
		"a line less":        strings.ReplaceAll(base, "a{x=\"2\"} 2\n", ""),
		"the first less":     strings.TrimPrefix(base, "# HELP a about a\n"),
		"the last less":      strings.TrimSuffix(base, "c NaN\n"),
		"more at the end":    base + "d 1\ne 2\n",
		"no newline":         strings.TrimSuffix(base, "\n"),
		"other order":        "c NaN\nb 1.7e+09\n" + base,
		"spaces in labels":   strings.ReplaceAll(base, "a{x=\"2\"} 2", "a{x=\"2 of 3\"} 2"),
		"all other":          "x 1\ny 2\n",
		"more than a number": strings.ReplaceAll(base, "1.7e+09", "1.7976931348623157e+308"),
		"17 digits":          strings.ReplaceAll(base, "3.5", "0.12345678901234567"),
		"no text":            "\n\n \n",
	} {
		for _, pair := range [][2]string{{base, now}, {now, base}} {
			steps := appendSamples(nil, []byte(pair[0]), []byte(pair[1]))
			text := newSampleText([]byte(pair[0]))
			if got := string(text.append(nil)); got != pair[0] {
				t.Fatalf("%s: %q is read as %q", name, pair[0], got)
			}
			if err := text.apply(steps, 1<<20); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(pair[1], string(text.append(nil))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestNumbers: a text is a number only where it is written in the same way again.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "1": true, "-17": true, "1.5": true, "1.234567e+06": true, "999999": true, "1e+06": true, "1e-09": true, "123456789012345.6": false,
		"1.234567890123456e+14": true, "1e+21": true, "1.0": false, "01": false, "1e6": false, "": false, "-": false, ".5": false, "+1": false, "NaN": false,
		"0x10": false, "1_000": false, "1e": false, "e5": false, "1e+400": false,
	} {
		n, ok := parseNumber([]byte(text))
		if ok != want {
			t.Errorf("%q is a number: %t, and %+v", text, ok, n)
		}
		if got := string(n.append(nil)); ok && got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
}

// TestSamplesOfARealProcess: counters of a real scrape move as they do under load; what is kept is small, and exact.
func TestSamplesOfARealProcess(t *testing.T) {
	before := scrape(t)
	text := newSampleText(before)
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		now := moved(random, before)
		steps := appendSamples(nil, before, now)
		if err := text.apply(steps, 1<<24); err != nil {
			t.Fatal(err)
		}
		if got := text.append(nil); !bytes.Equal(now, got) {
			t.Fatalf("%d steps lead to another text: %s", len(steps), cmp.Diff(string(now), string(got)))
		}
		before = now
	}
}

// moved lets values of a text move: some by the same as their neighbours, some at random; now and then a line comes or goes.
func moved(random *rand.Rand, text []byte) []byte {
	var out []byte
	run, by := 0, 0
	for line := range bytes.Lines(text) {
		head, value := cutValue(line)
		n, ok := parseNumber(value)
		odd := random.IntN(400)
		switch {
		case odd == 0:
			out = fmt.Appendf(out, "new_%d %d\n", random.IntN(10), random.IntN(10))
			out = append(out, line...)
			continue
		case odd == 1:
			continue
		case !ok || run == 0 && random.IntN(10) > 0:
			out = append(out, line...)
			continue
		}
		if run == 0 {
			run, by = 1+random.IntN(12), random.IntN(20)
		}
		run--
		if random.IntN(20) == 0 {
			n = number{random.Int64N(1e9) - 5e8, -random.IntN(9)}
		} else if n.exponent == 0 {
			n.digits += int64(by)
		}
		out = append(n.append(append(out, head...)), '\n')
	}
	return out
}

func TestDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	long := make([]byte, 300<<10)
	for i := range long {
		long[i] = byte(random.IntN(256))
	}
	for i, before := range [][]byte{nil, []byte("short"), []byte("a text of some length, which has words"), long[:5000], long} {
		for step := range 30 {
			now := bytes.Clone(before)
			for range random.IntN(5) { // parts that are taken out, written anew, or moved
				if len(now) == 0 {
					now = append(now, "from nothing"...)
					continue
				}
				from := random.IntN(len(now))
				to := min(len(now), from+random.IntN(200))
				switch part := bytes.Clone(now[from:to]); random.IntN(3) {
				case 0:
					now = append(now[:from:from], now[to:]...)
				case 1:
					now = append(append(now[:from:from], "written anew"...), now[to:]...)
				default:
					now = append(append(now[:from:from], now[to:]...), part...)
				}
			}
			steps := appendDifference(nil, before, now)
			got, err := applyDifference(before, steps, 1<<24)
			if err != nil || !bytes.Equal(got, now) {
				t.Fatalf("%d, step %d: %v, %d bytes, want %d", i, step, err, len(got), len(now))
			}
			if len(before) > 1000 && len(steps) > 2000 {
				t.Errorf("%d: %d bytes for what differs of %d", i, len(steps), len(now))
			}
		}
	}
	if _, err := applyDifference(long, appendDifference(nil, long, long), 1000); err == nil {
		t.Error("a text beyond the limit is made")
	}
}

// TestRounds: what a Decoder puts together are the records that an Encoder was given.
func TestRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	at := time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)
	text := scrape(t)
	state := []byte(`{"state": "healthy", "since": 1700000000, "cpu": 0.5}`)
	e, d := NewEncoder(), NewDecoder()
	for n := range 30 {
		text = moved(random, text)
		state = fmt.Appendf(nil, `{"state": "healthy", "since": 1700000000, "cpu": 0.%d, "a long part that stays as it is": true}`, random.IntN(100))
		now := at.Add(time.Duration(n) * 15 * time.Second)
		want := &Round{At: now, Revision: int64(100 + n), Every: 15 * time.Second, Etcd: &model.Etcd{At: now, Problem: strconv.Itoa(n / 10)}}
		add := func(r live.Record) { want.Records = append(want.Records, r) }
		add(live.Record{Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "GET /metrics", Response: text, Outcome: "answered", At: now.Add(-time.Second), Took: 1200 * time.Microsecond})
		if n%5 != 4 { // again, a moment later
			text = moved(random, text)
			add(live.Record{Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "GET /metrics", Response: text, Outcome: "answered", At: now, Took: time.Millisecond})
		}
		add(live.Record{Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "/a/GetMetrics", Request: []byte("q"), Response: state, Outcome: "answered", At: now, Took: time.Millisecond})
		pace := &live.Pace{Connect: time.Millisecond, Dial: 2 * time.Millisecond, Probes: []live.Probe{{After: time.Second, Took: 3 * time.Millisecond}, {After: 2 * time.Second, Took: time.Second, Open: true}}}
		add(live.Record{Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "/a/GetComponentStates", Response: []byte("ok"), Outcome: "answered", At: now, Pace: pace})
		add(live.Record{Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "/a/GetComponentStates", Response: []byte("ok"), Outcome: "answered", At: now})
		if n%3 == 0 {
			add(live.Record{Role: "datanode", Node: 7, Method: "/b/X", Error: "gone", Outcome: "unreachable", At: now})
		} else {
			add(live.Record{Role: "datanode", Node: 7, Method: "/b/X", Response: []byte{1, 2, byte(n / 4)}, Outcome: "answered", At: now})
		}
		add(live.Record{Method: "message queue", Outcome: "not asked", Error: "no process reported its configuration"})
		content, err := e.Append(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if revision, every, err := Header(content); err != nil || revision != want.Revision || every != want.Every {
			t.Errorf("header: %d, %s, %v", revision, every, err)
		}
		if err := d.Add(now, content); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		got, err := d.Round()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) { // to compare it byte by byte takes seconds
			t.Fatalf("round %d (-want +got):\n%s", n, cmp.Diff(want, got))
		}
		if scrapes := d.Scrapes(); len(scrapes) == 0 || !bytes.Equal(scrapes[len(scrapes)-1].Response, text) {
			t.Errorf("%d scrapes", len(scrapes))
		}
	}
	// A question that is not put each time has the answer of before.
	content, err := e.Append(nil, &Round{At: at, Revision: 200})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := d.Add(at, content); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(r *live.Record) bool { return strings.HasSuffix(r.Method, "GetMetrics") }
	if got := d.Last(4, asked); len(got) != 1 || !bytes.Equal(got[0].Response, state) {
		t.Errorf("%d answers of before", len(got))
	}
	if got := d.Last(2, asked); len(got) != 0 {
		t.Errorf("%d answers of long ago", len(got))
	}
}

// FuzzRounds: no bytes make a Decoder panic or hold more than they may stand for.
func FuzzRounds(f *testing.F) {
	e := NewEncoder()
	at := time.Unix(1700000000, 0)
	for n := range 3 {
		r := &Round{At: at, Revision: 5, Every: time.Second, Records: []live.Record{
			{Role: "querynode", Node: 4, Method: "GET /metrics", Response: fmt.Appendf(nil, "a 1\nb %d\nc 0.%d\n", n, n), Outcome: "answered"},
			{Role: "querynode", Node: 4, Method: "/a/b", Response: fmt.Appendf(nil, "a long text that stays as it is, %d, to its end", n), Outcome: "failed", Pace: &live.Pace{Probes: []live.Probe{{Took: 1}}}},
		}}
		content, err := e.Append(nil, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d := NewDecoder()
		for range 2 {
			if d.Add(at, content) != nil {
				return
			}
			if _, err := d.Round(); err != nil {
				return
			}
			d.Scrapes()
		}
	})
}
