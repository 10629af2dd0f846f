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

// Config is the configuration of the UI.
type Config struct {
	// Input and Output default to the terminal.
	Input  io.Reader
	Output io.Writer
	// Width and Height are the size in cells if Output is not a terminal.
	Width, Height int
	// Environ is the environment that terminal capabilities are read from; nil means that of the process.
	Environ []string
	// Feed delivers the clusters. It runs in its own goroutine until Run returns.
	Feed history.Feed
	// Resources are the tables in the palette: view.Resources.
	Resources []*view.Resource
	// Checks are the checks of the diagnosis; nil means rules.All().
	Checks []*check.Check
	// Title names the source before the first Update, e.g. "127.0.0.1:2379".
	Title string
	// Version is the version of kitescope, for reports.
	Version string
	// Command is the command line that reads the same data, e.g. "kitescope --from etcd://h:2379/by-dev".
	Command string
	// Args are the arguments after the verb of the command that prints the content of profiles.RunJudgement,
	// profiles.RunComparison, replays.Measure or replays.Show, e.g. "a.txt", "b.txt", "--pair", "order". They
	// are nil if no command prints it.
	Args []string
	// Contexts are the names of the clusters that ":ctx" opens. Before Run returns, it calls Switch with the
	// chosen name and the current page. A nil Switch disables ":ctx".
	Contexts []string
	Switch   func(name, page string)
	// NodeFlags are additional flags of commands that read a cluster, e.g. "--live --map 10.2.0.7=localhost".
	NodeFlags string
	// Theme is the name of a theme; "" or "auto" follows the background of the terminal.
	Theme string
	// NoColor disables colours. Bold, reverse and glyphs remain.
	NoColor bool
	// StartPage is palette input, e.g. "segments coll=docs"; "" is the overview.
	StartPage string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// SaveFile writes a new file and returns its full path. It returns fs.ErrExist if the file exists. It may call
	// write once, off the event loop. nil disables saving.
	SaveFile func(path string, write func(io.Writer) error) (full string, err error)
	// Pages are kinds of pages in addition to those of a cluster.
	Pages []PageKind
	// First is the first page of a UI without a cluster; nil if there is a cluster.
	First Page
	// Content names the content of a UI without a cluster, e.g. "only profiles".
	Content string
	// Background runs concurrently with the UI until ctx ends or the work is done. It reports progress with send.
	// Nil means no such work.
	Background func(ctx context.Context, send func(tea.Msg))
	// ASCII draws flame graphs and plots with ASCII characters.
	ASCII bool
	// Glyphs is the character set of the terminal. All output is converted to it.
	Glyphs render.Glyphs
	// Notice is a message to show at the start.
	Notice string
}
