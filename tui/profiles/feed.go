package profiles

import (
	"context"
	"slices"
	"time"

	"kitescope/profile"
	"kitescope/tui"
)

// Feed is a source of profiles. Its methods are called off the event loop of the UI, one at a time.
type Feed interface {
	// List returns the available profiles, e.g. files or members of a bundle, without reading them.
	List(ctx context.Context) (Set, error)
	// CanPull returns the reason why running processes cannot be profiled, or "" if they can.
	CanPull() string
	// Pull profiles all processes over the same window and returns the profiles. If a process fails, its item has
	// an Err. Pull may call progress from any goroutine, but not after it has returned.
	Pull(ctx context.Context, window time.Duration, progress func(Progress)) (Set, error)
}

// Set is a set of profiles.
type Set struct{ Items []Item }

// Item is a profile that is read on demand.
type Item struct {
	// Name is the path or URL of the profile, or "" if it has none.
	Name string
	// Words are the arguments that name the profile on a command line: its location, and the flags that select it
	// there and control how it is read. They are nil if no command line names it.
	Words []string
	// Node and Role identify the profiled process ("querynode-7", "querynode"). They are "" if unknown.
	Node, Role string
	// Kind is the kind of profile: "cpu", "heap", "goroutine".
	Kind string
	// Start is when sampling began and Window how long it took; zero if unknown.
	Start  time.Time
	Window time.Duration
	// Load reads the profile. It may be called several times.
	Load func(ctx context.Context) (*profile.Profile, error)
	// Err is the reason why the profile is missing.
	Err string
}

// Progress is the progress of a pull from one process.
type Progress struct {
	Node, Role string
	// State is the current step for display, e.g. "profiling", "waiting for another profile to end".
	State string
	// Done means that the pull from this process has ended. Err is set if it failed.
	Done bool
	Err  string
}

// Files returns a feed of existing profiles. It cannot pull.
func Files(set Set) Feed { return profileFiles(set) }

type profileFiles Set

func (f profileFiles) List(context.Context) (Set, error) { return Set(f), nil }
func (f profileFiles) CanPull() string                   { return "profiling needs a live cluster; these are files" }

func (f profileFiles) Pull(context.Context, time.Duration, func(Progress)) (Set, error) {
	return Set{}, nil
}

// View is the first page of a UI that shows profiles without a cluster.
type View struct {
	// Items are merged. If Base is set, it is merged too and compared with Items.
	Items, Base []Item
	// SampleIndex, By and Filter are those of report.Options and flame.Options.
	SampleIndex string
	By          profile.Granularity
	Filter      profile.Filter
	// Nodes adds a frame for each node below the root. Inverted starts with the leaves.
	Nodes, Inverted bool
	// Raw keeps the values of a comparison. Otherwise the new side is scaled to the total of the base.
	Raw bool
	// Args are the arguments that name Items on a command line, including flags for reading them. BaseArg is the
	// argument that names Base. Without Args, the Words of the items are used.
	Args    []string
	BaseArg string
}

// Run is tui.Run for profiles without a cluster. It opens a flame graph or a table; the page of all profiles is one
// key away. cfg.Feed must be nil.
func Run(ctx context.Context, cfg tui.Config, v View) error {
	return tui.Run(ctx, v.config(cfg))
}

// onlyProfiles names the content of the UI without a cluster.
const onlyProfiles = "only profiles"

// config returns cfg with the view as the first page.
func (v *View) config(cfg tui.Config) tui.Config {
	cfg.First, cfg.Content = v.page(), onlyProfiles
	cfg.Pages = append(Pages(Files(Set{Items: slices.Concat(v.Base, v.Items)})), cfg.Pages...)
	return cfg
}

// page returns the page for the view.
func (v *View) page() tui.Page {
	s := newSubject(v.Items, v.Base)
	if len(v.Args) > 0 {
		s.words, s.baseArg = v.Args, v.BaseArg
	}
	q := flameQuery{kind: v.SampleIndex, by: v.By, nodes: v.Nodes, inverted: v.Inverted, raw: v.Raw}
	if v.By > profile.ByClass {
		return newTopPage(s, q.topQuery(), v.Filter)
	}
	p := newFlamePage(s, q)
	p.filter = v.Filter
	return p
}
