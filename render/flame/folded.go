package flame

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
)

// pieceSize is how much is written at a time.
const pieceSize = 64 << 10

// Folded writes each stack on a line, root first, with ";" between frames and its value
// behind: what flamegraph.pl and its kin read, in the order of names. With a base the lines have
// two values, before and after, as difffolded.pl writes them
// (github.com/brendangregg/FlameGraph). A ";" or a line break in a name is replaced.
func Folded(w io.Writer, base, p *profile.Profile, o flame.Options) error {
	stacks, err := flame.NewStacks(base, p, o)
	if err != nil {
		return err
	}
	names := make([]string, len(stacks.Names))
	for i, name := range stacks.Names {
		names[i] = foldedName(name)
	}
	out := bufio.NewWriterSize(w, pieceSize)
	err = stacks.Each(func(frames []uint32, value, base int64) error {
		line := out.AvailableBuffer()
		for i, frame := range frames {
			if i > 0 {
				line = append(line, ';')
			}
			line = append(line, names[frame]...)
		}
		if len(frames) == 0 {
			line = append(line, "(no stack)"...)
		}
		line = append(line, ' ')
		if stacks.Diff {
			line = append(strconv.AppendInt(line, base, 10), ' ')
		}
		line = append(strconv.AppendInt(line, value, 10), '\n')
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
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
