package tui

import (
	"cmp"
	"slices"
)

// keys finds bindings by scope and key.
type keys struct {
	all   []Binding
	kinds []PageKind
}

// find returns the action that key has in the scope.
func (k *keys) find(in Scope, key string) (Action, bool) {
	for i := range k.all {
		b := &k.all[i]
		if b.In&in != 0 && slices.Contains(b.Keys, key) {
			return b.Action, true
		}
	}
	return ActNone, false
}

// keyFor returns the display name of the first key of an action. It prefers a binding of the scope.
func (k *keys) keyFor(in Scope, a Action) string {
	key := ""
	for i := range k.all {
		b := &k.all[i]
		if b.Action == a && (key == "" || b.In&in != 0) {
			key = displayName(b.Keys[0])
			if b.In&in != 0 {
				break
			}
		}
	}
	return key
}

// KeyOf returns the display name of the key of an action on the current page, for messages that name it.
func KeyOf(m *Model, a Action) string { return m.keys.keyFor(m.Top().Scope(), a) }

// unbound returns the message for a key that does nothing in a scope, "" if no page has it.
func (k *keys) unbound(key string) string {
	if _, ok := k.find(InPages, key); !ok {
		return ""
	}
	return displayName(key) + " is not available here: ? lists the keys of this page"
}

// hints returns the bindings that the footer may show in the scope, most important first.
func (k *keys) hints(in Scope) []Binding {
	var hints []Binding
	for _, b := range k.all {
		if b.In&in != 0 && b.Hint != "" {
			hints = append(hints, b)
		}
	}
	slices.SortStableFunc(hints, func(a, b Binding) int { return cmp.Compare(b.Weight, a.Weight) })
	return hints
}

// displayName returns the display name of a key.
func displayName(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgdown":
		return "pgdn"
	}
	return key
}
