package clusters

import (
	"math"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
)

// TestFigures checks that the JSON has the numbers of the evidence as numbers, too.
func TestFigures(t *testing.T) {
	f := check.Finding{Evidence: []check.Evidence{
		check.Count("rows", 12345678, "etcd"), check.Fact("state", "Flushed", "etcd"), check.Size("logs", 2048, "etcd"),
		check.Duration("lag", 1500*time.Millisecond, ""),
		check.Share("brute force", 0.3534, ""), check.Share("of nothing", math.NaN(), ""),
		check.Factf("free", "disk", "%s of %s on %s", check.Bytes(1<<20), check.Bytes(4<<20), "node"),
		check.Factf("in use", "", "%s", check.Number(0.25, "cores", "%.2f")),
	}}
	const want = `{"figures":[{"name":"rows","value":12345678,"unit":"count"},{"name":"logs","value":2048,"unit":"bytes"},` +
		`{"name":"lag","value":1.5,"unit":"seconds"},{"name":"brute force","value":35.34,"unit":"percent"},` +
		`{"name":"free","value":1048576,"unit":"bytes"},{"name":"free","value":4194304,"unit":"bytes"},{"name":"in use","value":0.25,"unit":"cores"}]}`
	for _, c := range []struct {
		f    *check.Finding
		want string
	}{{&f, want}, {&check.Finding{Evidence: f.Evidence[1:2]}, "{}"}} {
		var b strings.Builder
		e := encode.JSON(&b, 0)
		e.BeginObject()
		writeFigures(e, c.f)
		e.EndObject()
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(b.String()); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
