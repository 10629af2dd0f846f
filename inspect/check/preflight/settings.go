package preflight

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

//go:embed settings.tsv
var settingsText string

// key is one key of Milvus's configuration, with its values in the releases of settings.tsv.
type key struct {
	name   string
	values [3]string // per release: the default, absent, or instead and the key that replaces it
}

// Values of a key in a release that does not have it.
const (
	absent   = "·"
	replaced = "→"
)

// tableReleases holds the releases of settings.tsv.
var tableReleases = [3]facts.Release{release(2, 5), release(2, 6), release(3, 0)}

// keys returns the rows of settings.tsv by folded name.
var keys = sync.OnceValue(func() map[string]*key {
	all := map[string]*key{}
	for line := range strings.Lines(settingsText) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 4 || fields[0] == "key" {
			continue
		}
		k := &key{fields[0], [3]string(fields[1:])}
		for i, v := range k.values {
			k.values[i] = strings.Replace(v, `""`, "", 1)
		}
		all[model.FoldConfigKey(fields[0])] = k
	}
	return all
})

// column returns the column of a release in settings.tsv, -1 if it has none.
func column(r facts.Release) int { return slices.Index(tableReleases[:], r) }

// hasKey reports whether a release has a key. It returns true for a key that is not in settings.tsv, because all
// its releases have it, and for releases that settings.tsv does not cover.
func hasKey(r facts.Release, name string) bool {
	k, at := keys()[model.FoldConfigKey(name)], column(r)
	return k == nil || at < 0 || k.values[at] != absent
}

// customSetting is a setting that differs from its default, as far as is known, or that is set in etcd.
type customSetting struct{ name, value, from string }

// customSettings returns the settings of the cluster whose key is in settings.tsv, by folded name. Processes report
// their whole configuration, so their values count only if they differ from the default of the running release.
func customSettings(p *check.Pass, at int) map[string]customSetting {
	found, told := map[string]customSetting{}, map[string]bool{}
	take := func(c *model.Config, of string) {
		if c == nil {
			return
		}
		for folded, value := range c.Values {
			k := keys()[folded]
			if told[folded] = true; k == nil || at < 0 || value == k.values[at] {
				continue
			}
			if _, ok := found[folded]; !ok {
				found[folded] = customSetting{k.name, value, of}
			}
		}
	}
	if p.Runtime != nil {
		for _, n := range p.Runtime.Nodes {
			take(n.Config, n.Name())
		}
		for _, process := range p.Runtime.Processes { // used for sessions that report only some keys
			take(process.Config.Without(told), "configuration of "+process.ConfigOf)
		}
	}
	for folded, e := range model.DynamicEntries(p.Dynamic()) {
		if k := keys()[folded]; k != nil {
			found[folded] = customSetting{k.name, e.Value, "dynamic configuration"}
		}
	}
	return found
}

// noteMissingConfig notes that configurations are missing, because milvus.yaml has no other source.
func noteMissingConfig(p *check.Pass) {
	if p.Runtime == nil ||
		!slices.ContainsFunc(p.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Config != nil }) {
		p.NoteUnseen("settings of milvus.yaml: no process reported its configuration")
		return
	}
	mixed := slices.ContainsFunc(p.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Role == "mixcoord" })
	if mixed && !slices.ContainsFunc(p.Runtime.Processes, func(p *model.Process) bool { return p.Config != nil }) {
		p.NoteUnseen("most settings of the coordinators in milvus.yaml: MixCoord reports only a few, " +
			"and no proxy reported its whole configuration")
	}
}

var settings = rule{
	forward: true, back: true,
	Check: check.Check{
		ID:       "upgrade-settings",
		Title:    "The other version ignores some settings",
		Severity: check.Warning,
		Parts:    model.PartConfig,
		Doc: `Compares settings that differ from their default, in etcd and in processes, with the keys of the target
release. Warning for keys that it lacks and does not read under an older name. Covers 2.5.14, 2.6.22 and 3.0.1
(pkg/util/paramtable). Keys of index nodes are ignored: 2.6 removes these nodes.`,
		Remedy: `Look up what replaces the setting, or remove it. Milvus ignores unknown keys silently.`,
	},
	run: runSettings,
}

func runSettings(p *check.Pass, plan Plan) {
	to := column(plan.To.Release)
	if to < 0 {
		p.Skip("the keys of " + plan.To.Release.String() + " are unknown: only 2.5, 2.6 and 3.0 are covered")
		return
	}
	noteMissingConfig(p)
	if from := plan.From.Release; column(from) < 0 && p.Runtime != nil {
		p.NoteUnseen("settings of milvus.yaml: the defaults of " + from.String() +
			" are unknown, and so are changed settings")
	}
	f := check.Finding{
		Severity: check.Warning, Impact: "These settings no longer have any effect, and Milvus does not report it.",
	}
	set := customSettings(p, column(plan.From.Release))
	var names []string
	for _, folded := range slices.Sorted(maps.Keys(set)) {
		if c := set[folded]; keys()[folded].values[to] == absent && !strings.HasPrefix(c.name, "indexNode.") {
			names = append(names, c.name)
			f.Evidence = append(f.Evidence, check.Fact(c.name, c.value, c.from))
		}
	}
	if len(names) == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s %s does not have: %s", words.Count(len(names), "setting that", "settings that"),
		plan.To, words.Summarize(names))
	f.Fix = check.Fix(
		check.Do("check milvus.yaml of Milvus %s for replacements of %s", plan.To.String(), names),
		check.Shell(check.Kitescope("get config")).Does("lists the settings in etcd"),
	)
	p.Report(f)
}

var defaults = rule{
	forward: true,
	Check: check.Check{
		ID:       "upgrade-defaults",
		Title:    "Unset settings get a different default",
		Severity: check.Info,
		Parts:    model.PartConfig,
		Doc: `Lists unset keys whose default differs in the target release (pkg/util/paramtable at 2.5.14, 2.6.22 and
3.0.1). The most important: in 2.6 ` + "`autoIndex.params.build`" + ` (new AUTOINDEX indexes are HNSW_SQ with 4 bits,
not HNSW), ` + "`queryCoord.balancer`" + `, ` + "`queryNode.mmap.vectorField`" + `, ` + "`common.session.ttl`" +
			`; in 3.0
the privileges of built-in groups.`,
		Remedy: `Set the old default to keep the behavior.`,
	},
	run: runDefaults,
}

func runDefaults(p *check.Pass, plan Plan) {
	from, to := column(plan.From.Release), column(plan.To.Release)
	if from < 0 || to < 0 {
		p.Skip(fmt.Sprintf("cannot compare the defaults of %s and %s: only 2.5, 2.6 and 3.0 are covered",
			plan.From.Release, plan.To.Release))
		return
	}
	noteMissingConfig(p)
	set := customSettings(p, from)
	f := check.Finding{
		Severity: check.Info, Impact: "The cluster behaves differently although its settings are unchanged.",
	}
	var names []string
	for _, folded := range slices.Sorted(maps.Keys(keys())) {
		k := keys()[folded]
		was, is := k.values[from], k.values[to]
		_, own := set[folded]
		if own || was == is || was == absent || is == absent || strings.HasPrefix(was+is, replaced) ||
			strings.HasPrefix(is, replaced) {
			continue
		}
		names = append(names, k.name)
		f.Evidence = append(f.Evidence, check.Fact(k.name, describeChange(was, is), "pkg/util/paramtable"))
	}
	if len(names) == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s a different default in %s: %s",
		words.Count(len(names), "setting has", "settings have"), plan.To, words.Summarize(names))
	f.Fix = check.Fix(check.Do("to keep the old behavior, set %s to their current defaults", names))
	p.Report(f)
}

// describeChange describes the change of a default. For a long list it returns only the added and removed elements.
func describeChange(oldValue, newValue string) string {
	const long = 60
	if len(oldValue)+len(newValue) < long || strings.Contains(oldValue, "{") {
		return oldValue + " becomes " + newValue
	}
	before, after := strings.Split(oldValue, ","), strings.Split(newValue, ",")
	var parts []string
	for _, x := range []struct {
		verb      string
		all, less []string
	}{{"adds ", after, before}, {"removes ", before, after}} {
		if more := slices.DeleteFunc(slices.Clone(x.all), func(s string) bool {
			return slices.Contains(x.less, s)
		}); len(more) > 0 {
			parts = append(parts, x.verb+strings.Join(more, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
