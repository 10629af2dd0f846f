package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	requests "kitescope/inspect/impact"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
	"kitescope/internal/words"
)

// requestsFailing reports kinds of requests that fail, are refused or hang.
var requestsFailing = &check.Check{
	ID:       "requests-failing",
	Title:    "Client requests fail, are refused or hang",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.WritesFail, check.LoadsHang, check.FlushesHang},
	Starts:   "node_lost node_joined config_changed | collection_released channel_reassigned",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Clients get errors instead of results. Proxies count requests of each kind by result
(` + "`milvus_proxy_req_count`" + ` in 2.3 and later). Requests hang at a proxy if none ended in at least 4 seconds,
longer than they usually take, and more than one is in flight or one arrived. Flushes hang if segments stay sealed for
9 seconds. Errors that coordinators count and proxies of 2.3 take for successes count too.

Error for the kinds of which at least three requests, and 1%, failed or were refused, or of which some wait while none
ended; warning below 5%. Failures that Milvus ascribes to the client (2.6.20) do not count. The message names the
component where they break: the first on their path whose calls, counters or callers show a fault and whose
dependencies show none. A finding of another check there is the cause.

Unknown: proxies without metrics, and requests refused before they are counted (authorization up to 2.6.0, messages
that are too large).`,
	Remedy: `Follow the finding that it is listed under. If there is none, start at the named component:
` + "`kitescope get calls`" + ` has each call that kitescope made to it, and its log has the error of each request.`,
	Run: func(p *check.Pass) { runRequests(p, requests.Refused, requests.Hanging) },
}

// requestsSlow reports kinds of requests that take longer than before.
var requestsSlow = &check.Check{
	ID:       "requests-slow",
	Title:    "Client requests take longer than before",
	Severity: check.Warning,
	Slowness: true,
	Symptoms: []string{check.SearchesSlow, check.WritesFail},
	Starts:   "node_lost node_joined config_changed | collection_loading channel_reassigned",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Searches suddenly take far longer. Proxies measure the time of requests that succeed. Warning for the kinds
whose mean between two scrapes is more than three times, and 50 ms above, the earlier mean, over at least 50 requests
then and ten now (DDL, flushes, loads and imports: three); or, over at least three, more than five times and 200 ms
above; metadata reads: 500 ms above. Also if half of ten or more take three times as long as the faster half did, and
50 ms more; if a tenth take twice as long as nineteen of twenty did; or if a fifth take eight times as long as half
did. If requests of another kind are slow, fail or hang, two slow ones are enough. The message names the slow
component, if there is one; ` + "`kitescope why`" + ` breaks the time down.`,
	Remedy: `Follow the finding that it is listed under, else the largest part in ` + "`kitescope why`" + `.`,
	Run:    func(p *check.Pass) { runRequests(p, requests.Slow, requests.Slow) },
}

func runRequests(p *check.Pass, from, to requests.State) {
	x := p.Impact()
	unknown := ""
	var order []string
	broken := map[string][]*requests.Kind{} // by component
	for i := range x.Kinds {
		k := &x.Kinds[i]
		switch {
		case k.State == requests.Unknown:
			unknown = k.Why
		case k.State >= from && k.State <= to:
			where := unknownPlace + k.Request.Path()
			if at := statusOf(p, k); at != nil {
				where = cmp.Or(at.Component.Name, string(at.Component.Kind))
			}
			if broken[where] == nil {
				order = append(order, where)
			}
			broken[where] = append(broken[where], k)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { // a place that is known may be the cause of one that is not
		return cmp.Compare(strings.Count(a, unknownPlace), strings.Count(b, unknownPlace))
	})
	for _, where := range order {
		reportRequests(p, where, broken[where])
	}
	for _, why := range x.Unseen {
		p.NoteUnseen("requests at " + why)
	}
	if unknown != "" && len(x.Unseen) == 0 {
		p.NoteUnseen("requests: " + unknown)
	}
}

// unknownPlace begins the id of findings about requests whose place is unknown.
const unknownPlace = "unknown/"

// statusOf returns the component where requests of a kind break, or nil if it is unknown.
func statusOf(p *check.Pass, k *requests.Kind) *place.Status {
	if at := p.Places().For(k.Request); at != nil {
		return at.Status
	}
	return nil
}

// requestsText returns a summary of kinds of requests, e.g. "searches and deletes hang, inserts fail now and
// then". The figures are in the impact.
func requestsText(kinds []*requests.Kind) string {
	var verbs, clauses []string
	names := map[string][]string{}
	for _, k := range kinds {
		verb := map[requests.State]string{
			requests.Slow: "are slow", requests.Hanging: "hang", requests.Refused: "are refused",
			requests.Failing: "fail",
		}[k.State]
		if k.State != requests.Slow && k.FewFailed() {
			verb += " now and then"
		}
		if names[verb] == nil {
			verbs = append(verbs, verb)
		}
		names[verb] = append(names[verb], k.Request.Plural())
	}
	for _, verb := range verbs {
		if len(names[verb]) == len(requests.Requests()) {
			return requests.AllRequests + " " + verb
		}
		clauses = append(clauses, words.List("and", names[verb]...)+" "+verb)
	}
	return strings.Join(clauses, ", ")
}

// reportRequests reports the kinds of requests that break at one component.
func reportRequests(p *check.Pass, where string, kinds []*requests.Kind) {
	var names, lines []string
	f := check.Finding{Severity: check.Warning}
	for _, k := range kinds {
		names, lines = append(names, k.Request.Plural()), append(lines, k.Line())
		f.Requests, f.Severity = append(f.Requests, k.Request), max(f.Severity, check.RequestSeverity(k))
		f.Evidence = append(f.Evidence, check.Fact(k.Request.Plural(), k.Text(), "proxies /metrics"))
		f.Objects = append(f.Objects, k.Proxies...)
	}
	f.Object = model.Ref{Resource: "requests", ID: where, Name: words.List("and", names...)}
	if len(kinds) == len(requests.Requests()) {
		f.Object.Name = requests.AllRequests
	}
	if kinds[0].Why != "" { // the reason is the same for all kinds
		lines = []string{f.Object.Name + " " + kinds[0].Text()}
	}
	f.Message, f.Impact = requestsText(kinds), words.Sentence(strings.Join(lines, "; "))
	at := statusOf(p, kinds[0])
	if at == nil {
		f.Fix = check.Fix(check.Shell(check.Kitescope("get calls")).
			Does("shows each call to a process and how it ended"))
	} else {
		f.Message += ": " + whereText(p, kinds, at)
		f.Objects = append(f.Objects, refsOf(at)...)
		f.Evidence = append(f.Evidence, statusFacts(at)...)
		f.Fix = lookSteps(p, at)
	}
	slices.SortFunc(f.Objects, func(a, b model.Ref) int { return words.CompareNatural(a.ID, b.ID) })
	f.Objects = slices.Compact(f.Objects)
	p.Report(f)
}

// refsOf returns a reference to the session of a component that is a process, and nil for other components.
func refsOf(s *place.Status) []model.Ref {
	if ref := s.Component.Ref(); ref.ID != "" {
		return []model.Ref{ref}
	}
	return nil
}

// statusFacts returns the observations behind a component's state as evidence, at most facts.MostNodes.
func statusFacts(s *place.Status) []check.Evidence {
	var list []check.Evidence
	for i := range s.Evidence {
		if e := &s.Evidence[i]; len(list) < facts.MostNodes && e.State.Bad() == s.State.Bad() {
			list = append(list,
				check.Fact(componentText(s.Component)+", "+e.Strength.String()+" evidence", e.Text, e.Source))
		}
	}
	return list
}

// whereText returns the component where requests break, and its state.
func whereText(p *check.Pass, kinds []*requests.Kind, s *place.Status) string {
	text := componentText(s.Component) + " " + stateText(s.State)
	if s.Component.Kind == place.Host {
		text = componentText(s.Component) + " lacks CPU"
	}
	if s.Component.Kind == place.Queue && s.State == place.Refusing {
		text += topicsText(p, kinds)
	}
	if s.Strength == place.Weak {
		text = "perhaps " + text
	}
	return text
}

// componentText returns the name of a component for messages, e.g. "DataCoord datacoord-22", "the message
// queue".
func componentText(c place.Component) string {
	switch c.Kind {
	case place.Etcd:
		return "etcd"
	case place.Queue:
		return "the message queue"
	case place.Storage:
		return "the storage"
	case place.Host:
		return "host " + c.Name
	}
	return strings.TrimSpace(facts.RoleLabel(string(c.Kind)) + " " + c.Name)
}

// stateText returns a state as a verb phrase.
func stateText(s place.State) string {
	switch s {
	case place.Gone:
		return "is gone"
	case place.Hanging:
		return "hangs"
	case place.Failing:
		return "fails"
	case place.Refusing:
		return "refuses"
	case place.Slow:
		return "is slow"
	case place.Starved:
		return "lacks CPU or memory"
	case place.Fine:
		return "is healthy"
	case place.Unknown:
	}
	return "is unknown"
}

// topicsText names the topics of the collection into which clients sent rows meanwhile. It returns "" unless
// there is one such collection with at most 3 topics.
func topicsText(p *check.Pass, kinds []*requests.Kind) string {
	const few = 3
	names := map[string]bool{}
	for _, x := range processes(p, "proxy") {
		x.window.EachCounter(metrics.ProxyReceivedBytes, func(labels []model.Pair, came float64) {
			s := model.Series{Labels: labels}
			if came > 0 &&
				slices.ContainsFunc(kinds, func(k *requests.Kind) bool {
					return strings.EqualFold(s.Label("msg_type"), string(k.Request))
				}) {
				names[s.Label("collection_name")] = true
			}
		})
	}
	if len(names) != 1 {
		return ""
	}
	var topics []string
	for _, c := range p.Collections {
		if !names[c.Name] {
			continue
		}
		for _, v := range p.VChannelsOf(c.ID) {
			topics = append(topics, v.PChannel)
		}
	}
	if len(topics) == 0 || len(topics) > few {
		return ""
	}
	return " messages into " + words.Summarize(topics)
}

// lookSteps returns the steps that investigate a component.
func lookSteps(p *check.Pass, s *place.Status) []check.Step {
	if s.State == place.Gone {
		return check.Fix(check.Do("start %s again", cmp.Or(s.Component.Name, componentText(s.Component))).
			Interrupting(2*time.Minute, "nothing"))
	}
	switch s.Component.Kind {
	case place.Etcd:
		steps := check.Fix(check.Do("check the disk of etcd, how long its fsync takes " +
			"(etcd_disk_wal_fsync_duration_seconds), and the network to it"))
		if p.Etcd != nil && len(respondingMembers(p)) > 0 {
			steps = append(steps, check.Shell(check.Etcdctl("endpoint status --cluster").
				Flag("--endpoints=", endpoints(respondingMembers(p)))).Does("shows the leader, and errors of members"))
		}
		return steps
	case place.Queue:
		return check.Fix(check.Do("check its topic settings (message size, retention), client quotas and the " +
			"broker's log"))
	case place.Storage:
		return check.Fix(check.Do("check its free space, access keys and log"), check.FindFiles(p.Facts))
	case place.Host:
		return check.Fix(check.Do("stop other work on host %s, or give it more CPU", s.Component.Name).
			Interrupting(2*time.Minute, "that other work"))
	}
	steps := check.Fix(check.Do("read the log of %s, and compare its CPU and memory limits with its use",
		cmp.Or(s.Component.Name, string(s.Component.Kind))))
	if ref := s.Component.Ref(); ref.ID != "" {
		for _, n := range p.Runtime.Nodes {
			if n.Name() == ref.ID {
				steps = append(steps, check.Shell(check.TopCommand(n)).Does("shows where it spends its CPU"))
			}
		}
	}
	return steps
}
