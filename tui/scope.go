package tui

// scope is where a binding applies: a set of kinds of pages, or one of the input modes.
type scope uint32

const (
	inPrompt scope = 1 << iota // a line being typed: filter, search, palette, help search
	inMenu                     // a list to choose from
	inOverview
	inGrid // the tables of resources
	inList // other tables that are nothing but that
	inDetail
	inTree
	inDiff
	inFindings
	inExplain
	inBalance
	inFlame
	inTop // tables of profiles: where the time goes, callers and callees
	inProfiles
	inJudge
	inCompare // benchmark results, before and after
	inMetric  // the runs of one metric
	inReplay
	inReplayRow // a request, a segment, a change of a replay
	inHelp
	freeScope // the first of those that a pageKind may take

	inTables = inGrid | inList
	inPages  = ^(inPrompt | inMenu)
)

// names says where a binding applies, for help and for messages: in pages of the UI itself, and in some of those kinds.
func (s scope) names(kinds []PageKind) []string {
	all := []struct {
		in   scope
		name string
	}{
		{inOverview, "overview"},
		{inTables, "tables"},
		{inDetail, "details"},
		{inTree, "trees"},
		{inDiff, "diff"},
		{inFindings, "findings"},
		{inExplain, "explanations"},
		{inBalance, "balance"},
		{inFlame, "flame graphs"},
		{inTop, "tables of profiles"},
		{inProfiles, "profiles"},
		{inJudge, "judgements"},
		{inCompare, "comparisons"},
		{inMetric, "metrics"},
		{inReplay, "replays"},
		{inReplayRow, "details of replays"},
		{inHelp, "help"},
		{inPrompt, "while typing"},
		{inMenu, "menus"},
	}
	var names []string
	for _, x := range all {
		if s&x.in != 0 {
			names = append(names, x.name)
		}
	}
	for _, k := range kinds {
		if s&k.in != 0 {
			names = append(names, k.places)
		}
	}
	return names
}
