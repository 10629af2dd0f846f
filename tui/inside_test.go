package tui

// KeyMap is the key map of a UI with further pages.
func KeyMap(pages []PageKind) []Binding { return keyMap(pageKinds(pages)) }

// Places says where a binding applies, in a UI with further pages.
func Places(in Scope, pages []PageKind) []string { return in.Names(pageKinds(pages)) }

// HelpText is all of the help that is shown.
func HelpText(m *Model) string { return m.Top().(*helpPage).plain() }

// Conflicts are the keys of a map that have more than one meaning.
func Conflicts(all []Binding) []string { return conflicts(all) }

// Remap gives actions other keys.
func Remap(all []Binding, changed map[string][]string) ([]Binding, error) { return remap(all, changed) }

// Unbound is what a key that does nothing on a page is answered with.
func Unbound(pages []PageKind, in Scope, key string, w int) string {
	k, _ := newKeys(pageKinds(pages), nil)
	return k.unbound(in, key, w)
}

// OldKeys are the keys that did something else in the last release, with where, and the actions that do that now.
func OldKeys(each func(in Scope, key string, now Action)) {
	for _, o := range oldKeys() {
		each(o.in, o.key, o.now)
	}
}

// LastAction is behind all actions.
const LastAction = actionCount

// MenuKeys are the keys of the items of the menu that is open.
func MenuKeys(m *Model) (keys []string, actions []Action) {
	for i := range m.Menu.Items {
		keys, actions = append(keys, m.Menu.keyOf(m, i)), append(actions, m.Menu.Items[i].Action)
	}
	return keys, actions
}
