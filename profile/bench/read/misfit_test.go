package read

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kitescope/internal/hints"
)

// TestLinesThatDoNotFit checks that a file is rejected if a line has another format.
func TestLinesThatDoNotFit(t *testing.T) {
	vmstat := " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n" +
		strings.Repeat(" 3  0      0 911552  37308 903612    0    0  1190   542  905 2219 38  9 50  3  0\n", 200)
	var runs, csv strings.Builder
	runs.WriteString(`{"kitescope_runs":1,"name":"before"}` + "\n")
	csv.WriteString("run,qps,p99_ms\n")
	for i := range 200 {
		fmt.Fprintf(&runs, `{"run":"%d","values":[{"name":"QPS","unit":"1/s","value":%d}]}`+"\n", i, 1000+i)
		fmt.Fprintf(&csv, "%d,%d,12\n", i, 1000+i)
	}
	for name, head := range map[string]string{"csv": csv.String(), "kitescope runs": runs.String(), "vmstat": vmstat} {
		if _, err := From(t.Context(), "it", strings.NewReader(head), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, line := range []string{"2026-11-23T03:25:23Z INFO started and well\n", "a, b, c, d\n", "{}\n"} {
			_, err := From(t.Context(), "it", strings.NewReader(head+line+head), Options{})
			var hint *hints.Error
			if err == nil || !strings.Contains(err.Error(), "as "+name+": line 20") || !errors.As(err, &hint) {
				t.Errorf("%s with the line %q: %v", name, line, err)
			}
		}
	}
}
