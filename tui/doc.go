// Package tui is the terminal UI. What enters are clusters from a Feed and the
// keys of a person, what leaves are frames of text.
//
//  1. Run starts the program; the first frame is drawn before any data is there.
//  2. The Feed delivers Updates; each has a whole new model.Cluster or an error.
//  3. Model.Update hands keys to the page on top of the stack (stack.go) by way of
//     the one key map (keys.go), and starts commands (load.go) for all that takes
//     longer than a frame: building, sorting and filtering tables, comparing, saving.
//  4. A command returns a message that carries its result; the page that asked takes it.
//  5. Model.View lays out the rows that are visible and no others (table.go, flame_graph.go).
//
// There is one Bubble Tea model; pages are plain structs with methods. Nothing
// here reads files, the environment or the network, and an unchanged state
// renders an identical frame, so that an idle terminal receives no bytes.
//
// A new page is one file page_x.go, which makes a pageKind, and its line in pageKinds (page.go). A page
// over rows is a tablePage: its columns, and what enter opens. Every view.Resource is a page without any of this.
package tui
