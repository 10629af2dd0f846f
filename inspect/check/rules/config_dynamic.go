package rules

import (
	"fmt"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// configuredKeys returns the folded keys that have a value in etcd. Processes are compared with that value, not
// with the majority, which may not have applied it yet.
func configuredKeys(p *check.Pass) map[string]bool {
	keys := make(map[string]bool, len(p.Dynamic()))
	for _, e := range p.Dynamic() {
		if !e.Redacted {
			keys[model.FoldConfigKey(e.Name)] = true
		}
	}
	return keys
}

// refreshDelay is the time for which a process may still have the previous value after a change in etcd. It reads the
// keys every 5 s, and each read may take 3 s (pkg/util/paramtable, NewBaseTable; pkg/config/etcd_source.go,
// ReadConfigTimeout). Measured on 2.3.5: 5 to 8 s.
const refreshDelay = 10 * time.Second

// changedKeys returns the folded keys that were set, changed or deleted in etcd less than refreshDelay before
// the processes were queried. Processes may have the old or the new value.
func changedKeys(p *check.Pass) map[string]bool {
	asked := p.Runtime.From // the earliest time of any response
	if asked.IsZero() {
		asked = p.AskedAt().Add(p.ClockSkew)
	}
	keys := make(map[string]bool)
	var names []string
	for _, x := range p.ConfigChanges {
		if asked.Sub(x.At) < refreshDelay {
			keys[model.FoldConfigKey(x.Name)] = true
			names = append(names, x.Name)
		}
	}
	if len(names) > 0 {
		p.NoteUnseen("whether processes apply " + words.Summarize(names) +
			": changed in etcd a moment ago; that takes up to " +
			words.Span(refreshDelay))
	}
	return keys
}

// judgeDynamic compares a dynamic key with the values of the processes.
func judgeDynamic(p *check.Pass, e *model.ConfigEntry) {
	if e.Redacted {
		return
	}
	key, want := model.FoldConfigKey(e.Name), facts.Canonical(e.Value)
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "config", ID: e.Name, Name: e.Name},
		Evidence: []check.Evidence{check.Fact("dynamic key "+e.Name, e.Value, "etcd")},
		Impact:   "A value that an operator set is not in effect.",
		Fix: check.Fix(check.Do("check the spelling of the key and its value"),
			check.Do("restart the processes that do not have it: some keys are read at startup only").
				Interrupting(2*time.Minute, "each process while it restarts")),
	}
	var differ []*model.LiveNode
	told, expected := 0, false
	for _, n := range p.Runtime.Nodes {
		if n.Config == nil {
			continue
		}
		expected = expected || facts.SharedKey(key) || strings.HasPrefix(key, n.Role)
		v, ok := n.Config.Values[key]
		if !ok {
			continue
		}
		told++
		if facts.Canonical(v) != want {
			differ = append(differ, n)
			f.Objects = append(f.Objects, n.Ref())
			f.Evidence = append(f.Evidence, check.Fact("value of "+n.Name(), v, n.Name()+" ShowConfigurations"))
		}
	}
	early := facts.StartedBefore(p.Cluster, e)
	if len(early) > 0 {
		f.Fix = check.Fix(check.Do("restart %s: a process reads this key only when it starts", facts.NamesOf(early)).
			Interrupting(2*time.Minute, "each process while it restarts"))
	}
	switch {
	case len(differ) == 0 && len(early) > 0:
		_, source := facts.ReadAtStart(p.Cluster, key)
		f.Objects = append(f.Objects, facts.RefNodes(facts.NamesOf(early))...)
		f.Evidence = append(f.Evidence, check.Fact("read at start", source, "Milvus"))
		f.Message = fmt.Sprintf("%s was set to %s in etcd after %s started, which %s it only at start", e.Name, e.Value,
			facts.SessionNames(early), words.Agree(len(early), "reads", "read"))
		f.Impact = "The old value is in effect until a restart, whatever the process reports."
	case len(differ) > 0:
		f.Message = fmt.Sprintf("%s is %s in etcd, but %s %s %s", e.Name, e.Value, facts.LiveNames(differ),
			words.Agree(len(differ), "has", "have"), differ[0].Config.Values[key])
	case told == 0 && expected:
		f.Severity = check.Info
		f.Message = e.Name + " is set in etcd, but no process reports such a key"
	case told == 0:
		p.NoteUnseen("whether " + e.Name + " in etcd is in effect: no process reports keys of its role")
		return
	default:
		return
	}
	p.Report(f)
}
