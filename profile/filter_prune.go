package profile

import (
	"regexp"
	"slices"
	"strings"
)

// Prune removes the frames that DropFrames marks as uninteresting, as `go tool pprof` does when it loads a
// profile. These are the frames whose name matches DropFrames but not KeepFrames, with all their callees
// (google/pprof profile/prune.go: RemoveUninteresting). Go sets neither. C++ profilers set DropFrames to the
// names of their allocators. Like pprof, Prune ignores an invalid expression.
func (p *Profile) Prune() *Profile {
	if p.DropFrames == "" {
		return p
	}
	out := *p
	out.DropFrames, out.KeepFrames = "", ""
	drop, err := regexp.Compile("^(" + p.DropFrames + ")$")
	if err != nil {
		return &out
	}
	var keep *regexp.Regexp
	if p.KeepFrames != "" {
		if keep, err = regexp.Compile("^(" + p.KeepFrames + ")$"); err != nil {
			return &out
		}
	}
	matched := make([]bool, len(p.Functions))
	for i := range matched {
		if name := p.Functions[i].Name; name != "" {
			simple := simpleName(name)
			matched[i] = drop.MatchString(simple) && (keep == nil || !keep.MatchString(simple))
		}
	}
	out.pruneLocations(matched)
	return &out
}

// pruneLocations removes matched functions and their callees from locations and stacks.
func (p *Profile) pruneLocations(matched []bool) {
	whole, beneath := make([]bool, len(p.Locations)), make([]bool, len(p.Locations))
	locations := slices.Clone(p.Locations)
	for i := range locations {
		lines := p.LinesOf(uint32(i))
		j := len(lines) - 1
		for j >= 0 && !matched[lines[j].Function] {
			j--
		}
		if j < 0 {
			continue
		}
		beneath[i] = true
		if whole[i] = j == len(lines)-1; !whole[i] {
			locations[i].FirstLine += uint32(j) + 1
			locations[i].Lines -= uint32(j) + 1
		}
	}
	p.Locations = locations
	p.restack(func(stack []uint32) []uint32 {
		// Matches before the first frame of the program itself are kept. Otherwise everything might be
		// removed.
		user := false
		for i, l := range slices.Backward(stack) {
			switch {
			case !beneath[l]:
				user = true
			case user && whole[l]:
				return stack[i+1:]
			case user:
				return stack[i:]
			}
		}
		return stack
	})
}

// restack replaces each stack by part(stack), which must be a subslice of the stack.
func (p *Profile) restack(part func([]uint32) []uint32) {
	starts, stacks := make([]uint32, 1, len(p.Starts)), make([]uint32, 0, len(p.Stacks))
	for i := range p.Len() {
		stacks = append(stacks, part(p.Stack(i))...)
		starts = append(starts, uint32(len(stacks)))
	}
	if len(p.Starts) > 0 {
		p.Starts, p.Stacks = starts, stacks
	}
}

// simpleName returns a function's name without arguments (google/pprof profile/prune.go: simplifyFunc).
func simpleName(name string) string {
	name = strings.TrimPrefix(name, ".")
	for i := 0; i < len(name); i++ {
		if name[i] == 'o' && strings.HasPrefix(name[i:], "operator()") {
			i += len("operator()") - 1
			continue
		}
		if name[i] == '(' {
			if strings.HasPrefix(name[i:], "(anonymous namespace)") {
				i += len("(anonymous namespace)") - 1
				continue
			}
			return name[:i]
		}
	}
	return name
}
