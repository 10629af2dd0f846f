package check

// NotRunGroup is a group of checks that could not run for the same reason.
type NotRunGroup struct {
	// Status is Skipped or Broken.
	Status Status
	Reason string
	Checks []*Check
}

// NotRun returns the checks that were skipped, then those that failed, grouped by reason.
func (r *Report) NotRun() []NotRunGroup {
	var list []NotRunGroup
	for _, status := range []Status{Skipped, Broken} {
		at := make(map[string]int)
		for _, x := range r.Results {
			if x.Status != status {
				continue
			}
			i, ok := at[x.Reason]
			if !ok {
				i = len(list)
				at[x.Reason] = i
				list = append(list, NotRunGroup{Status: status, Reason: x.Reason})
			}
			list[i].Checks = append(list[i].Checks, x.Check)
		}
	}
	return list
}

// Tally returns the number of checks by status.
func (r *Report) Tally() (counts [Broken + 1]int) {
	for _, x := range r.Results {
		counts[min(x.Status, Broken)]++
	}
	return counts
}
