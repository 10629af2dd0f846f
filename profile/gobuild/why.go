package gobuild

import (
	"fmt"
	"strings"

	"kitescope/profile/pgo"
)

// why is the reason for which a hot call is not inlined, from the surest to the last resort.
func (d *dryRun) why(e pgo.Edge) string {
	prefix := ""
	if d.off.inlined[e] {
		prefix = "it is inlined without the profile, and not with it: "
		if cost := d.words.cost[d.key(e.Callee)]; cost > coldBudget {
			return prefix + fmt.Sprintf("the callee grew to cost %d through inlining", cost)
		}
	}
	for _, reason := range []func(pgo.Edge) string{d.whyGone, d.whyAssembly, d.whyName, d.whyNever, d.whyInner, d.whySite} {
		if why := reason(e); why != "" {
			return prefix + why
		}
	}
	if cost := d.words.cost[d.key(e.Callee)]; cost > 0 && cost <= coldBudget {
		return prefix + fmt.Sprintf("it is cheap enough to be inlined without a profile (cost %d), and the program shows no trace of it", cost)
	} else if cost > 0 {
		return prefix + fmt.Sprintf("inlinable at cost %d, but not in this call; the compiler gives no reason", cost)
	}
	return prefix + "the compiler gives no reason"
}

// whyGone is of functions that the program does not have.
func (d *dryRun) whyGone(e pgo.Edge) string {
	for _, name := range []string{e.Caller, e.Callee} {
		_, off := d.off.places[name]
		if _, on := d.on.places[name]; !off && !on {
			return "the program has no " + name + ": the profile is of other sources, another program or another Go"
		}
	}
	return ""
}

func (d *dryRun) whyAssembly(e pgo.Edge) string {
	switch {
	case d.on.assembly[e.Caller]:
		return "the caller is assembly"
	case d.on.assembly[e.Callee]:
		return "the callee is assembly"
	}
	return ""
}

// whyName is of functions that the compiler looks up by another name (ir.LinkFuncName): profiles of old
// versions of Go have "F[...]" for all instances of a generic function, and go:linkname gives a function
// the name of another package.
func (d *dryRun) whyName(e pgo.Edge) string {
	for _, name := range []string{e.Callee, e.Caller} {
		if strings.Contains(name, short) {
			return name + " is generic, and the profile names it without its type arguments"
		}
		pkg := d.packageOf(name)
		if pkg == "" || pkg == d.key(name).pkg {
			continue
		}
		if name == e.Callee && inserted(e) && d.packageOf(e.Caller) == d.key(e.Caller).pkg {
			return byCompiler
		}
		return name + " has its name from a go:linkname in " + pkg + ", and the compiler looks it up by another"
	}
	return ""
}

// whyNever is of callees that cannot be inlined anywhere.
func (d *dryRun) whyNever(e pgo.Edge) string {
	why, ok := d.words.never[d.key(e.Callee)]
	op, unhandled := strings.CutPrefix(why, "unhandled op ")
	switch {
	case !ok:
		return ""
	case why == "no function body":
		return "the callee has no Go body: assembly or C"
	case unhandled:
		return "the callee has a statement that is never inlined: " + strings.ToLower(op)
	}
	return why
}

// whySite is of the line that the call stands on.
func (d *dryRun) whySite(e pgo.Edge) string {
	at, ok := d.site(e)
	s := d.words.sites[at]
	if !ok || s == nil {
		return ""
	}
	local := d.key(e.Callee).name
	plain := shortName(local)
	name := strings.TrimSuffix(plain[strings.LastIndexByte(strings.TrimSuffix(plain, short), '.')+1:], short)
	named := false
	for _, call := range s.calls {
		named = named || strings.Contains(call, name+"(") || strings.Contains(call, name+"[")
	}
	switch {
	case s.big || d.words.big[d.key(e.Caller)]:
		return "the caller is too large: more than 5000 nodes"
	case s.goDefer > 0 && s.goDefer >= len(s.calls):
		return "it is a go or defer statement"
	case s.cycle || e.Caller == e.Callee:
		return "the call is recursive"
	case d.words.refused[e] != "":
		return "not devirtualised: " + d.words.refused[e]
	case s.indirect == len(s.calls) && d.words.rivalled(e):
		return "not devirtualised: " + hotterRival
	case !named && s.indirect > 0 && closure(local):
		return "the callee is a closure; closures are not devirtualised"
	case !named && d.words.hottest[e] && strings.Contains(plain, "."):
		return "the callee is a method value; method values are not devirtualised"
	case !named && inserted(e):
		return byCompiler
	case !named && s.indirect == 0 && !d.off.inlined[e] && d.heard(e.Caller):
		return "no such call stands at that line: the profile is of other sources, or the compiler made the call"
	}
	return ""
}

// whyInner is of callers that are inlined everywhere themselves. What is put there is their body as it was
// before the profile changed it (devirtualize/pgo.go, pgoir/irgraph.go: "nor will we perform inlining inside an
// inlined call"), and hot calls are looked up by the function that is compiled (inl.go: inlineCostOK).
func (d *dryRun) whyInner(e pgo.Edge) string {
	if cost, ok := d.words.cost[d.key(e.Callee)]; d.on.functions[e.Caller] || (ok && cost <= coldBudget) {
		return ""
	}
	if _, ok := d.words.chosen[e]; ok {
		return "devirtualised only in the caller's own code, but the caller is inlined everywhere"
	}
	return "the caller is itself inlined everywhere; inlined bodies only inline calls that are cheap without a profile"
}

// heard reports whether the compiler said anything about a function.
func (d *dryRun) heard(name string) bool {
	key := d.key(name)
	_, can := d.words.cost[key]
	_, never := d.words.never[key]
	return can || never
}

// closure reports whether a name is one that the compiler gave.
func closure(local string) bool {
	last := local[strings.LastIndexByte(local, '.')+1:]
	return strings.HasPrefix(last, "func") && strings.Trim(last[4:], "0123456789") == "" && len(last) > 4 || strings.Trim(last, "0123456789") == ""
}

const byCompiler = "the compiler puts the call in itself, for an operation such as make, append or a map access, after it inlined"

// inserted reports whether a call is one into the runtime from outside of it.
func inserted(e pgo.Edge) bool { return ofRuntime(e.Callee) && !ofRuntime(e.Caller) }

func ofRuntime(name string) bool {
	pkg, _ := split(name)
	return pkg == "runtime" || strings.HasPrefix(pkg, "internal/runtime/") || pkg == "internal/bytealg"
}
