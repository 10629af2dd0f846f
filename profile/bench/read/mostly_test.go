package read

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kitescope/internal/hints"
)

// A file that begins like a result, and has more other lines behind than its own, is not read as if it were whole.
func TestRefusedWhereMostDoesNotFit(t *testing.T) {
	log := strings.Repeat("2026-11-23T03:25:23Z INFO started and well\n", 400)
	vmstat := " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n" +
		strings.Repeat(" 3  0      0 911552  37308 903612    0    0  1190   542  905 2219 38  9 50  3  0\n", 200)
	var runs, csv strings.Builder
	runs.WriteString(`{"kitescope_runs":1,"name":"before"}` + "\n")
	csv.WriteString("run,qps,p99_ms\n")
	for i := range 200 {
		fmt.Fprintf(&runs, `{"run":"%d","values":[{"name":"QPS","unit":"1/s","value":%d}]}`+"\n", i, 1000+i)
		fmt.Fprintf(&csv, "%d,%d,12\n", i, 1000+i)
	}
	for name, head := range map[string]string{
		"csv":            csv.String(),
		"kitescope runs": runs.String(),
		"vmstat":         vmstat,
	} {
		if _, err := From(t.Context(), "it", strings.NewReader(head+log[:len(log)/10]), Options{}); err != nil {
			t.Errorf("%s with a few other lines: %v", name, err)
		}
		_, err := From(t.Context(), "it", strings.NewReader(head+log), Options{})
		var hint *hints.Error
		if err == nil || !strings.Contains(err.Error(), "as "+name) || !strings.Contains(err.Error(), "of its lines fit") || !errors.As(err, &hint) {
			t.Errorf("%s with more other lines than its own: %v", name, err)
		}
	}
}
