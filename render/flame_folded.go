package render

import (
	"io"
	"strconv"
	"strings"

	"kitescope/profile"
	"kitescope/profile/flame"
)

// FlameFolded writes each stack on a line, root first, with ";" between frames and its value
// behind: what flamegraph.pl and its kin read, in the order of names. With a base the lines have
// two values, before and after, as difffolded.pl writes them
// (github.com/brendangregg/FlameGraph). A ";" or a line break in a name is replaced.
func FlameFolded(w io.Writer, base, p *profile.Profile, o flame.Options) error {
	stacks, err := flame.NewStacks(base, p, o)
	if err != nil {
		return err
	}
	names := make([]string, len(stacks.Names))
	for i, name := range stacks.Names {
		names[i] = foldedName(name)
	}
	out := newOutput(w)
	err = stacks.Each(func(frames []uint32, value, base int64) error {
		for i, frame := range frames {
			if i > 0 {
				out.buf = append(out.buf, ';')
			}
			out.buf = append(out.buf, names[frame]...)
		}
		if len(frames) == 0 {
			out.buf = append(out.buf, "(no stack)"...)
		}
		out.buf = append(out.buf, ' ')
		if stacks.Diff {
			out.buf = append(strconv.AppendInt(out.buf, base, 10), ' ')
		}
		out.buf = append(strconv.AppendInt(out.buf, value, 10), '\n')
		out.drain()
		return out.err
	})
	if err != nil {
		return err
	}
	return out.flush()
}

// foldedName is a name as it can stand in a line of frames: never empty, nor with what separates.
func foldedName(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(Harmless(name), ";", ":"))
	if name == "" {
		return "(no name)"
	}
	return name
}
