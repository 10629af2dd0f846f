package builds

import (
	"slices"
	"strings"

	"kitescope/profile/pgo"
)

// ShortJudgement is a judgement for people: its profiles are called by their files without the folders that are
// the same for all, as everything that is said of them says these names.
func ShortJudgement(j *pgo.Judgement) *pgo.Judgement {
	var names []string
	for i := range j.Profiles {
		if in := j.Profiles[i].Input; in != nil {
			names = append(names, in.Name)
		}
	}
	cut, short := shortNames(names)
	if cut == 0 {
		return j
	}
	refusals := func(list []pgo.Refusal) []pgo.Refusal {
		list = slices.Clone(list)
		for i := range list {
			list[i].Message = short(list[i].Message)
		}
		return list
	}
	s := *j
	s.Reason, s.Refusals, s.Cautions = short(j.Reason), refusals(j.Refusals), refusals(j.Cautions)
	s.Profiles = slices.Clone(j.Profiles)
	for i := range s.Profiles {
		a := &s.Profiles[i]
		a.Refusals = refusals(a.Refusals)
		if a.Input != nil {
			in := *a.Input
			in.Name = in.Name[cut:]
			a.Input = &in
		}
	}
	return &s
}

// shortNames is how many bytes of all names are the same folders, and what takes these out of a text with names.
func shortNames(names []string) (cut int, short func(string) string) {
	if cut = commonFolders(names); cut == 0 {
		return 0, func(text string) string { return text }
	}
	longest := slices.SortedFunc(slices.Values(names), func(a, b string) int { return len(b) - len(a) }) // the first that matches is taken
	var pairs []string
	for _, name := range longest {
		pairs = append(pairs, name, name[cut:])
	}
	return cut, strings.NewReplacer(pairs...).Replace
}

// commonFolders is how many bytes of all names are the same folders. A name itself is never cut.
func commonFolders(names []string) int {
	if len(names) == 0 {
		return 0
	}
	same := names[0]
	for _, name := range names {
		same = same[:min(len(same), len(name))]
		for !strings.HasPrefix(name, same) {
			same = same[:len(same)-1]
		}
	}
	n := strings.LastIndexAny(same, `/\`) + 1
	if slices.ContainsFunc(names, func(name string) bool { return len(name) == n }) {
		return 0
	}
	return n
}
