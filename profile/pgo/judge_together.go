package pgo

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/profile"
)

// together looks at whether the profiles belong together, and makes one of them.
func (j *judge) together(ctx context.Context) error {
	if len(j.profiles) == 0 {
		return nil
	}
	j.windows()
	if j.programs(); len(j.Refusals) > 0 {
		return nil // figures of two programs together are of neither
	}
	j.versions()
	if err := ctx.Err(); err != nil {
		return err
	}
	whole, err := profile.Merge(j.profiles, profile.MergeOptions{Compatible: true})
	switch {
	case err != nil:
		j.Refusals = append(j.Refusals, Refusal{"no-merge", "they cannot be merged: " + err.Error(), "judge and pack them one at a time"})
		return nil //nolint:nilerr // it is what is wrong with the profiles
	case kindOf(whole) < 0:
		j.Refusals = append(j.Refusals, Refusal{
			"no-merge", "they cannot be merged: they have no sample type in common that Go takes", "take all of them in the same way",
		})
		return nil
	}
	if kind, ok := whole.Overflow(); ok && kind == kindOf(whole) {
		j.Refusals = append(j.Refusals, Refusal{"too-large", "together their values overflow 64 bits: Go would add them up wrong", "judge and pack fewer of them"})
		return nil
	}
	j.whole = whole
	return nil
}

func (j *judge) name(i int) string { return j.inputs[j.of[i]].Name }

// twin is an input that was taken already and is the same profile.
func (j *judge) twin(in *Input) *Input {
	for _, i := range j.of {
		other := &j.inputs[i]
		if in.SHA256 != "" && in.SHA256 == other.SHA256 || sameProfile(in.Profile, other.Profile) {
			return other
		}
	}
	return nil
}

// sameProfile reports whether two profiles have the same samples of the same time.
func sameProfile(p, q *profile.Profile) bool {
	return p == q || p.Time.Equal(q.Time) && p.Duration == q.Duration && slices.Equal(p.Values, q.Values) && slices.Equal(p.Stacks, q.Stacks) &&
		slices.Equal(p.Functions, q.Functions)
}

// inexact is how much two windows of a process may overlap: a clock was set, or the beginning is when a pull began.
const inexact = time.Second

// windows finds windows of one process that overlap, though Go takes one CPU profile at a time: the name of the
// process is wrong, or parts of the samples are there twice.
func (j *judge) windows() {
	var pairs []string
	for i, p := range j.profiles {
		for k, q := range j.profiles[:i] {
			node := j.inputs[j.of[i]].Node
			if node != "" && node == j.inputs[j.of[k]].Node && !p.Time.IsZero() && !q.Time.IsZero() &&
				p.Time.Add(inexact).Before(q.Time.Add(q.Duration)) && q.Time.Add(inexact).Before(p.Time.Add(p.Duration)) {
				pairs = append(pairs, inOrder(j.name(k), j.name(i))+" are of "+node+" at the same time")
			}
		}
	}
	if len(pairs) == 0 {
		return
	}
	slices.Sort(pairs)
	j.Cautions = append(j.Cautions, Refusal{
		"windows-overlap", words.FirstOf(pairs, 3, ", ") + ": a process has one CPU profile at a time, so samples are there twice, or the name of one is wrong", "leave one out",
	})
}

// inOrder names two, the same whichever comes first.
func inOrder(a, b string) string { return min(a, b) + " and " + max(a, b) }

// versions finds profiles of several builds: by what inputs tell, else by functions that begin on other lines.
func (j *judge) versions() {
	var versions []string
	for _, i := range j.of {
		if v := j.inputs[i].GoVersion; v != "" && !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	slices.Sort(versions)
	moved := j.moved()
	var ofRuntime []string
	between := ""
	for _, m := range moved {
		if strings.HasPrefix(m.function, "runtime.") {
			ofRuntime, between = append(ofRuntime, m.function), cmp.Or(between, m.pair)
		}
	}
	const goHint = "calls inside the runtime and the standard library count for one of them only; profile what you build, with the Go that you build with"
	switch {
	case len(versions) > 1:
		j.Cautions = append(j.Cautions, Refusal{"two-go-versions", "they are of programs built with " + strings.Join(versions, " and "), goHint})
	case len(ofRuntime) > 0:
		j.Cautions = append(j.Cautions, Refusal{
			"two-go-versions", fmt.Sprintf("%s are of two Go versions: in them %s of Go's runtime begin on other lines (%s)",
				between, words.Plural(len(ofRuntime), "function"), words.FirstOf(ofRuntime, 3, ", ")), goHint,
		})
	case len(moved) > 0:
		j.Cautions = append(j.Cautions, Refusal{
			"two-builds", fmt.Sprintf("%s are of two versions of the program: in them %s begin on other lines (%s)",
				moved[0].pair, words.Plural(len(moved), "function"), moved[0].function),
			"Go finds a call by its line in the function, so what changed is lost; profile what you build",
		})
	}
}

// place is a function, by its file as well: several may have one name.
type place struct{ name, file string }

// move is a function that begins on another line in another profile of the set.
type move struct{ function, pair string }

// moved are the functions that do not begin on the same line in all profiles, by name.
func (j *judge) moved() []move {
	type start struct {
		line int64
		in   int
	}
	first, found := map[place]start{}, map[place]move{}
	builds := map[string]bool{}
	for i, p := range j.profiles {
		if id := j.inputs[j.of[i]].BuildID; id != "" && builds[id] {
			continue // the same binary as one before
		} else if id != "" {
			builds[id] = true
		}
		for at, line := range startLines(p) {
			was, ok := first[at]
			if !ok {
				first[at] = start{line, i}
			} else if was.line != line {
				found[at] = move{at.name, inOrder(j.name(was.in), j.name(i))}
			}
		}
	}
	list := make([]move, 0, len(found))
	for _, m := range found {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b move) int { return strings.Compare(a.function+"\x00"+a.pair, b.function+"\x00"+b.pair) })
	return list
}

// startLines are where the functions of a profile begin, but for those that are there twice.
func startLines(p *profile.Profile) map[place]int64 {
	lines := make(map[place]int64, len(p.Functions))
	for i := range p.Functions {
		f := &p.Functions[i]
		if f.StartLine == 0 || f.Name == "" {
			continue
		}
		at := place{f.Name, path.Base(f.File)}
		if was, ok := lines[at]; ok && was != f.StartLine {
			lines[at] = 0
		} else if !ok {
			lines[at] = f.StartLine
		}
	}
	for at, line := range lines {
		if line == 0 {
			delete(lines, at)
		}
	}
	return lines
}
