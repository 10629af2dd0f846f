package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Affixes are the longest common prefix and suffix of the names in a column. They are cut first, because they do
// not distinguish names.
type Affixes struct {
	prefix, suffix string
	nonEmpty       bool
	common         string // the common name, if all names are the same
	shortest       int
}

// Add adds a name.
func (a *Affixes) Add(name string) {
	if !a.nonEmpty {
		*a = Affixes{name, name, true, name, len(name)}
		return
	}
	if name == a.common {
		return
	}
	a.common = ""
	n := 0
	for n < min(len(a.prefix), len(name)) && a.prefix[n] == name[n] {
		n++
	}
	a.prefix = a.prefix[:n]
	for n = 0; n < min(len(a.suffix), len(name)) && a.suffix[len(a.suffix)-1-n] == name[len(name)-1-n]; {
		n++
	}
	a.suffix = a.suffix[len(a.suffix)-n:]
	a.shortest = min(a.shortest, len(name))
}

// ends returns the prefix and suffix that Cut removes. They do not split a number, unless they consist only of
// digits.
func (a *Affixes) ends() (prefix, suffix string) {
	prefix, suffix = a.prefix, a.suffix
	const digits = "0123456789"
	if cut := strings.TrimRight(prefix, digits); cut != "" {
		prefix = cut
	}
	if cut := strings.TrimLeft(suffix, digits); cut != "" {
		suffix = cut
	}
	return prefix, suffix[max(0, len(prefix)+len(suffix)-a.shortest):]
}

// Cut shortens a name to the given number of cells. It cuts common prefixes and suffixes before the middle.
func (a *Affixes) Cut(name string, cells int, ellipsis string, middle func(name string, cells int) string) string {
	n, mark := Cells(name), Cells(ellipsis)
	if n <= cells || cells < 4 {
		return Fit(name, cells, ellipsis)
	}
	prefix, suffix := a.ends()
	switch {
	case a.common == name || len(name) != n || !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, suffix):
		return middle(name, cells)
	case len(prefix) >= n-cells+mark:
		return ansi.TruncateLeft(name, n-cells+mark, ellipsis)
	case len(prefix) == 0 && len(suffix) >= n-cells+mark:
		return Fit(name, cells, ellipsis)
	case len(prefix) > 0 && n-len(prefix)-len(suffix) <= cells-2*mark:
		return ellipsis + Fit(name[len(prefix):], cells-mark, ellipsis)
	case len(prefix) > mark:
		return ellipsis + middle(name[len(prefix):], cells-mark)
	}
	return middle(name, cells)
}
