package profile_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/profile"
)

// TestEncodedFeedsPGO checks that Go's preprofile reads an encoded profile. It requires the start lines of
// functions, which it uses to count calls.
func TestEncodedFeedsPGO(t *testing.T) {
	dir := t.TempDir()
	preprofile := func(name string, data []byte) []byte {
		in, out := filepath.Join(dir, name+".pb.gz"), filepath.Join(dir, name+".txt")
		if err := os.WriteFile(in, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.CommandContext(t.Context(), "go", "tool", "preprofile", "-i", in, "-o",
			out).CombinedOutput(); err != nil {
			t.Fatalf("go tool preprofile: %v\n%s", err, text)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	original := fixtures(t)["milvus-cpu-flat.pb.gz"]
	want := preprofile("original", original)
	if lines := bytes.Count(want, []byte("\n")); lines < 100 {
		t.Fatalf("only %d lines of the original", lines)
	}
	if got := preprofile("encoded", encode(t, mustDecode(t, original))); !bytes.Equal(want, got) {
		t.Error("the profile that was written says something else than the original")
	}
}

// failingWriter is a writer to a disk that is full after room bytes.
type failingWriter struct{ room int }

var errFull = errors.New("no space left on device")

func (f *failingWriter) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestEncodeWriteError(t *testing.T) {
	p := mustDecode(t, fixtures(t)["milvus-heap.pb.gz"])
	for _, room := range []int{0, 10, 70_000} {
		if err := p.Encode(&failingWriter{room}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: error %v", room, err)
		}
	}
}

func TestEncodeEmpty(t *testing.T) {
	p := mustDecode(t, encode(t, &profile.Profile{}))
	if p.Len() != 0 || len(p.Types) != 0 || !p.Time.IsZero() {
		t.Errorf("%+v", p)
	}
}
