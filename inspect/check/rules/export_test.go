package rules

// Relations returns the relations that orphan-records and checkpoint-stale-dropped check, and those of
// records-missing.
func Relations() (remnants, dependent []string) {
	for _, r := range append(orphans(), staleCheckpoints()) {
		remnants = append(remnants, r.record+"s "+r.owners)
	}
	for _, d := range recordDependencies() {
		dependent = append(dependent, d.name)
	}
	return remnants, dependent
}
