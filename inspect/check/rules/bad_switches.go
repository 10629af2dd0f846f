package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// badSwitches reports settings that are known to cost performance or stop work.
var badSwitches = &check.Check{
	ID:       "bad-switches",
	Title:    "Setting costs performance or stops work",
	Severity: check.Error,
	Symptoms: []string{check.SearchesSlow, check.WritesFail, check.AfterUpgrade},
	Starts:   "config_changed node_joined",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartServing,
	Doc:      switchesDoc(),
	Remedy: `Put the key into etcd under ` + "`config/`" + `: it overrides the configuration file. Most keys take effect
within seconds. Keys that a process reads only at startup need a restart; the finding includes this. Or set it in the
configuration file of the processes and restart them. If the value is intended, accept the finding in a baseline.`,
	Run: runBadSwitches,
}

// toggle is a setting and the problem with some of its values.
type toggle struct {
	// key is the dotted key; roles are the roles that read it.
	key   string
	roles []string
	// usual is the default.
	usual string
	// rule describes the values that are findings, for the documentation.
	rule string
	// judge returns the severity of a value; bad is false if the value is fine. n is nil for a dynamic key that no
	// process reported.
	judge func(p *check.Pass, n *model.LiveNode, value string) (severity check.Severity, bad bool)
	// effect is the effect of a bad value.
	effect string
}

func runBadSwitches(p *check.Pass) {
	if p.Runtime == nil {
		p.NoteUnseen("configuration of processes: not queried")
	} else {
		for _, n := range p.Runtime.Nodes {
			if n.Config == nil &&
				slices.ContainsFunc(toggles(), func(t toggle) bool { return slices.Contains(t.roles, n.Role) }) {
				noteUnseenConfig(p, n)
			}
		}
	}
	for _, t := range toggles() {
		if !judgeReported(p, t) && !judgeUnconfirmed(p, t) {
			judgeCopied(p, t)
		}
	}
	noteUnseenMixCoord(p)
}

// noteUnseenMixCoord notes that the settings of DataCoord and QueryCoord are unknown if they are parts of MixCoord:
// it responds like RootCoord, with only RootCoord's keys (Milvus 2.6, internal/coordinator/mix_coord.go,
// ShowConfigurations).
func noteUnseenMixCoord(p *check.Pass) {
	if p.Runtime == nil {
		return
	}
	i := slices.IndexFunc(p.Runtime.Nodes, func(n *model.LiveNode) bool {
		return n.Role == "mixcoord" && n.Config != nil
	})
	if i < 0 {
		return
	}
	n := p.Runtime.Nodes[i]
	copied, _ := p.Runtime.SubstituteConfig("dataCoord", n.Role)
	if copied == nil && !n.Config.HasComponent("dataCoord") && !n.Config.HasComponent("queryCoord") {
		p.NoteUnseen("settings of DataCoord and QueryCoord: " + n.Name() + " reports only RootCoord's" +
			p.WhyNoConfigPage())
	}
}

// judgeReported judges the values that processes report, each value once. reported is false if no process reports the
// key.
func judgeReported(p *check.Pass, t toggle) (reported bool) {
	if p.Runtime == nil {
		return false
	}
	key := model.FoldConfigKey(t.key)
	holders := make(map[string][]*model.LiveNode)
	var values []string
	for _, n := range p.Runtime.Nodes {
		v, ok := valueOf(n, key)
		if !ok || !slices.Contains(t.roles, n.Role) {
			continue
		}
		if holders[v] == nil {
			values = append(values, v)
		}
		holders[v] = append(holders[v], n)
	}
	for _, v := range values {
		nodes := holders[v]
		severity, bad := t.judge(p, nodes[0], v)
		if !bad {
			continue
		}
		f := switchFinding(p, t, severity, v, nodes[0].Name()+" ShowConfigurations")
		f.Object = model.Ref{Resource: "settings", ID: key + "/" + firstWith(p, key, v), Name: t.key}
		f.Message = fmt.Sprintf("%s is %s on %s: %s", t.key, v, facts.LiveNames(nodes), t.effect)
		f.Objects = append(f.Objects, facts.Refs(nodes, (*model.LiveNode).Ref)...)
		p.Report(f)
	}
	return len(values) > 0
}

// valueOf returns the value of a folded key on a process. Config.Get would fold the key again for each process.
func valueOf(n *model.LiveNode, key string) (value string, ok bool) {
	if n.Config == nil {
		return "", false
	}
	value, ok = n.Config.Values[key]
	return value, ok
}

// firstWith returns the first session with a value of a key, as in the list of settings.
func firstWith(p *check.Pass, key, value string) string {
	for _, n := range p.Runtime.Nodes {
		if v, ok := valueOf(n, key); ok && v == value {
			return n.Name()
		}
	}
	return ""
}

// judgeUnconfirmed judges a dynamic key that no process confirms. set is false if there is none.
func judgeUnconfirmed(p *check.Pass, t toggle) (set bool) {
	folded := model.FoldConfigKey(t.key)
	for _, e := range p.Dynamic() {
		if model.FoldConfigKey(e.Name) != folded {
			continue
		}
		set = true
		if severity, bad := t.judge(p, nil, e.Value); bad {
			f := switchFinding(p, t, severity, e.Value, "etcd")
			f.Object = model.Ref{Resource: "config", ID: e.Name, Name: e.Name}
			f.Message = fmt.Sprintf("%s is %s in etcd: %s", t.key, e.Value, t.effect)
			p.Report(f)
		}
	}
	return set
}

// judgeCopied judges a key that MixCoord does not report, in the configuration of a proxy.
func judgeCopied(p *check.Pass, t toggle) {
	copied, of := p.Runtime.SubstituteConfig(t.key, t.roles...)
	v, ok := copied.Get(t.key)
	if !ok {
		return
	}
	severity, bad := t.judge(p, nil, v)
	if !bad {
		return
	}
	f := switchFinding(p, t, severity, v, "configuration of "+of)
	f.Object = model.Ref{Resource: "settings", ID: model.FoldConfigKey(t.key) + "/" + of, Name: t.key}
	f.Message = fmt.Sprintf("%s is %s in the configuration of %s, as MixCoord does not report its own: %s", t.key, v,
		of, t.effect)
	p.Report(f)
}

func switchFinding(p *check.Pass, t toggle, severity check.Severity, value, source string) check.Finding {
	f := check.Finding{
		Severity: severity,
		Evidence: []check.Evidence{check.Fact(t.key, value, source), check.Fact("default", t.usual, "")},
		Impact:   strings.ToUpper(t.effect[:1]) + t.effect[1:] + ".",
	}
	if t.key == "quotaAndLimits.limitReading.forceDeny" {
		f.Cost = 1
	}
	key, set := p.DynamicKey(t.key)
	write := check.Etcdctl("put").Arg(key, t.usual)
	f.Fix = check.Fix(
		check.Shell(write).Does("sets the default for all processes").Interrupting(time.Minute, "nothing"),
		check.Do("or set %s to %s in milvus.yaml and restart the processes", t.key, t.usual).
			Interrupting(2*time.Minute, "each process while it restarts"),
	)
	if set {
		f.Fix = check.Fix(check.Shell(write).
			Does("sets it back to its default; the value in etcd overrides milvus.yaml").
			Interrupting(time.Minute, "nothing"))
	}
	if roles, _ := facts.ReadAtStart(p.Cluster, model.FoldConfigKey(t.key)); roles != nil {
		f.Fix[0].Within = 0 // the key alone ends the finding, but not the problem
		f.Fix = slices.Insert(f.Fix, 1,
			check.Do("restart the processes that have the value: they read this key only at start").
				Interrupting(2*time.Minute, "each process while it restarts"))
	}
	return f
}

// switchesDoc generates the documentation from toggles, so that the two cannot differ.
func switchesDoc() string {
	var b strings.Builder
	b.WriteString("Searches are slow or work stops because a setting has a bad value. The check looks at the " +
		"settings that processes report (ShowConfigurations), and at dynamic keys in etcd\n" +
		"that no process confirms. Defaults: `configs/milvus.yaml` and `pkg/util/paramtable/component_param.go`. " +
		"Reported values and their severity:\n\n")
	for _, t := range toggles() {
		fmt.Fprintf(&b, "- `%s` (default %s): %s. %s.\n", t.key, t.usual, t.rule,
			strings.ToUpper(t.effect[:1])+t.effect[1:])
	}
	b.WriteString("\nA key that no process reports counts as default. " +
		"Exception: since Milvus 2.6 MixCoord reports keys of DataCoord and QueryCoord only over HTTP " +
		"(`/management/config/get`). Otherwise the check uses the configuration of a proxy " +
		"(`/api/v1/_cluster/configs`); without that they are unknown. auto-balance-off covers auto-balance.")
	return b.String()
}
