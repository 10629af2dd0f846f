package read

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kitescope/internal/damagetest"
)

// TestDamagedCounts damages the counts that texts declare in addition to their samples.
func TestDamagedCounts(t *testing.T) {
	const scopeSampled = `{"shared": {"frames": [{"name": "main"}, {"name": "f"}]}, "activeProfileIndex": 1, "profiles": [` +
		`{"type": "sampled", "unit": "milliseconds", "startValue": 0, "endValue": 5, "samples": [[0, 1], [0]], "weights": [2, 3]},` +
		`{"type": "sampled", "unit": "seconds", "startValue": 0, "endValue": 7, "samples": [[0]], "weights": [7]}]}`
	for name, c := range map[string]struct {
		text string
		of   []string // the text before each field
	}{
		// perf 6.1: perf report --stdio -g none --show-total-period -n
		"perf report": {
			"# Total Lost Samples: 0\n#\n# Samples: 281  of event 'cpu-clock'\n# Event count (approx.): 281281281\n" +
				"#\n" +
				"# Overhead       Samples        Period  Command  Shared Object  Symbol                       \n" +
				"# ........  ............  ............  .......  .............  .............................\n#\n" +
				"    18.86%            53      53053053  sh       libc.so.6      [.] __strcmp_evex\n" +
				"     4.98%            14      14014014  sh       dash           [.] strcmp@plt\n",
			[]string{"# Samples: ", "(approx.): "},
		},
		"speedscope": {scopeSampled, []string{`"startValue": `, `"endValue": `, `Index": `}},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []damagetest.Field
			for _, before := range c.of {
				fields = append(fields,
					damagetest.Text([]byte(c.text), before, strings.Index(c.text, before)+len(before)))
			}
			damagetest.Run(t, []byte(c.text), fields, damagetest.Count()/10, func(file []byte) (string, error) {
				p, err := From(t.Context(), "damaged", bytes.NewReader(file), Options{})
				if err != nil {
					return "", err
				}
				return fmt.Sprint(p.DefaultType, p.Types, p.Len(), stacks(p, 0)), nil
			})
		})
	}
}
