package live

import (
	"strings"
	"testing"
)

// TestRoom checks that bytes over the total limit are refused, and that released bytes are available again.
func TestRoom(t *testing.T) {
	t.Parallel()
	r := newRoom(&Options{MaxAnswer: 1000})
	a, b := r.enter(), r.enter()
	if err := a.take(15_000); err != nil || a.gone() != nil {
		t.Fatal(err)
	}
	if err := b.take(1001); err == nil || b.gone() == nil || !strings.Contains(err.Error(), "16000 bytes") {
		t.Errorf("one too many: %v", err)
	}
	b.leave()
	a.give(14_000)
	if err := r.enter().take(15_000); err != nil {
		t.Error(err)
	}
	a.leave()
	if held := r.held.Load(); held != 15_000 {
		t.Errorf("%d bytes are held", held)
	}
}
