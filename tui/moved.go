package tui

import "kitescope/words"

// oldKey is a key that did something else until the last release. For one release it is answered with the key that does that now, where
// it does nothing else.
type oldKey struct {
	in   Scope
	key  string
	what string // what it did
	now  []Action
}

func oldKeys() []oldKey {
	const objects = InGrid | InDetail | InDiff | InFindings | InBalance
	return []oldKey{
		{InOverview, "c", "collections", []Action{ActGoCollections}},
		{InOverview, "s", "segments", []Action{ActGoSegments}},
		{InOverview, "n", "nodes", []Action{ActGoNodes}},
		{InOverview, "v", "vchannels", []Action{ActGoVChannels}},
		{InOverview, "i", "indexes", []Action{ActGoIndexes}},
		{InOverview, "b", "balance", []Action{ActGoBalance}},
		{InOverview, "t", "tasks", []Action{ActGoTasks}},
		{InOverview, "u", "undecoded", []Action{ActGoUndecoded}},
		{InOverview, "r", "raw keys", []Action{ActGoKeys}},
		{InOverview, "d", "diff", []Action{ActGoDiff}},
		{InPages, "T", "the timeline", []Action{ActGoTimeline}},
		{InPages, "space", "pausing", []Action{ActPause}},
		{InFlame | InTop, "T", "the sample type", []Action{ActKind}},
		{InGrid | InProfiles, "v", "marking", []Action{ActMark}},
		{objects, "x", "the tree", []Action{ActTree}},
		{InTree, "e", "expanding all", []Action{ActExpandAll}},
		{InBalance, "e", "saving the plan", []Action{ActSave}},
		{InFlame, "d", "vanished stacks", []Action{ActAll}},
		{InFlame, "o", "nodes apart", []Action{ActNodes}},
		{InFlame, "r", "showing everything", []Action{ActReset}},
		{InFlame, "t", "the table", []Action{ActTopTable}},
		{InFlame, "e", "saving as HTML", []Action{ActSave}},
		{InProfiles, "t", "the table", []Action{ActTopTable}},
		{InCompare, "c", "the control", []Action{ActRelated}},
		{FreeScope, "m", "showing the moment", []Action{ActMoment}},
		{FreeScope, "e", "the list of events", []Action{ActTopTable}},
		{InMenu, "q", "closing", []Action{ActBack}},
		{InPrompt, "ctrl+u", "deleting the line", []Action{ActDeleteAll}},
	}
}

// movedKey says which key does now what one did on a page, "" if it never did anything there.
func (k *keys) movedKey(in Scope, key string) string {
	text := ""
	for _, o := range oldKeys() {
		if o.in&in == 0 || o.key != key {
			continue
		}
		var now []string
		for _, a := range o.now {
			if p, ok := placeOf(a, ""); ok && p.number != "" {
				now = append(now, p.number)
			}
			now = append(now, k.of(in, a))
		}
		at := ""
		if names := in.Names(k.kinds); len(names) > 0 && o.in != InPages {
			at = " on " + names[0]
		}
		text = shown(key) + at + ": " + o.what + " is " + words.List("or", now...) + " now" // the last one knows best
	}
	return text
}
