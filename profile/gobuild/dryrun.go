package gobuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/profile/pgo"
)

// DryRunOptions say what is built.
type DryRunOptions struct {
	// Dir is a folder of the module, Package one of its main packages as Module.Main takes it, "" for the only one.
	Dir, Package string
	// Profile is the file to build with.
	Profile string
	// Flags are further flags of "go build", such as -tags=x.
	Flags []string
	// Edges are those of Profile.
	Edges *pgo.Edges
}

// hotPercent is the share of the weight of all edges that the compiler takes for hot
// (cmd/compile/internal/inline/inl.go: inlineCDFHotCallSiteThresholdPercent).
const hotPercent = 99

// coldBudget is what a function may cost to be inlined without a profile (inl.go: inlineMaxBudget).
const coldBudget = 80

// DryRun builds a program without and with a profile, into a temporary folder, and says what differs: which
// calls are inlined in the one binary and not in the other, as their inline trees show it, and what the
// compiler said about the rest.
//
// With a profile everything is compiled anew, the standard library too; the go command keeps that, and what
// the compiler said, in its cache, so that a second run takes seconds.
func DryRun(ctx context.Context, o DryRunOptions) (*pgo.DryRun, error) {
	if o.Edges == nil {
		return nil, errors.New("dry run: no edges of the profile")
	}
	module, err := FindModule(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	main, err := module.Main(o.Package)
	if err != nil {
		return nil, err
	}
	for _, flag := range o.Flags {
		if name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "="); name == "pgo" || name == "o" {
			return nil, hints.Errorf("leave it away", "dry run: the flag %s is the dry run's own", flag)
		}
	}
	if o.Profile, err = filepath.Abs(o.Profile); err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.Profile); err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	tmp, err := os.MkdirTemp(module.Temp, "kitescope-dryrun-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	d := dryRun{o: o, module: module, main: main, tmp: tmp, words: newWords(module.Dir)}
	return d.run(ctx)
}

// dryRun is the work of DryRun.
type dryRun struct {
	o      DryRunOptions
	module *Module
	main   Main
	tmp    string
	words  *words
	hot    []pgo.Edge
	// packages are all of the build: folder to import path.
	packages map[string]string
	// off and on are the binaries without and with the profile.
	off, on *calls
	onSize  int64
	offSize int64
}

func (d *dryRun) run(ctx context.Context) (*pgo.DryRun, error) {
	var err error
	d.hot, _ = d.o.Edges.Hot(hotPercent)
	plain := append([]string{"-pgo=off"}, d.o.Flags...)
	if d.off, d.offSize, err = d.build(ctx, "off", nil, plain); err != nil {
		return nil, err
	}
	if d.packages, err = d.list(ctx); err != nil {
		return nil, err
	}
	if d.on, d.onSize, err = d.build(ctx, "on", d.words.line, d.speak(d.want())); err != nil {
		return nil, err
	}
	r := &pgo.DryRun{Dir: d.module.Dir, Package: d.main.ImportPath, GoVersion: d.module.GoVersion, Grown: d.onSize - d.offSize, Known: true}
	r.Decisions = d.decide()
	for _, decision := range r.Decisions {
		switch decision.What {
		case pgo.Inlines:
			r.Inlined++
		case pgo.Devirtualises:
			r.Devirtualised++
		case pgo.Skips:
			r.Skipped++
		}
	}
	return r, nil
}

// build makes one of the binaries and reads it. No version control is asked: what it says would only
// be recorded in a binary that nobody keeps.
func (d *dryRun) build(ctx context.Context, name string, words func([]byte) bool, flags []string) (*calls, int64, error) {
	out := filepath.Join(d.tmp, name)
	args := append([]string{"build", "-buildvcs=false", "-o", out}, flags...)
	// Full paths of files are what joins the compiler's words with the binary.
	args = append(args, "-trimpath=false", d.main.ImportPath)
	if _, err := goCommand(ctx, d.module.Dir, d.tmp, words, args...); err != nil {
		what := "without a profile"
		if words != nil {
			what = "with the profile"
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		return nil, 0, hints.Errorf("build it by hand first, in "+d.module.Dir+": "+shellquote.Shell("go", "build").Arg(d.module.names([]Main{d.main})).String(),
			"build %s %s: %w", d.main.ImportPath, what, err)
	}
	info, err := os.Stat(out)
	if err != nil {
		return nil, 0, err
	}
	b, err := ReadBinary(out)
	if err != nil {
		return nil, 0, err
	}
	c, err := b.calls(ctx)
	// What was used once is not needed any more; the larger of programs have a gigabyte.
	return c, info.Size(), errors.Join(err, os.Remove(out))
}

// list are the packages of the build.
func (d *dryRun) list(ctx context.Context) (map[string]string, error) {
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir"}, d.o.Flags...)
	answer, err := goCommand(ctx, d.module.Dir, "", nil, append(args, d.main.ImportPath)...)
	if err != nil {
		return nil, fmt.Errorf("list the dependencies of %s: %w", d.main.ImportPath, err)
	}
	packages := map[string]string{}
	err = objects(answer, func(p *listed) error {
		packages[filepath.Clean(p.Dir)] = p.ImportPath
		return nil
	})
	return packages, err
}

// want tells words which functions and lines matter, those of the profile, and returns the packages that
// they are in. The compiler is asked about these alone: it says a hundred times as much as anyone needs.
func (d *dryRun) want() []string {
	named := map[string]bool{}
	for edge := range d.o.Edges.Weight {
		for _, name := range []string{edge.Callee, edge.Caller} {
			key := d.key(name)
			d.words.want(key)
			named[key.pkg] = true
			named[d.packageOf(name)] = true
		}
	}
	for _, edge := range d.hot {
		if s, ok := d.site(edge); ok {
			d.words.sites[s] = &siteWords{}
		}
	}
	var packages []string
	for _, pkg := range d.packages {
		if named[pkg] {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	return packages
}

// key is a function as the compiler of its package names it.
func (d *dryRun) key(name string) funcKey {
	pkg, local := split(name)
	if pkg == "main" {
		pkg = d.main.ImportPath
	}
	return funcKey{pkg, local}
}

// packageOf is the package that the source of a function lies in, "" if unknown.
func (d *dryRun) packageOf(name string) string {
	return d.packages[filepath.Dir(d.off.places[name].file)]
}

// site is the line of a call.
func (d *dryRun) site(e pgo.Edge) (site, bool) {
	p, ok := d.off.places[e.Caller]
	return site{p.file, p.start + e.Offset}, ok && p.file != ""
}

// speak are the flags of the build with the profile: those that make the compiler talk about some packages.
// Flags for the compiler that the user gave hold there too, unless they are for a pattern of packages: of
// those that match a package the go command takes the last, so the user's come last and the words are lost.
func (d *dryRun) speak(packages []string) []string {
	flags := []string{"-pgo=" + d.o.Profile}
	var all, own string
	var patterns []string
	for i := 0; i < len(d.o.Flags); i++ {
		name, value, has := strings.Cut(strings.TrimLeft(d.o.Flags[i], "-"), "=")
		if name != "gcflags" {
			flags = append(flags, d.o.Flags[i])
			continue
		}
		if !has && i+1 < len(d.o.Flags) {
			i++
			value = d.o.Flags[i]
		}
		pattern, rest, _ := strings.Cut(value, "=")
		switch {
		case strings.HasPrefix(value, "-") || value == "":
			own = value
		case pattern == "all":
			all = rest
		default:
			patterns = append(patterns, "-gcflags="+value)
		}
	}
	if all != "" {
		flags = append(flags, "-gcflags=all="+all)
	}
	if own != "" {
		flags = append(flags, "-gcflags="+own)
	}
	for _, pkg := range packages {
		given := all
		if pkg == d.main.ImportPath && own != "" {
			given = own
		}
		flags = append(flags, "-gcflags="+pkg+"="+strings.TrimSpace(given+" -m=2 -d=pgodebug=2"))
	}
	return append(flags, patterns...)
}

// decide joins what the binaries show with what the compiler said: the heaviest calls first.
func (d *dryRun) decide() []pgo.Decision {
	var all []pgo.Decision
	for edge, pos := range d.words.chosen {
		if d.on.functions[edge.Caller] {
			all = append(all, d.decision(edge, pgo.Devirtualises, "", pos))
		}
	}
	for edge := range d.on.inlined {
		if d.off.inlined[edge] || !d.byProfile(edge) || d.alias(edge) {
			continue
		}
		why := ""
		if _, ok := d.words.chosen[edge]; ok {
			why = "once it is devirtualised"
		}
		all = append(all, d.decision(edge, pgo.Inlines, why, ""))
	}
	for _, edge := range d.hot {
		if _, ok := d.words.chosen[edge]; (ok && d.on.functions[edge.Caller]) || d.on.inlined[edge] {
			continue
		}
		all = append(all, d.decision(edge, pgo.Skips, d.why(edge), ""))
	}
	weight := d.o.Edges.Weight
	slices.SortFunc(all, func(a, b pgo.Decision) int {
		if x, y := weight[a.Edge], weight[b.Edge]; x != y {
			return cmp.Compare(y, x)
		}
		return strings.Compare(fmt.Sprint(a.Edge, a.What), fmt.Sprint(b.Edge, b.What))
	})
	return all
}

// alias reports whether an edge is another one by the short name of a generic function, which the profile does not use.
func (d *dryRun) alias(e pgo.Edge) bool {
	if _, ok := d.o.Edges.Weight[e]; ok {
		return false
	}
	return strings.Contains(e.Caller, short) || strings.Contains(e.Callee, short)
}

// byProfile reports whether a call that only the binary with the profile shows inlined is so by the
// profile. Others are inlined in both, and all their instructions were optimised away in one of them.
func (d *dryRun) byProfile(e pgo.Edge) bool {
	if _, ok := d.words.chosen[e]; ok {
		return true
	}
	return d.words.cost[d.key(e.Callee)] > coldBudget
}

func (d *dryRun) decision(e pgo.Edge, what, why, pos string) pgo.Decision {
	if p, ok := d.on.places[e.Caller]; ok && p.file != "" {
		pos = fmt.Sprintf("%s:%d", p.file, p.start+e.Offset)
	} else if p, ok := d.off.places[e.Caller]; ok && p.file != "" {
		pos = fmt.Sprintf("%s:%d", p.file, p.start+e.Offset)
	}
	if rel, err := filepath.Rel(d.module.Dir, pos); err == nil && filepath.IsLocal(rel) {
		pos = rel
	}
	return pgo.Decision{Edge: e, What: what, Cost: d.words.cost[d.key(e.Callee)], Reason: why, Position: pos}
}
