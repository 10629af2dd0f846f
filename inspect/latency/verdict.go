package latency

import (
	"strings"

	"kitescope/internal/words"
)

// minRequests is the number of requests below which a mean is unreliable.
const minRequests = 30

// Requests returns a name for the requests of a budget, e.g. "search of docs".
func Requests(b *Budget) string {
	if b.Name == "" {
		return string(b.Request)
	}
	return string(b.Request) + " of " + b.Name
}

// Verdict returns a sentence about the main phases of a budget, e.g. "search of docs 221 ms: 92% waiting
// for consistency".
func Verdict(b *Budget) string {
	if b == nil {
		return ""
	}
	what := Requests(b)
	if !b.Root.Known {
		what += " at a shard leader"
	}
	text := what + " " + Milliseconds(b.Ms) + ": "
	list := b.Main()
	if len(list) == 0 {
		return strings.TrimSuffix(text, ": ")
	}
	parts, about := make([]string, len(list)), ""
	if b.Scope == Shared {
		about = "~"
	}
	for i, m := range list {
		parts[i] = about + share(m.Share) + " " + m.Activity
	}
	text += strings.Join(parts, ", ")
	if !b.Root.Known {
		text += "; time in the proxy unknown"
	}
	if b.Root.Known && b.Requests < minRequests {
		text += " (only " + words.Plural(int64(b.Requests), "request") + ")"
	}
	return text
}

// Tail returns a sentence about a tail of requests that take much longer than the mean. It returns "" without
// such a tail, or if too few requests were counted.
func Tail(b *Budget) string {
	const many, far = 100, 4
	if b == nil || b.Requests < many || b.Ms <= 0 || b.P99.Low < far*b.Ms {
		return ""
	}
	text := "1% of requests take " + strings.TrimSuffix(Milliseconds(b.P99.Low/b.Ms), " ms") +
		" times the mean or more: the phases describe the other 99%"
	if b.Request == Search || b.Request == Query {
		text += "; kitescope slow lists them"
	}
	return text
}

// share formats a fraction as a whole percentage, because more digits would suggest more precision.
func share(part float64) string {
	if part > 0.01 {
		return words.Percent(float64(int(100*part + 0.5)))
	}
	return words.Share(part)
}

// Part is an activity on which a request spends time.
type Part struct {
	Phase    *Phase // the largest phase of this activity
	Activity string // e.g. "waiting for consistency"
	Ms       float64
	Share    float64
}

// Main returns the largest parts of a request in descending order: at most three, and after the first only
// parts of at least a fifth of the whole.
func (b *Budget) Main() []Part {
	const worth = 0.2
	var all []Part
	at := map[string]int{}
	for _, p := range b.Root.Leaves() {
		if p.Ms <= 0 {
			continue
		}
		doing := p.Activity()
		i, ok := at[doing]
		if !ok {
			i, at[doing] = len(all), len(all)
			all = append(all, Part{Phase: p, Activity: doing})
		}
		if p.Ms > all[i].Phase.Ms {
			all[i].Phase = p
		}
		all[i].Ms, all[i].Share = all[i].Ms+p.Ms, all[i].Share+p.Share
	}
	var list []Part
	for len(list) < 3 {
		best := -1
		for i := range all {
			if best < 0 || all[i].Ms > all[best].Ms {
				best = i
			}
		}
		if best < 0 || all[best].Ms <= 0 || len(list) > 0 && all[best].Share < worth {
			break
		}
		list = append(list, all[best])
		all[best].Ms = 0
	}
	return list
}

// Activity returns a description of a phase, e.g. "waiting for consistency".
func (p *Phase) Activity() string {
	if p.Name == Unexplained {
		switch p.Parent {
		case WaitForNodes:
			return "between a leader and its workers, not broken down by any metric"
		case WaitForWorkers:
			return "in workers outside their queue and kernels, not broken down by any metric"
		default:
			return "in the proxy or on its calls, not broken down by any metric"
		}
	}
	return activities[p.Name]
}

// activities maps phases without children to descriptions.
var activities = map[Name]string{
	ProxyRest:        "in the proxy, before and after its task",
	ProxyQueue:       "queueing in the proxy",
	MetadataCache:    "fetching metadata from the coordinators",
	WaitForNodes:     "waiting for query nodes",
	ConsistencyWait:  "waiting for consistency",
	ConsistencyQueue: "waiting for consistency or queueing on query nodes",
	WaitForWorkers:   "waiting for workers",
	ReadQueue:        "queueing on query nodes",
	PoolWait:         "waiting for a slot in the read pool of query nodes",
	ThreadWait:       "waiting for search threads",
	KernelSealed:     "searching sealed segments",
	KernelGrowing:    "searching growing segments",
	ReduceSegments:   "reducing results in workers",
	ReduceShards:     "reducing results in shard leaders",
	ReduceProxy:      "reducing results in the proxy",
	Decode:           "decoding results in the proxy",
	Requery:          "fetching the output fields",
	AllocateIDs:      "allocating row ids",
	AssignSegments:   "requesting segments to write to",
	WALAppend:        "waiting for the message queue",
	Flush:            "writing to storage (no client waits for it)",
}

// Milliseconds formats a duration in milliseconds, e.g. "221 ms", "4.2 ms" or "0.31 ms".
func Milliseconds(ms float64) string {
	switch {
	case ms < 0.005: // below the resolution of any metric
		return "0 ms"
	case ms < 10:
		return trim(words.ThreeDigits(ms)) + " ms"
	}
	return words.Number(int64(ms+0.5)) + " ms"
}

// trim drops the last of three digits, because means of Milvus metrics are not more precise.
func trim(text string) string {
	if len(text) > 3 {
		return text[:len(text)-1]
	}
	return text
}
