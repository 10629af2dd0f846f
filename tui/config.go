package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/view"
	"kitescope/render"
)

// Config is everything that the UI needs from outside.
type Config struct {
	// Input and Output default to the terminal.
	Input  io.Reader
	Output io.Writer
	// Width and Height are the size in cells of an Output that is no terminal.
	Width, Height int
	// Environ is the environment that terminal capabilities are read from; nil means the process's own.
	Environ []string
	// Feed delivers the clusters. It is followed in a goroutine of its own until Run returns.
	Feed history.Feed
	// Resources are the tables that the palette offers: view.Resources.
	Resources []*view.Resource
	// Checks judge the clusters; nil means rules.All().
	Checks []*check.Check
	// Title names the source before the first Update: "127.0.0.1:2379".
	Title string
	// Version is kitescope's, for reports.
	Version string
	// Command is how the same data is read on a command line: "kitescope --from etcd://h:2379/by-dev".
	Command string
	// Args are the words of the command line that prints what profiles.RunJudgement, profiles.RunComparison or RunReplay show, behind its verb:
	// "a.txt", "b.txt", "--pair", "order". nil where none does.
	Args []string
	// Contexts are the names of the clusters that ":ctx" opens, and Switch is called with one of them, and with the page that is shown,
	// before Run returns; without Switch there is no ":ctx".
	Contexts []string
	Switch   func(name, page string)
	// NodeFlags are further flags of commands that read a cluster: "--live --map 10.2.0.7=localhost".
	NodeFlags string
	// Theme is the name of a theme; "" or "auto" follows the terminal's background.
	Theme string
	// NoColor leaves colours out; bold, reverse and glyphs remain.
	NoColor bool
	// StartPage is what the palette would be given: "segments coll=docs"; "" is the overview.
	StartPage string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// SaveFile writes a new file and returns its full path; where there is one already that is fs.ErrExist. write may be
	// called once, off the UI's loop. nil means that saving is switched off.
	SaveFile func(path string, write func(io.Writer) error) (full string, err error)
	// Pages are kinds of pages beside those of a cluster.
	Pages []PageKind
	// First is the page that the UI opens with where there is no cluster; nil where there is one.
	First Page
	// Instead is what there is in the place of a cluster, for people: "only profiles".
	Instead string
	// Beside works beside the UI until ctx ends or it is done, and tells it how far it is; nil: nothing does.
	Beside func(ctx context.Context, send func(tea.Msg))
	// ASCII draws flame graphs and plots with signs that every terminal has.
	ASCII bool
	// Glyphs are the characters that the terminal has: whatever is drawn is put into them.
	Glyphs render.Glyphs
	// Notice is a message to begin with.
	Notice string
}
