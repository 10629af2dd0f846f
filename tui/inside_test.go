package tui

// KeyMap returns the key map of a UI with additional pages.
func KeyMap(pages []PageKind) []Binding { return keyMap(pageKinds(pages)) }

// Places returns the names of the pages that a scope covers, in a UI with additional pages.
func Places(in Scope, pages []PageKind) []string { return in.Names(pageKinds(pages)) }

// HelpText returns the complete text of the help page.
func HelpText(m *Model) string { return m.Top().(*helpPage).plain() }

// MenuKeys returns the keys and actions of the items in the open menu.
func MenuKeys(m *Model) (keys []string, actions []Action) {
	for i := range m.Menu.Items {
		keys, actions = append(keys, m.Menu.keyOf(m, i)), append(actions, m.Menu.Items[i].Action)
	}
	return keys, actions
}
