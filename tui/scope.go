package tui

// Scope is where a binding applies: a set of kinds of pages, or one of the input modes.
type Scope uint32

// Scopes: input modes, then pages.
const (
	InPrompt Scope = 1 << iota // a line being typed: filter, search, palette, help search
	InMenu                     // a list to choose from
	InOverview
	InGrid // the tables of resources
	InList // other tables that are nothing but that
	InDetail
	InTree
	InDiff
	InFindings
	InFinding // one of them, in full
	InExplain
	InBalance
	InFlame
	InTop // tables of profiles: where the time goes, callers and callees
	InProfiles
	InReport // a judgement of profiles, a comparison of benchmark results
	InReplay
	InHelp
	FreeScope // the first of those that a pageKind may take

	InTables = InGrid | InList
	InPages  = ^(InPrompt | InMenu)
)

// Names says where a binding applies, for help and for messages: in pages of the UI itself, and in some of those kinds.
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
		{InPrompt, "lines that are typed"},
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
