package rules

// Relations returns the relations that orphan-records and checkpoint-stale-dropped check, and those of
// records-missing.
func Relations() (remnants, dependent []string) {
	for _, r := range append(orphans(), staleCheckpoints()) {
		remnants = append(remnants, r.of+"s "+r.lost)
	}
	for _, d := range dependences() {
		dependent = append(dependent, d.on)
	}
	return remnants, dependent
}
