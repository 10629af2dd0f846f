package live

import (
	"strings"
	"testing"
)

// TestMemoryBudget checks that bytes over the total limit are refused, and that released bytes are available again.
func TestMemoryBudget(t *testing.T) {
	t.Parallel()
	r := newMemoryBudget(&Options{MaxResponse: 1000})
	a, b := r.newReservation(), r.newReservation()
	if err := a.reserve(15_000); err != nil || a.exceeded() != nil {
		t.Fatal(err)
	}
	if err := b.reserve(1001); err == nil || b.exceeded() == nil || !strings.Contains(err.Error(), "16000 bytes") {
		t.Errorf("one too many: %v", err)
	}
	b.releaseAll()
	a.release(14_000)
	if err := r.newReservation().reserve(15_000); err != nil {
		t.Error(err)
	}
	a.releaseAll()
	if held := r.used.Load(); held != 15_000 {
		t.Errorf("%d bytes are held", held)
	}
}
