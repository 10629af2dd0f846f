package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// samplesType is the type of sample counts, as in Go's CPU profiles.
var samplesType = profile.ValueType{Type: "samples", Unit: "count"}

// readFolded reads stacks in the input format of flamegraph.pl (github.com/brendangregg/FlameGraph): frames
// from root to leaf separated by semicolons, a space, and a count.
func readFolded(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	f := folded{b: newBuilder(o, samplesType), frames: map[string]uint32{}}
	if err := newLines(ctx, r).each(f.line); err != nil {
		return nil, err
	}
	if !f.read {
		return nil, errors.New("it has no stack with a count")
	}
	f.b.Meta().Origin.Format = "folded"
	return f.b.Profile(), nil
}

type folded struct {
	b      *profile.Builder
	read   bool // at least one stack was read
	frames map[string]uint32
	stack  []uint32
	total  int64
}

func (f *folded) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	stack, count, ok := cutCount(line)
	if line[0] == '#' && (!ok || bytes.IndexByte(stack, ';') < 0) {
		return nil
	}
	if _, _, two := cutCount(stack); ok && two && !f.read {
		return hints.Errorf("give each profile to kitescope profile diff",
			"the line has two counts: it is the difference of two profiles")
	}
	if !ok || len(bytes.TrimSpace(stack)) == 0 {
		return malformedLine("folded stacks",
			"remove lines that are not stacks: frames between semicolons, a space, a count", line)
	}
	n, err := parseFoldedCount(count)
	if err != nil {
		return err
	}
	if f.total, err = addAbs(f.total, n); err != nil {
		return err
	}
	f.read = true
	f.stack = f.stack[:0]
	for len(stack) > 0 {
		at := bytes.LastIndexByte(stack, ';')
		if frame := stack[at+1:]; len(frame) > 0 {
			f.stack = append(f.stack, f.frame(frame))
		}
		stack = stack[:max(at, 0)]
	}
	return f.b.Sample(f.stack, []int64{n})
}

// frame returns the location of a name. Suffixes like _[k] are annotations of stackcollapse-perf.pl.
func (f *folded) frame(name []byte) uint32 {
	if at, ok := f.frames[string(name)]; ok {
		return at
	}
	s, mapping := string(name), int32(profile.NoMapping)
	for _, a := range annotations {
		if cut, ok := strings.CutSuffix(s, a.suffix); ok && cut != "" {
			s = cut
			if a.file != "" {
				mapping = f.b.Mapping(profile.Mapping{File: a.file, HasFunctions: true})
			}
		}
	}
	var at uint32
	if mapping == profile.NoMapping {
		at = bareFrame(f.b, s)
	} else {
		at = f.b.Frame(s, mapping)
	}
	f.frames[string(name)] = at
	return at
}

// bareFrame returns the location of a frame with only a name. A name in brackets is a library, as written by
// pprof and stackcollapse-perf.pl.
func bareFrame(b *profile.Builder, name string) uint32 {
	switch {
	case name == unknown || name == "<unknown>" || name == "":
		return b.Location(profile.NoMapping, 0)
	case len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']':
		return b.Location(b.Mapping(profile.Mapping{File: name[1 : len(name)-1]}), 0)
	}
	return b.Frame(name, profile.NoMapping)
}

// unknown is perf's name of an unknown symbol or file.
const unknown = "[unknown]"

var annotations = []struct{ suffix, file string }{{"_[k]", kernelFile}, {"_[j]", "[jit]"}, {"_[i]", ""}}

// kernelFile is perf's name of the kernel.
const kernelFile = "[kernel.kallsyms]"

// cutCount splits a line into the stack and the number at its end.
func cutCount(line []byte) (stack, count []byte, ok bool) {
	line = bytes.TrimRight(line, " \t")
	at := bytes.LastIndexAny(line, " \t")
	if at < 0 || at+1 == len(line) {
		return nil, nil, false
	}
	count = line[at+1:]
	digits := 0
	for i, c := range count {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && digits > 0:
		case (c == '-' || c == '+') && i == 0:
		default:
			return nil, nil, false
		}
	}
	return bytes.TrimRight(line[:at], " \t"), count, digits > 0
}

func parseFoldedCount(count []byte) (int64, error) {
	whole, fraction, _ := strings.Cut(string(count), ".")
	if strings.Trim(fraction, "0") != "" {
		return 0,
			hints.Errorf(`scale the counts first: awk '{$NF = int($NF * 1000000); print}' FILE`,
				"the count %s is not a whole number", count)
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the count %.40q is not a 64-bit number", count)
	}
	return n, nil
}

// addAbs adds the absolute value of n to total, the base of percentages. It returns an error if the sum
// overflows.
func addAbs(total, n int64) (int64, error) {
	if n < 0 {
		n = -n
	}
	if n < 0 || total > math.MaxInt64-n {
		return 0, errors.New("the values add up to more than 64 bits can hold")
	}
	return total + n, nil
}
