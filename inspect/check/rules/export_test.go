package rules

// Relations returns what orphan-records and checkpoint-stale-dropped look for, and what records-missing does.
func Relations() (remnants, dependent []string) {
	for _, r := range append(orphans(), staleCheckpoints()) {
		remnants = append(remnants, r.of+"s "+r.lost)
	}
	for _, d := range dependences() {
		dependent = append(dependent, d.on)
	}
	return remnants, dependent
}
