package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPeakIsThatOfTheChild(t *testing.T) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil || highWater(string(text)) < 1<<20 {
		t.Fatalf("this test's own peak: %d, %v", highWater(string(text)), err)
	}
	if n := highWater("Name:\tx\nState:\tZ (zombie)\n"); n != -1 {
		t.Errorf("of a process that has ended: %d", n)
	}
	ballast := make([]byte, 64<<20) // so that the child's own peak is less than ours
	for i := range ballast {
		ballast[i] = 1
	}
	for script, most := range map[string]int64{
		"sleep 0.8":                   16 << 20,
		"sh -c 'sleep 0.8; :' & wait": 16 << 20,
		"sleep 0.1":                   -1,
	} {
		c := command{words: []string{"sh", "-c", script}, dir: t.TempDir(), out: filepath.Join(t.TempDir(), "x.out"), timeout: time.Minute}
		r, err := c.run(t.Context())
		if err != nil || r.failed != "" {
			t.Fatalf("%+v, %v", r, err)
		}
		if r.use.rss > most || most > 0 && r.use.rss < 100<<10 {
			t.Errorf("%s: a peak of %d B", script, r.use.rss)
		}
	}
	if strings.Count(string(ballast[:3]), "\x01") != 3 {
		t.Error("the ballast is gone")
	}
}
