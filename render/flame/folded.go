package flame

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// Folded writes folded stacks, the format of flamegraph.pl and similar tools: a stack per line, root first, with
// ";" between frames, followed by its value. For a difference, lines have two values, before and after, as
// written by difffolded.pl (github.com/brendangregg/FlameGraph). It replaces ";" and line breaks in names.
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

// foldedName returns a name that is valid in a folded stack: not empty and without separators.
func foldedName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(words.Sanitize(name), ";", ":"))
	if name == "" {
		return "(no name)"
	}
	return name
}
