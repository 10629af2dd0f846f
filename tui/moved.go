package tui

// oldKey is a key that did something else until the last release. For one release it is answered with the key that does that now, where
// it does nothing else.
type oldKey struct {
	in   Scope
	key  string
	what string // what it did
	now  Action
}

func oldKeys() []oldKey {
	const objects = InGrid | InDetail | InDiff | InBalance
	return []oldKey{
		{InOverview, "c", "collections", ActGoCollections},
		{InOverview, "s", "segments", ActGoSegments},
		{InOverview, "n", "nodes", ActGoNodes},
		{InOverview, "v", "vchannels", ActGoVChannels},
		{InOverview, "i", "indexes", ActGoIndexes},
		{InOverview, "b", "balance", ActGoBalance},
		{InOverview, "t", "tasks", ActGoTasks},
		{InOverview, "u", "undecoded", ActGoUndecoded},
		{InOverview, "r", "raw keys", ActGoKeys},
		{InOverview, "d", "diff", ActGoDiff},
		{InPages, "T", "the timeline", ActGoTimeline},
		{InPages, "space", "pausing", ActPause},
		{InFlame | InTop, "T", "the sample type", ActKind},
		{InGrid | InProfiles, "v", "marking", ActMark},
		{objects, "x", "the tree", ActTree},
		{InTree, "e", "expanding all", ActExpandAll},
		{InBalance, "e", "saving the plan", ActSave},
		{InFlame, "d", "vanished stacks", ActAll},
		{InFlame, "o", "nodes apart", ActNodes},
		{InFlame, "r", "showing everything", ActReset},
		{InFlame, "t", "the table", ActTopTable},
		{InFlame, "e", "saving as HTML", ActSave},
		{InProfiles, "t", "the table", ActTopTable},
		{FreeScope, "m", "showing the moment", ActMoment},
		{FreeScope, "e", "the list of events", ActTopTable},
		{InMenu, "q", "closing", ActBack},
		{InPrompt, "ctrl+u", "deleting the line", ActDeleteAll},
	}
}

// movedKey says which key does now what one did on a page, "" if it never did anything there.
func (k *keys) movedKey(in Scope, key string) string {
	text := ""
	for _, o := range oldKeys() {
		if o.in&in == 0 || o.key != key {
			continue
		}
		now := k.of(in, o.now)
		if p, ok := placeOf(o.now, ""); ok && p.number != "" {
			now = p.number + " or " + now
		}
		at := ""
		if names := in.Names(k.kinds); len(names) > 0 && o.in != InPages {
			at = " on " + names[0]
		}
		text = shown(key) + at + ": " + o.what + " is " + now + " now" // the last one knows best
	}
	return text
}
