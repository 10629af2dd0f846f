// Package tui is the terminal UI: its core, and the pages of a cluster. It receives clusters from a history.Feed,
// key presses, and pages of other packages, and draws frames of text.
//
//  1. Run starts the program. The first frame is drawn before there are data.
//  2. The Feed delivers Updates: a new model.Cluster, an error, or news about the source, e.g. progress.
//  3. The checks of Config.Checks judge each new Cluster, off the event loop (findings.go). The Model keeps the
//     check.Report for all pages.
//  4. Model.Update passes keys to the page on top of the stack (stack.go) through the only key map (keys.go), and
//     starts commands (load.go) for everything that takes longer than a frame: building, sorting and filtering tables,
//     comparing, saving.
//  5. A command returns its result as a Message. Message.Apply changes the Model, or the page that started the
//     command.
//  6. Model.View lays out only the visible rows (table.go).
//
// There is one Bubble Tea model; pages are plain structs with methods. This package does not read files, the
// environment or the network. An unchanged state renders an identical frame, so that an idle terminal receives no
// bytes.
//
// # Pages
//
// A new page is one file with a function that returns its PageKind, and a line in pageKinds (page.go) or in the
// list of its package, e.g. profiles.Pages or replays.Pages, which is passed in Config.Pages. Every view.Resource
// has a page without any of this.
//
//   - A page of rows is a TablePage: its Columns, the source of its rows, and the effect of enter. List provides
//     order, filter, cursor, clicks and copying; other pages embed it too. page_checks.go is a complete example.
//   - A page of findings from its own checks is a Findings, e.g. preflight. The core judges off the event loop,
//     lists the findings, opens a finding and runs a check again. The PageKind lists the Checks, so that explain can
//     explain them.
//   - The data of a cluster page are in Model.data: the cluster, and env for tables of resources, both nil before
//     the first Update. newDetailPage opens an object. A table.Text cell may be cut; a table.ID cell is never cut.
//   - Any other page implements Page. Stops is a cursor on lines of text, Window is a text that scrolls, and package
//     draw has styles and texts of a fixed width. A page may implement Tabular, Stopper or Dated.
//   - Act performs the action of a key. It may Push a page, go Back, Notify the user, Copy, Save, set Model.Menu or
//     Model.Prompt. For work that takes longer than a frame it returns a Cmd, whose Message changes the page on the
//     event loop. The Context of a Cmd ends with the program.
//   - The keys of a page are Bindings in its PageKind. There is one list of actions (actions.go) and one of scopes
//     (scope.go) for all pages, so that a key has the same meaning everywhere. A page may define its own Scope from
//     FreeScope on.
package tui
