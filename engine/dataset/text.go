package dataset

import (
	"fmt"
	"strings"

	"kitescope/engine/parquet"
)

// maxNames is the maximum number of names from a file in an error.
const maxNames = 20

// list returns the first maxNames column names and the number of the others, as text.
func list(names []string) string {
	var out []string
	for _, name := range names[:min(len(names), maxNames)] {
		out = append(out, parquet.QuoteName(name))
	}
	if more := len(names) - maxNames; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}
