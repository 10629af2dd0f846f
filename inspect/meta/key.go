package meta

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

const (
	maxIDs   = 6
	maxNames = 3
	// historyPrefix and historySep are those of RootCoord's suffix-snapshot KV: snapshots/{key}_ts{tso} (Milvus
	// internal/metastore/kv/rootcoord/suffix_snapshot.go).
	historyPrefix = "snapshots/"
	historySep    = "_ts"
)

// keyParts is a parsed key. Names alias the parsed key.
type keyParts struct {
	kind  kindID
	ids   [maxIDs]int64
	names [maxNames][]byte
	// history means that the key is below snapshots/; at is the time in its suffix.
	history bool
	at      model.TSO
}

func (k *keyParts) name() string { return string(k.names[0]) }

// errUnknownKey means that no pattern matches a key.
var errUnknownKey = errors.New("unknown key")

// grammar parses the keys of a store.
type grammar struct {
	meta, root []byte // prefixes with a trailing slash
	kinds      [kindCount]*kind
	hot        []hotPrefix
	owners     [kindCount]keyOwner
	// byFirst holds the patterns by their first component, "" for patterns that begin with a variable.
	byFirst map[string][]*pattern
}

// pattern is the compiled key pattern of a kind.
type pattern struct {
	kind  *kind
	place keyPlace
	parts []patternPart
}

// keyPlace is the base of a pattern.
type keyPlace string

// Key places, as the prefixes of patterns.
const (
	belowMeta   keyPlace = ""
	belowRoot   keyPlace = "/"
	outsideRoot keyPlace = "//" // absolute (source.OutsideRoot)
)

type patternPart struct {
	literal string // "" for a variable
	name    string
	form    varForm
}

// varForm is the form of a variable in a pattern.
type varForm uint8

const (
	formID varForm = iota
	formName
	formRest
)

func newGrammar(h source.Header) *grammar {
	g := &grammar{meta: []byte(h.MetaPrefix()), root: []byte(h.Root + "/"), byFirst: make(map[string][]*pattern)}
	table := kinds()
	for i := range table {
		k := &table[i]
		g.kinds[k.id] = k
		p := compile(k)
		g.owners[k.id] = p.owner()
		first := string(p.place) + p.parts[0].literal
		g.byFirst[first] = append(g.byFirst[first], p)
	}
	for _, id := range hotKinds() {
		literal, ids, _ := strings.Cut(g.kinds[id].pattern, "{")
		g.hot = append(g.hot, hotPrefix{prefix: []byte(literal), kind: id, ids: strings.Count("{"+ids, "{")})
	}
	return g
}

func compile(k *kind) *pattern {
	p := &pattern{kind: k}
	text := k.pattern
	for _, place := range []keyPlace{outsideRoot, belowRoot} {
		if rest, ok := strings.CutPrefix(text, string(place)); ok {
			p.place, text = place, rest
			break
		}
	}
	for part := range strings.SplitSeq(text, "/") {
		inner, ok := strings.CutPrefix(part, "{")
		if !ok {
			p.parts = append(p.parts, patternPart{literal: part})
			continue
		}
		name, form, _ := strings.Cut(strings.TrimSuffix(inner, "}"), ":")
		v := patternPart{name: name}
		switch form {
		case "name":
			v.form = formName
		case "rest":
			v.form = formRest
		}
		p.parts = append(p.parts, v)
	}
	return p
}

// keyOwner is the position of the collection in a key: among its ids, or as a vchannel among its names; -1 if
// missing.
type keyOwner struct{ id, vchannel int }

func (p *pattern) owner() keyOwner {
	o := keyOwner{-1, -1}
	ids, names := 0, 0
	for _, part := range p.parts {
		switch {
		case part.literal != "":
		case part.form == formID:
			if part.name == "collection" {
				o.id = ids
			}
			ids++
		default:
			if part.name == "vchannel" {
				o.vchannel = names
			}
			names++
		}
	}
	return o
}

// collection returns the collection that a key names, 0 if there is none.
func (g *grammar) collection(k *keyParts) model.CollectionID {
	switch o := g.owners[k.kind]; {
	case o.id >= 0:
		return model.CollectionID(k.ids[o.id])
	case o.vchannel >= 0:
		_, id := model.SplitVChannel(string(k.names[o.vchannel]))
		return id
	}
	return 0
}

// parse returns the kind of an absolute key and its ids. The error is errUnknownKey, or describes the defect of a
// key that resembles a known kind.
func (g *grammar) parse(key []byte) (keyParts, error) {
	if rel, ok := bytes.CutPrefix(key, g.meta); ok {
		var k keyParts
		if g.parseHot(rel, &k) {
			return k, nil
		}
		if inner, ok := bytes.CutPrefix(rel, []byte(historyPrefix)); ok {
			return g.parseHistory(inner)
		}
		return g.match(rel, belowMeta)
	}
	if rel, ok := bytes.CutPrefix(key, g.root); ok {
		return g.match(rel, belowRoot)
	}
	return g.match(key, outsideRoot)
}

func (g *grammar) parseHistory(inner []byte) (keyParts, error) {
	i := bytes.LastIndex(inner, []byte(historySep))
	if i < 0 {
		return keyParts{}, errors.New("history key without a timestamp")
	}
	at, err := strconv.ParseUint(string(inner[i+len(historySep):]), 10, 64)
	if err != nil {
		return keyParts{}, fmt.Errorf("history key with %q where a timestamp belongs", inner[i+len(historySep):])
	}
	k, err := g.match(inner[:i], belowMeta)
	if err != nil {
		return keyParts{}, err
	}
	k.history, k.at = true, model.TSO(at)
	return k, nil
}

// match tries the patterns in the order of the table.
func (g *grammar) match(rel []byte, at keyPlace) (keyParts, error) {
	first, _, _ := bytes.Cut(rel, []byte("/"))
	name := string(at) + string(first)
	var wrong error
	for _, list := range [2][]*pattern{g.byFirst[name], g.byFirst[""]} {
		for _, p := range list {
			if p.place != at {
				continue
			}
			k, err := p.match(rel)
			if err == nil {
				return k, nil
			}
			if wrong == nil && !errors.Is(err, errUnknownKey) {
				wrong = err
			}
		}
	}
	if wrong != nil {
		return keyParts{}, wrong
	}
	return keyParts{}, errUnknownKey
}

func (p *pattern) match(rel []byte) (keyParts, error) {
	k := keyParts{kind: p.kind.id}
	ids, names := 0, 0
	var wrong error
	rest := rel
	for i, part := range p.parts {
		component, after, more := bytes.Cut(rest, []byte("/"))
		last := i == len(p.parts)-1
		if part.literal == "" && part.form == formRest {
			component, after, more = rest, nil, false
		}
		if last == more || len(component) == 0 {
			return k, errUnknownKey
		}
		switch {
		case part.literal != "":
			if string(component) != part.literal {
				return k, errUnknownKey
			}
		case part.form == formID:
			id, size := leadingID(component)
			if size != len(component) && wrong == nil {
				wrong = fmt.Errorf("%s key with %q where the %s id belongs", p.kind.name, component, part.name)
			}
			k.ids[ids] = id
			ids++
		default:
			k.names[names] = component
			names++
		}
		rest = after
	}
	return k, wrong
}

// format returns the absolute key of k.
func (g *grammar) format(k keyParts) []byte {
	p := compile(g.kinds[k.kind])
	var b []byte
	switch {
	case p.place == outsideRoot:
	case p.place == belowRoot:
		b = append(b, g.root...)
	case k.history:
		b = append(append(b, g.meta...), historyPrefix...)
	default:
		b = append(b, g.meta...)
	}
	ids, names := 0, 0
	for i, part := range p.parts {
		if i > 0 {
			b = append(b, '/')
		}
		switch {
		case part.literal != "":
			b = append(b, part.literal...)
		case part.form == formID:
			b = strconv.AppendInt(b, k.ids[ids], 10)
			ids++
		default:
			b = append(b, k.names[names]...)
			names++
		}
	}
	if k.history {
		b = strconv.AppendUint(append(b, historySep...), uint64(k.at), 10)
	}
	return b
}
