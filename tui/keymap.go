package tui

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// keys looks bindings up by scope and key.
type keys struct {
	all   []Binding
	kinds []PageKind
}

// newKeys is the key map with the keys that a person has changed; what is wrong with those is an error, beside the map without them.
func newKeys(kinds []PageKind, changed map[string][]string) (*keys, error) {
	k := &keys{all: keyMap(kinds), kinds: kinds}
	all, err := remap(k.all, changed)
	if err != nil {
		return k, err
	}
	k.all = all
	return k, nil
}

// remap gives actions other keys, by the names of actions. A key that would have two meanings then is an error, and so is a name
// that no action has.
func remap(all []Binding, changed map[string][]string) ([]Binding, error) {
	if len(changed) == 0 {
		return all, nil
	}
	all = slices.Clone(all)
	known := KeyNames()
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		a, ok := actionNamed(name)
		switch {
		case !ok:
			text := "there is no action " + name
			if near := view.Suggest(name, known); len(near) > 0 {
				text += ": did you mean " + strings.Join(near, " or ") + "?"
			}
			return nil, fmt.Errorf("keys: %s", text)
		case len(changed[name]) == 0 || slices.Contains(changed[name], ""):
			return nil, fmt.Errorf("keys: %s needs at least one key", name)
		case a == ActNumber:
			return nil, errors.New("keys: the digits stay; go-nodes and others take further keys")
		}
		for i := range all {
			if all[i].Action == a {
				all[i].Keys = changed[name]
			}
		}
	}
	for _, c := range conflicts(all) {
		return nil, fmt.Errorf("keys: %s", c)
	}
	return all, nil
}

// conflicts are the keys that have more than one meaning, in whatever scopes, and those that hide what begins with them: a sentence for each.
func conflicts(all []Binding) []string {
	of := map[string]Action{}
	var list []string
	for _, b := range all {
		for _, key := range b.Keys {
			if other, ok := of[key]; ok && other != b.Action {
				list = append(list, fmt.Sprintf("%s has two meanings: it %s (%s), and it %s (%s)", shown(key), other.Does(), other, b.Action.Does(), b.Action))
			}
			of[key] = b.Action
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		first, _, long := strings.Cut(key, " ")
		if a, ok := of[first]; long && (!ok || a != ActGo) {
			list = append(list, fmt.Sprintf("%s does not begin with a key of %s", shown(key), ActGo))
		}
	}
	return list
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

// of is the first key of an action as people know it, in the scope if it is bound there.
func (k *keys) of(in Scope, a Action) string {
	key := ""
	for i := range k.all {
		b := &k.all[i]
		if b.Action == a && (key == "" || b.In&in != 0) {
			key = shown(b.Keys[0])
			if b.In&in != 0 {
				break
			}
		}
	}
	return key
}

// KeyOf is the key of an action as people know it, for sentences that name it.
func KeyOf(m *Model, a Action) string { return m.keys.of(m.Top().Scope(), a) }

// unbound says what a key is for that does nothing in the scope, in at most w cells: what became of it, else what it does and where; "" if
// no page has it.
func (k *keys) unbound(in Scope, key string, w int) string {
	if text := k.movedKey(in, key); text != "" {
		return text
	}
	var a Action
	var where Scope
	for _, b := range k.all {
		if b.In&InPages != 0 && slices.Contains(b.Keys, key) {
			a, where = b.Action, where|b.In
		}
	}
	if a == ActNone {
		return ""
	}
	start := shown(key) + " is not available here"
	does := start + ": it " + a.Does()
	places := (where & InPages &^ in).Names(k.kinds)
	for n := len(places); n > 0; n-- {
		text := does + " on " + words.List("and", places[:n]...)
		if n < len(places) {
			text = does + " on " + strings.Join(places[:n], ", ") + " and others"
		}
		if draw.Width(text) <= w {
			return text
		}
	}
	if draw.Width(does) <= w {
		return does
	}
	return start
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

// shown is a key as people know it.
func shown(key string) string {
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
