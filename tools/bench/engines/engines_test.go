package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/index"
)

func TestDataIsTheSameEveryTime(t *testing.T) {
	for _, s := range []shape{{dim: 3, rows: 40}, {dim: 3, rows: 40, overlap: true}, {dim: 3, rows: 40, ties: true}} {
		var written [2][]byte
		for i := range written {
			f := s.files(t.TempDir())
			if err := f.ensureData(t.Context()); err != nil {
				t.Fatal(err)
			}
			var err error
			if written[i], err = os.ReadFile(f.vectors); err != nil {
				t.Fatal(err)
			}
			q, err := dataset.Open(t.Context(), f.queries)
			if err != nil {
				t.Fatal(err)
			}
			if q.Vectors.Rows != queries || q.Vectors.Dim != 3 || bytes.Contains(written[i], q.Vectors.Row(0)) && !s.ties {
				t.Errorf("%s: queries %d x %d, or one of the vectors", s.name(), q.Vectors.Rows, q.Vectors.Dim)
			}
			q.Close()
		}
		if !bytes.Equal(written[0], written[1]) {
			t.Errorf("%s differs from run to run", s.name())
		}
	}
}

func TestPairsTakeTurnsAndTheFirstDoesNotCount(t *testing.T) {
	var order strings.Builder
	times := map[string][]timing{"a": {999, 10, 20, 30}, "b": {1, 20, 80, 90}}
	side := func(name string) func() (timing, error) {
		return func() (timing, error) {
			order.WriteString(name)
			took := times[name][0]
			times[name] = times[name][1:]
			return took, nil
		}
	}
	got, err := pair{ours: side("a"), theirs: side("b")}.run(3)
	if err != nil || order.String() != "abbaabba" {
		t.Errorf("order %s, %v", &order, err)
	}
	if f := got.faster(); f != (spread{Median: 3, Least: 2, Most: 4}) {
		t.Errorf("ratios %+v of %+v", f, got)
	}
	if m := middle(got.Theirs, 4); m != 20 {
		t.Errorf("middle %v", m)
	}
	fault := errors.New("no")
	if _, err := (pair{func() (timing, error) { return 1, nil }, func() (timing, error) { return 0, fault }}).run(0); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   spread
	}{{nil, spread{}}, {[]float64{2}, spread{2, 2, 2}}, {[]float64{4, 1, 3, 2}, spread{2.5, 1, 4}}} {
		if got := spreadOf(test.values); got != test.want {
			t.Errorf("%v: %+v", test.values, got)
		}
	}
}

func TestAgreementAndRecall(t *testing.T) {
	a := [][]engine.Hit{{{ID: 1, Distance: 1}, {ID: 2, Distance: 2}}, {{ID: 3, Distance: 1}, {ID: 4, Distance: 1}}}
	b := [][]engine.Hit{{{ID: 1, Distance: 1}, {ID: 2, Distance: 2.0000002}}, {{ID: 4, Distance: 1}, {ID: 3, Distance: 1}}}
	if got := agree(a, b); got != (agreement{Queries: 2, IDs: 1, Bits: 1}) {
		t.Errorf("%+v", got)
	}
	if got := agree(a, a[:1]); got != (agreement{Queries: 2, IDs: 1, Bits: 1}) {
		t.Errorf("an answer that is not there counts: %+v", got)
	}
	if got := recall([][]engine.Hit{{{ID: 2}, {ID: 9}}, {{ID: 4}, {ID: 3}}}, a); got != 0.75 {
		t.Errorf("recall %v", got)
	}
}

func TestTable(t *testing.T) {
	r := report{Machine: "here", Peers: "them", Load: [2]string{"0.1", "0.2"}, Cores: [2]float64{1.98, 1.99}, Rounds: 7}
	ratio := spread{Median: 1.9, Least: 1.8, Most: 2}
	right, wrong := row{}, row{}
	right.answers(agreement{10, 10, 10})
	wrong.answers(agreement{10, 10, 9})
	for _, x := range []row{
		{What: "fast", Ours: "1 s", Their: "2 s", Ratio: ratio, Bar: 1.9, Same: right.Same, Wrong: right.Wrong},
		{What: "slow", Ratio: ratio, Bar: 1.91},
		{What: "wrong", Ratio: ratio, Bar: 1, Same: wrong.Same, Wrong: wrong.Wrong},
		{What: "small", Ratio: ratio, Bar: 2, AtMost: true},
		{What: "large", Ratio: ratio, Bar: 1.5, AtMost: true},
		{What: "alone", Ratio: ratio, Bar: 1, Void: "one core"},
		{What: "shown", Ratio: ratio},
	} {
		r.add(x)
	}
	r.Kernels = []kernelRow{{"L2", "float32", 128, 4.25, 17}}
	got := r.markdown()
	for _, want := range []string{
		"Load average 0.1 before and 0.2 after; two threads that share nothing got the work of 1.98 cores done before and of 1.99 after.",
		"| fast | 1 s | 2 s | 1.90x (1.80 to 2.00) | ≥ 1.9x | ids 10/10, bits 10/10 | ✓ pass |\n",
		"| slow |  |  | 1.90x (1.80 to 2.00) | ≥ 1.91x |  | ✗ short |\n",
		"| wrong |  |  | 1.90x (1.80 to 2.00) | ≥ 1x | ids 10/10, bits 9/10 | ✗ short |\n",
		"| small |  |  | 1.90x (1.80 to 2.00) | ≤ 2x |  | ✓ pass |\n",
		"| large |  |  | 1.90x (1.80 to 2.00) | ≤ 1.5x |  | ✗ short |\n",
		"| alone |  |  | 1.90x (1.80 to 2.00) | ≥ 1x |  | void: one core |\n",
		"| shown |  |  | 1.90x (1.80 to 2.00) |  |  |  |\n",
		"| L2 | float32 | 128 | 4.2 | 17.0 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	var text bytes.Buffer
	if err := r.json(&text); err != nil || !strings.Contains(text.String(), `"what": "fast"`) {
		t.Errorf("%v: %s", err, &text)
	}
}

func TestClocksTellWhoseTimeItIs(t *testing.T) {
	work := func() error {
		for range 200 {
			spin(0)
		}
		return nil
	}
	own, err := onThread(work)
	if err != nil || own <= 0 {
		t.Errorf("%v of work, %v", own, err)
	}
	elsewhere, _ := onThread(func() error {
		done := make(chan error)
		go func() { done <- work() }()
		return <-done
	})
	if elsewhere >= own/2 {
		t.Errorf("%v of work in another goroutine, %v in this", elsewhere, own)
	}
	asleep, _ := inProcess(func() error { time.Sleep(20 * time.Millisecond); return nil })
	if asleep >= 20*time.Millisecond {
		t.Errorf("%v of CPU time asleep", asleep)
	}
}

func TestComparerCountsBytes(t *testing.T) {
	c := &comparer{want: strings.NewReader("abcdef")}
	for _, part := range []string{"ab", "xd", "efg"} {
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if c.differ != 2 || c.written != 7 {
		t.Errorf("%d bytes of %d differ, want one that is another and one too many", c.differ, c.written)
	}
}

// TestMilvusFilesLoad writes the index files that are measured and reads them both ways.
func TestMilvusFilesLoad(t *testing.T) {
	f := shape{dim: 8, rows: 300}.files(t.TempDir())
	if err := f.ensureData(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := memory(t.Context(), f.vectors)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ourBuild(t.Context(), v, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(f.hnswlib, func(out *os.File) error { return index.WriteHNSWLib(out, x) }); err != nil {
		t.Fatal(err)
	}
	b := &bench{ctx: t.Context(), progress: t.Output(), cache: filepath.Dir(f.base)}
	if err := b.ensureMilvus(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := loadMilvus(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	// Pages hold a byte as an index into a dictionary, in runs where it is the same.
	size, grown, err := decompress(f.milvus)
	if blob := int64(300 * (8*4 + 4 + 4*2*linksM)); err != nil || size == 0 || grown < blob/4 || grown > 3*blob {
		t.Errorf("%d bytes grow to %d, %v; the blob has %d", size, grown, err, blob)
	}

	var said bytes.Buffer
	if err := sayResident(t.Context(), f.base, &said); err != nil || !strings.Contains(said.String(), `"parts":`) {
		t.Errorf("%v: %s", err, &said)
	}
}

func TestAnswersOfThePeerAreRead(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x")
	distances, err := engine.FromFloat32s(2, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, w func(*os.File) error) {
		t.Helper()
		if err := replaceFile(out+name, w); err != nil {
			t.Fatal(err)
		}
	}
	write(".ids.npy", func(f *os.File) error { return dataset.WriteIDs(f, [][]int64{{7, 8}, {9, -1}}) })
	write(".distances.npy", func(f *os.File) error { return dataset.WriteNPY(f, distances) })
	got, err := readAnswers(t.Context(), out)
	want := [][]engine.Hit{{{ID: 7, Distance: 1}, {ID: 8, Distance: 2}}, {{ID: 9, Distance: 3}, {ID: -1, Distance: 4}}}
	if err != nil || agree(got, want) != (agreement{2, 2, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestKernelsAndStreamGiveFigures(t *testing.T) {
	v, err := engine.NewVectors(dist.Float32, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if took := stream(v, 1000); took <= 0 {
		t.Errorf("%v to read", took)
	}
	k, err := dist.New(dist.L2, dist.Float32, dist.HNSWLib, 16)
	if err != nil {
		t.Fatal(err)
	}
	took, err := forms(k, v)
	if err != nil || took[0] <= 0 || took[1] <= 0 || took[2] <= 0 {
		t.Errorf("%v, %v", took, err)
	}
}

func TestUnknownPartIsRefused(t *testing.T) {
	err := run(context.Background(), options{only: "hnswlib,no", rows: 10}, t.Output(), t.Output())
	if err == nil || !strings.Contains(err.Error(), "-only hnswlib,no") {
		t.Errorf("error %v", err)
	}
}

func TestRowsDecideTheNames(t *testing.T) {
	b := &bench{options: options{rows: 1000}, cache: "c"}
	names := map[string]bool{}
	for _, p := range b.parts() {
		for _, n := range p.prepare {
			names[n.shape.name()] = true
		}
	}
	for _, want := range []string{"clusters-1000x16-v1", "clusters-1000x768-v1", "overlapping-10000x128-v1"} {
		if !names[want] {
			t.Errorf("no %s among %v", want, names)
		}
	}
	if got := thousands(1234567) + " " + thousands(999); got != "1,234,567 999" {
		t.Error(got)
	}
	if got := (shape{dim: 2, rows: 1000, overlap: true}).title(); got != "1,000 x 2, overlapping" {
		t.Error(got)
	}
}
