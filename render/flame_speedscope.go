package render

import (
	"io"
	"strconv"
	"strings"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/words"
)

// FlameSpeedscope writes the file format of speedscope, its "sampled" profiles
// (github.com/jlfwong/speedscope src/lib/file-format-spec.ts): one of p, and of a difference a
// second one, of the base. Each distinct stack is one sample, weighted by its value.
func FlameSpeedscope(w io.Writer, base, p *profile.Profile, o flame.Options, fo FlameOptions) error {
	stacks, err := flame.NewStacks(base, p, o)
	if err != nil {
		return err
	}
	out := newOutput(w)
	out.buf = append(out.buf, `{"$schema":"https://www.speedscope.app/file-format-schema.json","name":`...)
	out.buf = words.AppendJSON(out.buf, fo.Title)
	out.buf = append(out.buf, `,"activeProfileIndex":0,"exporter":`...)
	out.buf = words.AppendJSON(out.buf, strings.TrimSpace("kitescope "+fo.Version))
	out.buf = append(out.buf, `,"profiles":[`...)
	name := fo.Title
	if name == "" {
		name = stacks.Type.String()
	}
	if err := speedscopeProfile(&out, name, stacks, false); err != nil {
		return err
	}
	if stacks.Diff {
		if stacks, err = flame.NewStacks(base, p, o); err != nil { // they can be gone through once
			return err
		}
		out.buf = append(out.buf, ',')
		if err := speedscopeProfile(&out, "base of "+name, stacks, true); err != nil {
			return err
		}
	}
	out.buf = append(out.buf, `],"shared":{"frames":[`...)
	for i, name := range stacks.Names {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		out.buf = append(out.buf, `{"name":`...)
		out.buf = words.AppendJSON(out.buf, name)
		if file := stacks.Files[i]; file != "" {
			out.buf = append(out.buf, `,"file":`...)
			out.buf = words.AppendJSON(out.buf, file)
		}
		out.buf = append(out.buf, '}')
		out.drain()
	}
	out.buf = append(out.buf, "]}}\n"...)
	return out.flush()
}

// speedscopeProfile writes one side. Samples go out at once, weights are kept until their turn.
func speedscopeProfile(out *output, name string, stacks *flame.Stacks, ofBase bool) error {
	out.buf = append(out.buf, `{"type":"sampled","name":`...)
	out.buf = words.AppendJSON(out.buf, name)
	out.buf = append(out.buf, `,"unit":"`+speedscopeUnit(stacks.Type.Unit)+`","startValue":0,"samples":[`...)
	var weights []int64
	err := stacks.Each(func(frames []uint32, value, base int64) error {
		if ofBase {
			value = base
		}
		if value == 0 {
			return nil
		}
		if len(weights) > 0 {
			out.buf = append(out.buf, ',')
		}
		weights = append(weights, value)
		out.buf = append(out.buf, '[')
		for i, frame := range frames {
			if i > 0 {
				out.buf = append(out.buf, ',')
			}
			out.buf = strconv.AppendUint(out.buf, uint64(frame), 10)
		}
		out.buf = append(out.buf, ']')
		out.drain()
		return out.err
	})
	if err != nil {
		return err
	}
	out.buf = append(out.buf, `],"weights":[`...)
	var total int64
	for i, weight := range weights {
		if i > 0 {
			out.buf = append(out.buf, ',')
		}
		out.buf = strconv.AppendInt(out.buf, weight, 10)
		out.drain()
		total += weight
	}
	out.buf = append(out.buf, `],"endValue":`...)
	out.buf = append(strconv.AppendInt(out.buf, total, 10), '}')
	return out.err
}

// speedscopeUnit is the format's word for a unit: it knows these and "none".
func speedscopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		return unit
	}
	return "none"
}
