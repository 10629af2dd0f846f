package tui

// Scope is a set of places where a binding applies: kinds of pages or input modes.
type Scope uint32

// Scopes: input modes, followed by pages.
const (
	InPrompt Scope = 1 << iota // a text input: filter, search, palette, help search
	InMenu                     // a menu
	InOverview
	InGrid // the tables of resources
	InList // other pages that are only a table
	InDetail
	InTree
	InDiff
	InFindings
	InFinding // a single finding
	InExplain
	InBalance
	InFlame
	InTop // tables of profiles: hot spots, callers and callees
	InProfiles
	InReport // a verdict on profiles or a comparison of benchmark results
	InReplay
	InHelp
	FreeScope // the first scope for PageKind.In

	InTables = InGrid | InList
	InPages  = ^(InPrompt | InMenu)
)

// Names returns the places where a binding applies, for help and messages: pages of the UI itself and the given
// kinds.
func (s Scope) Names(kinds []PageKind) []string {
	all := []struct {
		in   Scope
		name string
	}{
		{InOverview, "the overview"},
		{InTables, "tables"},
		{InDetail, "details"},
		{InTree, "trees"},
		{InDiff, "the diff"},
		{InFindings, "findings"},
		{InFinding, "a finding"},
		{InExplain, "explanations"},
		{InBalance, "balance"},
		{InFlame, "flame graphs"},
		{InTop, "tables of profiles"},
		{InProfiles, "profiles"},
		{InReport, "judgements and comparisons"},
		{InReplay, "replays"},
		{InHelp, "help"},
		{InPrompt, "prompts"},
		{InMenu, "menus"},
	}
	var names []string
	for _, x := range all {
		if s&x.in != 0 {
			names = append(names, x.name)
		}
	}
	for _, k := range kinds {
		if s&k.In != 0 {
			names = append(names, k.Places)
		}
	}
	return names
}
