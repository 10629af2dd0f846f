package read

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/profile/bench"
)

// join combines the files of a side into Sets.
func (g *collector) join(name string) ([]*bench.Set, error) {
	if len(g.files) == 0 {
		return nil, g.errNoResults(name)
	}
	if len(g.files) == 1 && len(g.refused) == 0 {
		return g.files[0].table.sets, nil
	}
	sides := 1
	for _, f := range g.files {
		if n := len(f.table.sets); !f.table.observes && n != sides {
			if sides > 1 || f.path != g.firstResult() {
				return nil,
					hints.Errorf("compare files that hold one side each",
						"read %s: %s holds %d sides, and others do not", name, f.path, n)
			}
			sides = n
		}
	}
	sets := make([]*bench.Set, sides)
	for i := range sets {
		j := joiner{set: &bench.Set{Name: g.sideName(name, i, sides)}, several: sides > 1}
		for _, group := range j.runsOf(g.groups()) {
			j.group(group, i)
		}
		if len(j.set.Runs) > maxRuns {
			return nil, fmt.Errorf("read %s: it has more than %d runs", name, maxRuns)
		}
		j.set.Format = strings.Join(j.formats, " + ")
		sets[i] = j.set
	}
	if n := len(g.refused); n > 0 {
		sets[0].Notes = append(sets[0].Notes,
			fmt.Sprintf("skipped files that are not results (%d of %d): %s", n, n+len(g.files),
				words.FirstOf(g.refused, 5, ", ")))
	}
	return sets, nil
}

// errNoResults returns the error for a folder without results.
func (g *collector) errNoResults(name string) error {
	if len(g.refused) > 0 {
		return hints.Errorf(formatsHint(), "read %s: none of its %d files is a result; the first: %w", name,
			len(g.refused), g.first)
	}
	return hints.Errorf("each file or subfolder of a folder is a run", "read %s: the folder is empty", name)
}

// firstResult returns the path of the first file with more than observations.
func (g *collector) firstResult() string {
	for _, f := range g.files {
		if !f.table.observes {
			return f.path
		}
	}
	return ""
}

func (g *collector) sideName(name string, i, sides int) string {
	if sides == 1 {
		return name
	}
	for _, f := range g.files {
		if !f.table.observes {
			return f.table.sets[i].Name
		}
	}
	return name
}

// groups returns the files grouped by run, in their order.
func (g *collector) groups() [][]file {
	var all [][]file
	at := map[string]int{}
	for _, f := range g.files {
		i, ok := at[f.group]
		if !ok {
			i = len(all)
			at[f.group] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], f)
	}
	return all
}

// joiner builds one Set from many files.
type joiner struct {
	set *bench.Set
	// several is true if the files hold several sides.
	several bool
	formats []string
	names   map[string]bool
}

// runsOf assigns observations whose name matches no run to the only run. If there are several runs, it skips
// such observations, because each covers all runs together. If all files are observations, each is a run.
func (j *joiner) runsOf(groups [][]file) [][]file {
	observesOnly := func(group []file) bool {
		return !slices.ContainsFunc(group, func(f file) bool { return !f.table.observes })
	}
	var runs, alone [][]file
	for _, group := range groups {
		if observesOnly(group) {
			alone = append(alone, group)
		} else {
			runs = append(runs, group)
		}
	}
	switch {
	case len(runs) == 0 || len(alone) == 0:
		return groups
	case len(runs) == 1:
		return [][]file{slices.Concat(runs[0], slices.Concat(alone...))}
	}
	for _, group := range alone {
		for _, f := range group {
			base := clean(filepath.Base(f.path))
			j.set.Notes = append(j.set.Notes, fmt.Sprintf("%s matches no run by name and was left out: name it "+
				"after its run, such as %s-%s",
				base, clean(runs[0][0].name), base))
		}
	}
	return runs
}

// group adds the files of a run, for one side.
func (j *joiner) group(files []file, side int) {
	var results, seen []bench.Run
	for _, f := range files {
		if f.table.observes && j.several {
			j.set.Notes = append(j.set.Notes,
				clean(filepath.Base(f.path))+" skipped: it does not name the side it observed")
			continue
		}
		s := f.table.sets[min(side, len(f.table.sets)-1)]
		if !slices.Contains(j.formats, s.Format) {
			j.formats = append(j.formats, s.Format)
		}
		for _, n := range s.Notes {
			j.set.Notes = append(j.set.Notes, clean(filepath.Base(f.path))+": "+n)
		}
		runs := nameRuns(f, s.Runs)
		if f.table.observes {
			seen = append(seen, runs...)
		} else {
			results = combine(results, runs)
		}
	}
	switch {
	case len(results) == 1:
		if _, ok := rateOf(&results[0]); !ok && len(seen) > 0 && results[0].Failed == "" {
			j.set.Notes = append(j.set.Notes,
				"run "+results[0].Name+" has no single request rate: observed values are not shown per request")
		}
		for _, o := range seen {
			observe(&results[0], o)
		}
	case len(results) > 1 && len(seen) > 0:
		j.set.Notes = append(j.set.Notes, fmt.Sprintf(
			"observed values (%s) skipped: they cover %d runs together", clean(filepath.Base(files[len(files)-1].path)),
			len(results)))
	case len(results) == 0:
		results = combine(nil, seen)
	}
	for _, r := range results {
		r.Name = j.unique(r.Name)
		j.set.Runs = append(j.set.Runs, r)
	}
}

// nameRuns names runs after their file. If a file has several runs, it appends their own names.
func nameRuns(f file, runs []bench.Run) []bench.Run {
	name := f.name
	if name == "" || name == "." {
		name = filepath.Base(f.path)
	}
	all := slices.Clone(runs)
	for i := range all {
		if len(all) == 1 {
			all[i].Name = clean(name)
		} else {
			all[i].Name = clean(name + "/" + all[i].Name)
		}
	}
	return all
}

// combine merges the run of another file into the existing run, if both are single runs that succeeded and
// measured different metrics. Otherwise it appends the runs.
func combine(have, more []bench.Run) []bench.Run {
	if len(have) != 1 || len(more) != 1 || have[0].Failed != "" || more[0].Failed != "" || overlaps(have[0], more[0]) {
		return append(have, more...)
	}
	have[0].Values = slices.Concat(have[0].Values, more[0].Values)
	return have
}

func overlaps(a, b bench.Run) bool {
	have := map[bench.Metric]bool{}
	for _, v := range a.Values {
		have[v.Metric] = true
	}
	return slices.ContainsFunc(b.Values, func(v bench.Value) bool { return have[v.Metric] })
}

// unique appends a number to a name that already exists.
func (j *joiner) unique(name string) string {
	if j.names == nil {
		j.names = map[string]bool{}
	}
	given := name
	for n := 2; j.names[name]; n++ {
		name = fmt.Sprintf("%s#%d", given, n)
	}
	j.names[name] = true
	return name
}
