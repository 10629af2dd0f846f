// Package tui is the terminal UI: its core, and the pages of a cluster. What enters are clusters from a news.Feed, the keys of a
// person, and the pages of other packages; what leaves are frames of text.
//
//  1. Run starts the program; the first frame is drawn before any data is there.
//  2. The Feed delivers Updates; each has a whole new model.Cluster or an error.
//  3. Model.Update hands keys to the page on top of the stack (stack.go) by way of
//     the one key map (keys.go), and starts commands (load.go) for all that takes
//     longer than a frame: building, sorting and filtering tables, comparing, saving.
//  4. A command returns a Message that carries its result; the page that asked takes it.
//  5. Model.View lays out the rows that are visible and no others (table.go).
//
// There is one Bubble Tea model; pages are plain structs with methods. Nothing
// here reads files, the environment or the network, and an unchanged state
// renders an identical frame, so that an idle terminal receives no bytes.
//
// # Pages
//
// A new page is one file with a function that returns its PageKind, and its line in pageKinds (page.go) or in the list of its
// package, as profiles.Pages and replays.Pages are, which Config.Pages takes. Every view.Resource is a page without any of this.
//
//   - Over rows it is a TablePage: its Columns, where the rows come from, and what enter opens. Order, filter, cursor, clicks and
//     copying are those of List, which other pages embed; page_checks.go is all that such a page is.
//   - Over findings by checks of its own it is Findings: judging off the loop, the list, a finding opened and checking again are the
//     core's (preflight is one). Its PageKind names the Checks, which explain knows then.
//   - What a page of the cluster shows is in Model.data: the cluster, and env for tables of resources, both nil before the first
//     Update. newDetailPage opens an object. A cell that may be cut is a table.Text; a table.ID never is.
//   - Anything else implements Page. Stops is a cursor on lines of a text, Window a text that scrolls, package draw has texts of
//     so many cells and styles. A page may be a Tabular, a Stopper, a Dated.
//   - Act does what a key asks for. It may Push a page, go Back, Say something, Copy, Save, set Model.Menu or Model.Prompt. What
//     takes longer than a frame is returned: a Cmd, whose Message changes the page on the loop. Its Context ends with the program.
//   - Keys of its own are Bindings of the PageKind. Actions (actions.go) and Scopes (scope.go) are one list each for all pages, so
//     that a key means the same everywhere; a page may take a Scope of its own from FreeScope on.
package tui
