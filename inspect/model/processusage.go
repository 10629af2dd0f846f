package model

import "time"

// StartedAt returns the start time of the process, zero if unknown.
func (p *Process) StartedAt() time.Time {
	if p == nil {
		return time.Time{}
	}
	const beyond = 253402300800 // the year 10000, which JSON cannot represent
	seconds, ok := p.Metrics.Sum("process_start_time_seconds")
	if !ok || !(seconds > 0 && seconds < beyond) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}

// CPU returns the CPU time that a process uses, in cores, over the time between its two scrapes, or else on
// average since it started. ok is false if neither is known.
func (p *Process) CPU() (cores float64, over time.Duration, ok bool) {
	const name = "process_cpu_seconds_total"
	if p == nil {
		return 0, 0, false
	}
	now, ok := p.Metrics.Sum(name)
	if !ok {
		return 0, 0, false
	}
	if before, had := p.Before.Sum(name); had && now >= before && !p.sameScrape() {
		if over = p.Metrics.At.Sub(p.Before.At); over > 0 {
			return (now - before) / over.Seconds(), over, true
		}
	}
	if over = p.Metrics.At.Sub(p.StartedAt()); p.StartedAt().IsZero() || over <= 0 {
		return 0, 0, false
	}
	return now / over.Seconds(), over, true
}

// sameScrape reports whether the two scrapes are the same one. Responding to a scrape allocates memory, so
// this counter of a running Go process always increases.
func (p *Process) sameScrape() bool {
	const name = "go_memstats_alloc_bytes_total"
	now, ok := p.Metrics.Sum(name)
	before, had := p.Before.Sum(name)
	return ok && had && now == before
}

// ResidentBytes returns the memory of a process as counted by the operating system.
func (p *Process) ResidentBytes() (int64, bool) {
	if p == nil {
		return 0, false
	}
	v, ok := p.Metrics.Sum("process_resident_memory_bytes")
	return int64(v), ok
}
