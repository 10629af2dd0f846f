package kept

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/source"
)

// TestMemoReadsOnce goes to moments anywhere in two chunks, forth and back: each is as who reads it alone has it, and once a chunk was
// looked at it is not read again: its file is emptied then.
func TestMemoReadsOnce(t *testing.T) {
	t.Parallel()
	const rounds = 3*frameEvery + 5
	dir := t.TempDir()
	minutes := func(from int) (list []int) {
		for i := range rounds {
			list = append(list, from+i)
		}
		return list
	}
	recorded(t, dir, 1, 7, minutes(0)...)
	recorded(t, dir, 2, 7, minutes(rounds)...)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	look := func(known *memo, minute int) *moment {
		t.Helper()
		at := nine.Add(time.Duration(minute)*time.Minute + time.Second)
		chunks, err := chunksOf(t.Context(), src, 7, at)
		if err != nil {
			t.Fatal(err)
		}
		m, err := momentOf(t.Context(), known, chunks, 7, at)
		if err != nil {
			t.Fatal(err)
		}
		if m.lacks != "" || len(m.records) != 1 {
			t.Fatalf("minute %d has %d records, lacks %q", minute, len(m.records), m.lacks)
		}
		return m
	}
	alone := make([]*moment, 2*rounds)
	for i := range alone {
		alone[i] = look(&memo{}, i)
	}
	known := &memo{}
	look(known, 0)
	look(known, rounds)
	names, err := source.ChunkNames(dir)
	for _, name := range names {
		if err == nil {
			err = os.Truncate(filepath.Join(dir, name), 0)
		}
	}
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := rounds
	for n := range 400 {
		switch n / 100 {
		case 0:
			at = max(0, at-1)
		case 1:
			at = min(2*rounds-1, at+1)
		default:
			at = random.IntN(2 * rounds)
		}
		if diff := cmp.Diff(alone[at], look(known, at), cmp.AllowUnexported(moment{})); diff != "" {
			t.Fatalf("minute %d (-alone +memo):\n%s", at, diff)
		}
	}
	for _, tape := range known.tapes {
		if len(tape.frames) < 3 {
			t.Errorf("%d decoders are kept of a chunk", len(tape.frames))
		}
	}
	if len(known.tapes) > maxTapes || len(known.moments) > maxMoments {
		t.Errorf("%d chunks and %d moments are held", len(known.tapes), len(known.moments))
	}
}

// TestMemoOfALargeChunk: rounds that are too many to hold are read where they are.
func TestMemoOfALargeChunk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recorded(t, dir, 1, 7, 0, 1, 2, 3, 4, 5, 6, 7)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	chunks, err := chunksOf(t.Context(), src, 7, nine.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	known := &memo{}
	whole, err := known.tape(t.Context(), chunks[0])
	if err != nil {
		t.Fatal(err)
	}
	whole.contents = nil
	for _, n := range []int{5, 2, 3, 7, 0, 6} {
		m, err := known.read(t.Context(), chunks[0], nil, n)
		if err != nil || len(m.records) != 1 || string(m.records[0].Response) != string(rune('0'+n)) {
			t.Errorf("round %d: %+v, %v", n, m, err)
		}
	}
}
