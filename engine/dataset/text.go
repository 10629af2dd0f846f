package dataset

import (
	"fmt"
	"strings"

	"kitescope/engine/parquet"
)

// shownNames is how many of a file's own names an error repeats.
const shownNames = 20

// list names the first of some columns, and how many more there are.
func list(names []string) string {
	var out []string
	for _, name := range names[:min(len(names), shownNames)] {
		out = append(out, parquet.Shown(name))
	}
	if more := len(names) - shownNames; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}
