package document

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplaceKeepsTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	begin, end := Marks("bench")
	if err := os.WriteFile(path, []byte("before\n"+begin+"\nold\n"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, "bench", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "before\n" + begin + "\nnew\n" + end + "\nafter\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, broken := range []string{"no marks", begin + " and no end"} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Replace(path, "bench", "new"); err == nil {
			t.Errorf("%q: no error", broken)
		}
	}
}
