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

// Speedscope writes the file format of speedscope, its "sampled" profiles
// (github.com/jlfwong/speedscope src/lib/file-format-spec.ts): one of p, and of a difference a
// second one, of the base. Each distinct stack is one sample, weighted by its value.
func Speedscope(w io.Writer, base, p *profile.Profile, o flame.Options, fo Options) error {
	stacks, err := flame.NewStacks(base, p, o)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, pieceSize)
	head := append(out.AvailableBuffer(), `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":`...)
	head = words.AppendJSON(head, fo.Title)
	head = append(head, `,"activeProfileIndex":0,"exporter":`...)
	head = words.AppendJSON(head, strings.TrimSpace("kitescope "+fo.Version))
	if _, err := out.Write(append(head, `,"profiles":[`...)); err != nil {
		return err
	}
	name := fo.Title
	if name == "" {
		name = stacks.Type.String()
	}
	if err := speedscopeProfile(out, name, stacks, false); err != nil {
		return err
	}
	if stacks.Diff {
		if stacks, err = flame.NewStacks(base, p, o); err != nil { // they can be gone through once
			return err
		}
		if err := out.WriteByte(','); err != nil {
			return err
		}
		if err := speedscopeProfile(out, "base of "+name, stacks, true); err != nil {
			return err
		}
	}
	return speedscopeFrames(out, stacks)
}

// speedscopeFrames writes the names that both sides share, and the end.
func speedscopeFrames(out *bufio.Writer, stacks *flame.Stacks) error {
	line := append(out.AvailableBuffer(), `],"shared":{"frames":[`...)
	for i, name := range stacks.Names {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, `{"name":`...)
		line = words.AppendJSON(line, name)
		if file := stacks.Files[i]; file != "" {
			line = append(line, `,"file":`...)
			line = words.AppendJSON(line, file)
		}
		if _, err := out.Write(append(line, '}')); err != nil {
			return err
		}
		line = out.AvailableBuffer()
	}
	if _, err := out.Write(append(line, "]}}\n"...)); err != nil {
		return err
	}
	return out.Flush()
}

// speedscopeProfile writes one side. Samples go out at once, weights are kept until their turn.
func speedscopeProfile(out *bufio.Writer, name string, stacks *flame.Stacks, ofBase bool) error {
	head := append(out.AvailableBuffer(), `{"type":"sampled","name":`...)
	head = words.AppendJSON(head, name)
	if _, err := out.Write(append(head, `,"unit":"`+speedscopeUnit(stacks.Type.Unit)+`","startValue":0,"samples":[`...)); err != nil {
		return err
	}
	var weights []int64
	err := stacks.Each(func(frames []uint32, value, base int64) error {
		if ofBase {
			value = base
		}
		if value == 0 {
			return nil
		}
		line := out.AvailableBuffer()
		if len(weights) > 0 {
			line = append(line, ',')
		}
		weights = append(weights, value)
		line = append(line, '[')
		for i, frame := range frames {
			if i > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendUint(line, uint64(frame), 10)
		}
		_, err := out.Write(append(line, ']'))
		return err
	})
	if err != nil {
		return err
	}
	return speedscopeWeights(out, weights)
}

// speedscopeWeights writes the values of the samples of one side, and ends it.
func speedscopeWeights(out *bufio.Writer, weights []int64) error {
	line := append(out.AvailableBuffer(), `],"weights":[`...)
	var total int64
	for i, weight := range weights {
		if i > 0 {
			line = append(line, ',')
		}
		if _, err := out.Write(strconv.AppendInt(line, weight, 10)); err != nil {
			return err
		}
		line, total = out.AvailableBuffer(), total+weight
	}
	line = append(line, `],"endValue":`...)
	_, err := out.Write(append(strconv.AppendInt(line, total, 10), '}'))
	return err
}

// speedscopeUnit is the format's word for a unit: it knows these and "none".
func speedscopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		return unit
	}
	return "none"
}
