package collect

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// percent is GOGC as it is now.
func percent() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestCollectingLateEndsWithTheFirstCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if c := late(func(string) string { return "80" }); c != nil || percent() != 100 {
		t.Errorf("GOGC of the user's is set to %d", percent())
	}
	late(func(string) string { return "" })
	if percent() <= 100 {
		t.Errorf("%d: not late", percent())
	}
	for end := time.Now().Add(10 * time.Second); percent() != 100 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if percent() != 100 {
		t.Errorf("still %d after collections", percent())
	}
}

func TestCollectingOftenIsNotUndoneByTheFirstCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	done := late(func(string) string { return "" }).Often()
	for range 20 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if percent() != 50 {
		t.Errorf("%d while collecting often", percent())
	}
	done()
	if percent() != 100 {
		t.Errorf("%d afterwards", percent())
	}
}
