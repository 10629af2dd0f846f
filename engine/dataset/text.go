package dataset

import (
	"fmt"
	"strings"

	"kitescope/engine/parquet"
)

// shownNames is the maximum number of names from a file in an error.
const shownNames = 20

// list returns the first shownNames column names and the number of the others, as text.
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
