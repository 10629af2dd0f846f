package flame

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// Folded writes each stack of a tree on a line, root first, with ";" between frames and its value behind: what flamegraph.pl and
// its kin read. Of a difference the lines have two values, before and after, as difffolded.pl writes them
// (github.com/brendangregg/FlameGraph). A ";" or a line break in a name is replaced.
func Folded(w io.Writer, t *flame.Tree) error {
	out := bufio.NewWriter(w)
	var path []string
	for i := range t.Frames {
		f := &t.Frames[i]
		if path = path[:max(0, f.Depth-1)]; f.Depth > 0 {
			path = append(path, foldedName(t.NameOf(f)))
		}
		if f.Self == 0 && f.BaseSelf == 0 {
			continue
		}
		line := strings.Join(path, ";")
		if line == "" {
			line = "(no stack)"
		}
		if t.Diff {
			line = fmt.Sprint(line, " ", f.BaseSelf)
		}
		if _, err := fmt.Fprintln(out, line, f.Self); err != nil {
			return err
		}
	}
	return out.Flush()
}

// foldedName is a name as it can stand in a line of frames: never empty, nor with what separates.
func foldedName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(words.Harmless(name), ";", ":"))
	if name == "" {
		return "(no name)"
	}
	return name
}
