package profiles

import (
	"context"
	"slices"
	"time"

	"kitescope/profile"
	"kitescope/tui"
)

// Feed is where profiles come from. Its methods are called off the UI's loop, one at a time.
type Feed interface {
	// List returns the profiles that there are: files, members of a bundle. It does not read them.
	List(ctx context.Context) (Set, error)
	// CanPull says why no profile can be taken from running processes, "" if it can.
	CanPull() string
	// Pull profiles all processes over the same window, and returns what it took. A process
	// that fails is an item with an Err. progress may be called from any goroutine until Pull
	// returns, and must not be called afterwards.
	Pull(ctx context.Context, window time.Duration, progress func(Progress)) (Set, error)
}

// Set is a number of profiles.
type Set struct{ Items []Item }

// Item is one profile, which is read when it is needed.
type Item struct {
	// Name is its path or URL; "" if it has none.
	Name string
	// Words name it on a command line: where it is, and the flags that choose it there and say how it
	// is read. nil where no command line names it.
	Words []string
	// Node and Role are the process that it is of ("querynode-7", "querynode"), "" if unknown.
	Node, Role string
	// Kind is what was profiled: "cpu", "heap", "goroutine".
	Kind string
	// Start is when sampling began and Window how long it went on; zero if unknown.
	Start  time.Time
	Window time.Duration
	// Load reads it. It may be called several times.
	Load func(ctx context.Context) (*profile.Profile, error)
	// Err says why there is none.
	Err string
}

// Progress is how far the pull from one process is.
type Progress struct {
	Node, Role string
	// State is what is going on, for people: "profiling", "waits for another profile to end".
	State string
	// Done says that it is over; Err that it failed.
	Done bool
	Err  string
}

// Files is a feed of profiles that are there already, and of no others.
func Files(set Set) Feed { return profileFiles(set) }

type profileFiles Set

func (f profileFiles) List(context.Context) (Set, error) { return Set(f), nil }
func (f profileFiles) CanPull() string                   { return "these are files: open a live cluster to pull from it" }

func (f profileFiles) Pull(context.Context, time.Duration, func(Progress)) (Set, error) {
	return Set{}, nil
}

// View is what the UI opens with when it is about profiles and no cluster.
type View struct {
	// Items are merged; with Base, merged too, they are compared.
	Items, Base []Item
	// SampleIndex, By and Filter are as in report.Options and flame.Options.
	SampleIndex string
	By          profile.By
	Filter      profile.Filter
	// Nodes puts a frame for each node below the root, Inverted starts with the leaves.
	Nodes, Inverted bool
	// Raw leaves the values of a difference as they are; else the new side gets the base's total.
	Raw bool
	// Args are how a command line names Items, with what flags tell of reading them, and BaseArg
	// how it names Base. Without Args words of items are taken.
	Args    []string
	BaseArg string
}

// Run is tui.Run for profiles without a cluster: it opens with a flame graph, or a table, and
// the page of all of them is one key away. cfg.Feed must be nil.
func Run(ctx context.Context, cfg tui.Config, v View) error {
	return tui.Run(ctx, v.config(cfg))
}

// onlyProfiles is what there is instead of a cluster.
const onlyProfiles = "only profiles"

// config opens with the view.
func (v *View) config(cfg tui.Config) tui.Config {
	cfg.First, cfg.Instead = v.page(), onlyProfiles
	cfg.Pages = append(Pages(Files(Set{Items: slices.Concat(v.Base, v.Items)})), cfg.Pages...)
	return cfg
}

// page is the page that the view asks for.
func (v *View) page() tui.Page {
	s := newSubject(v.Items, v.Base)
	if len(v.Args) > 0 {
		s.words, s.was = v.Args, v.BaseArg
	}
	q := flameQuery{kind: v.SampleIndex, by: v.By, nodes: v.Nodes, inverted: v.Inverted, raw: v.Raw}
	if v.By > profile.ByClass {
		return newTopPage(s, q.topQuery(), v.Filter)
	}
	p := newFlamePage(s, q)
	p.filter = v.Filter
	return p
}
