package tui

// KeyMap is the key map of a UI with further pages.
func KeyMap(pages []PageKind) []Binding { return keyMap(pageKinds(pages)) }

// Places says where a binding applies, in a UI with further pages.
func Places(in Scope, pages []PageKind) []string { return in.Names(pageKinds(pages)) }

// HelpText is all of the help that is shown.
func HelpText(m *Model) string { return m.Top().(*helpPage).plain() }

// MenuKeys are the keys of the items of the menu that is open.
func MenuKeys(m *Model) (keys []string, actions []Action) {
	for i := range m.Menu.Items {
		keys, actions = append(keys, m.Menu.keyOf(m, i)), append(actions, m.Menu.Items[i].Action)
	}
	return keys, actions
}
