package replay

import (
	"fmt"

	"kitescope/replay/load"
)

func pointFields(f *fields, p *load.Point) {
	f.object("plan", func(f *fields) { planFields(f, &p.Plan) })
	known(f, "k", &p.K, 0)
	known(f, "ef", &p.EF, 0)
	known(f, "nprobe", &p.NProbe, 0)
	whole(f, "open_sessions", &p.Open)
	f.number("recall", &p.Recall, -1)
	f.number("recall_low", &p.RecallLow, 0)
	f.number("recall_high", &p.RecallHigh, 0)
	f.number("qps", &p.QPS, 0)
	f.number("qps_low", &p.QPSLow, 0)
	f.number("qps_high", &p.QPSHigh, 0)
	whole(f, "queries", &p.Queries)
	f.seconds("took_seconds", &p.Took)
	whole(f, "asked", &p.Asked)
	whole(f, "failed", &p.Failed)
	whole(f, "late", &p.Late)
	whole(f, "unsent", &p.Unsent)
	counts(f, "errors", &p.Errors)
	f.knownSeconds("cpu_per_query_seconds", &p.CPUPerQuery)
	f.number("switches_per_query", &p.SwitchesPerQuery, 0)
	f.number("distances_per_query", &p.DistancesPerQuery, 0)
	latency(f, "latency", &p.Latency)
	latency(f, "failed_latency", &p.FailedLatency)
	latency(f, "server_latency", &p.Server)
	latency(f, "wire_latency", &p.Wire)
	latency(f, "queued_latency", &p.Queued)
	latency(f, "waited_latency", &p.Waited)
	list(f, "rounds", &p.Repeats, func(f *fields, r *load.Round) {
		f.seconds("took_seconds", &r.Took)
		whole(f, "asked", &r.Asked)
		whole(f, "failed", &r.Failed)
		whole(f, "tail", &r.Tail)
		whole(f, "queries", &r.Queries)
		f.number("qps", &r.QPS, 0)
		f.knownSeconds("cpu_seconds", &r.CPU)
		f.flag("cut", &r.Cut)
		latency(f, "latency", &r.Latency)
	})
	f.text("stopped", &p.Stopped)
	f.texts("notes", &p.Notes)
}

func planFields(f *fields, p *load.Plan) {
	whole(f, "sessions", &p.Sessions)
	f.number("rate", &p.Rate, 0)
	f.flag("timed", &p.Timed)
	f.number("speed", &p.Speed, 0)
	f.flag("poisson", &p.Poisson)
	f.seed("seed", &p.Seed)
	f.seconds("warmup_seconds", &p.Warmup)
	f.knownSeconds("round_seconds", &p.Round)
	known(f, "requests", &p.Requests, 0)
	whole(f, "rounds", &p.Rounds)
	f.knownSeconds("deadline_seconds", &p.Deadline)
	known(f, "total", &p.Total, 0)
}

// latency is a distribution; one of nothing is left out.
func latency(f *fields, key string, l *load.Latency) {
	some := l
	if f.out != nil && l.Count == 0 {
		some = nil
	}
	optional(f, key, &some, func(f *fields, l *load.Latency) {
		whole(f, "count", &l.Count)
		f.seconds("mean_seconds", &l.Mean)
		f.seconds("min_seconds", &l.Min)
		f.seconds("max_seconds", &l.Max)
		f.seconds("p50_seconds", &l.P50)
		f.seconds("p90_seconds", &l.P90)
		f.seconds("p95_seconds", &l.P95)
		f.seconds("p99_seconds", &l.P99)
		f.seconds("p999_seconds", &l.P999)
		f.seconds("sd_seconds", &l.SD)
		list(f, "bars", &l.Bars, func(f *fields, b *load.Bar) {
			f.seconds("up_to_seconds", &b.UpTo)
			whole(f, "count", &b.Count)
		})
	})
	if f.out != nil {
		return
	}
	*l = load.Latency{}
	if some != nil {
		*l = *some
		f.checkLatency(key, l)
	}
}

// checkLatency refuses what no histogram says, and what a plot would stumble over.
func (f *fields) checkLatency(key string, l *load.Latency) {
	if *f.err != nil {
		return
	}
	wrong := l.Count < 0 || min(l.Mean, l.Min, l.Max, l.P50, l.P90, l.P95, l.P99, l.P999, l.SD) < 0
	for i, b := range l.Bars {
		wrong = wrong || b.Count < 0 || b.UpTo < 0 || i > 0 && b.UpTo <= l.Bars[i-1].UpTo
	}
	if wrong {
		*f.err = fmt.Errorf("%s%s: counts and times of 0 or more, and bars in their order, were expected", f.path, key)
	}
}
