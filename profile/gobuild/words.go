package gobuild

import (
	"bytes"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"kitescope/profile/pgo"
)

// The words that the compiler of go1.26 says under -m=2 -d=pgodebug=2, which are parsed here:
// cmd/compile/internal/inline/inl.go (CanInline, noteInlinableFunc, inlineCostOK, canInlineCallExpr),
// inline/interleaved/interleaved.go, devirtualize/pgo.go. Lines begin with a position, but for a few; the
// go command puts "# import/path" in front of what is said about a package.

// funcKey is a function as the compiler names it in its own package.
type funcKey struct{ pkg, name string }

// site is a line of source.
type site struct {
	file string // absolute
	line int
}

// siteWords are what was said of the calls on one line, before anything was inlined there.
type siteWords struct {
	calls    []string // as the compiler writes them, cut short
	goDefer  int
	indirect int  // calls that are looked up in the profile: of interfaces and function values
	big      bool // a hot call here was refused as its function is too large
	cycle    bool
}

// words keeps what is said about the functions and lines that are wanted, and nothing else.
type words struct {
	dir   string // that the go command runs in: it shortens paths
	pkg   string
	cost  map[funcKey]int
	never map[funcKey]string // why a function cannot be inlined
	big   map[funcKey]bool
	funcs map[funcKey]bool // wanted
	// generics are those of funcs that have type arguments, by the name that they have in other packages.
	generics map[string]funcKey
	sites    map[site]*siteWords
	// refused says why an edge of an indirect call was not taken, chosen where those are that were.
	refused map[pgo.Edge]string
	chosen  map[pgo.Edge]string // to file:line
	// hottest are the edges that won at an indirect call, by caller and offset; last the one that was said
	// last, and at which position.
	hottest map[pgo.Edge]bool
	rivals  map[pgo.Edge]bool // caller and offset of those
	last    pgo.Edge
	lastPos string
}

func newWords(dir string) *words {
	return &words{
		dir: dir, generics: map[string]funcKey{},
		cost: map[funcKey]int{}, never: map[funcKey]string{}, big: map[funcKey]bool{}, funcs: map[funcKey]bool{},
		sites: map[site]*siteWords{}, refused: map[pgo.Edge]string{}, chosen: map[pgo.Edge]string{},
		hottest: map[pgo.Edge]bool{}, rivals: map[pgo.Edge]bool{},
	}
}

// line takes one line, and reports whether it is one that the compiler says when it is asked how it inlines.
func (w *words) line(b []byte) bool {
	if pkg, ok := bytes.CutPrefix(b, []byte("# ")); ok {
		name, _, _ := strings.Cut(string(pkg), " ")
		w.pkg = name
		return false
	}
	if bytes.HasPrefix(b, []byte("hot-")) {
		w.hot(string(b))
		return true
	}
	pos, said, ok := bytes.Cut(b, []byte(": "))
	if !ok || len(said) == 0 {
		return false
	}
	switch {
	case bytes.HasPrefix(said, []byte("can inline ")), bytes.HasPrefix(said, []byte("cannot inline ")), bytes.HasPrefix(said, []byte("function ")):
		return w.function(string(pos), string(said))
	case bytes.HasPrefix(said, []byte("PGO devirtualiz")), bytes.HasPrefix(said, []byte("can't PGO")), bytes.HasPrefix(said, []byte("edge ")), bytes.HasPrefix(said, []byte("call ")):
		return w.call(string(pos), string(said))
	}
	return chatter(said)
}

// chatter reports whether this is said under -m as well: of inlined calls and of what escapes.
func chatter(said []byte) bool {
	if said[0] == ' ' {
		return true
	}
	for _, begin := range []string{"inlining call to ", "leaking param", "moved to heap: ", "parameter ", "should not PGO", "devirtualizing ", "ignoring self-assignment", "zero-copy string"} {
		if bytes.HasPrefix(said, []byte(begin)) {
			return true
		}
	}
	return bytes.Contains(said, []byte(" escape")) || bytes.Contains(said, []byte(" captured by"))
}

// hot takes "hot-big check disallows inlining for call F (cost N) at POS in big function G".
func (w *words) hot(said string) {
	if !strings.HasPrefix(said, "hot-big check disallows") {
		return
	}
	_, rest, _ := strings.Cut(said, ") at ")
	pos, _, ok := strings.Cut(rest, " in big function ")
	if s := w.site(pos); ok && s != nil {
		s.big = true
	}
}

// function takes what is said of functions:
//
//	can inline F with cost N as: ...
//	cannot inline F: WHY
//	cannot inline F into G: repeated recursive cycle
//	function F considered 'big'; reducing max cost of inlinees
func (w *words) function(pos, said string) bool {
	if rest, ok := strings.CutPrefix(said, "can inline "); ok {
		name, rest, _ := strings.Cut(rest, " with cost ")
		digits, _, _ := strings.Cut(rest, " ")
		if key := w.key(name); w.funcs[key] {
			if n, err := strconv.Atoi(digits); err == nil {
				w.cost[key] = n
				delete(w.never, key)
			}
		}
		return true
	}
	if rest, ok := strings.CutPrefix(said, "cannot inline "); ok {
		name, why, _ := strings.Cut(rest, ": ")
		if _, _, call := strings.Cut(name, " into "); call {
			if s := w.site(pos); s != nil {
				s.cycle = true
			}
			return true
		}
		key := w.key(name)
		if _, can := w.cost[key]; w.funcs[key] && !can {
			w.never[key] = why
		}
		return true
	}
	name, ok := strings.CutSuffix(said, " considered 'big'; reducing max cost of inlinees")
	if key := w.key(strings.TrimPrefix(name, "function ")); ok && w.funcs[key] {
		w.big[key] = true
	}
	return ok
}

// want makes a function one whose words are kept.
func (w *words) want(key funcKey) {
	w.funcs[key] = true
	if strings.Contains(key.name, "[") {
		w.generics[path.Base(key.pkg)+"."+key.name] = key
	}
}

// key is the function that the compiler calls so in the package that it is at. An instance of a generic
// function of another package is compiled here, and has that package's name in front.
func (w *words) key(name string) funcKey {
	if strings.Contains(name, "[") {
		if key, ok := w.generics[name]; ok {
			return key
		}
	}
	return funcKey{w.pkg, name}
}

// call takes what is said of calls before anything is inlined:
//
//	PGO devirtualize considering call EXPR
//	can't PGO devirtualize go/defer call EXPR
//	edge CALLER:OFFSET -> CALLEE (weight N)WHY
//	call CALLER:OFFSET: hottest callee CALLEE (weight N)
//	call CALLER:OFFSET: no hot callee
//	PGO devirtualizing interface call EXPR to CALLEE
func (w *words) call(pos, said string) bool {
	if expr, ok := strings.CutPrefix(said, "PGO devirtualize considering call "); ok {
		const shown = 200
		if s := w.site(pos); s != nil && len(s.calls) < 64 {
			s.calls = append(s.calls, strings.Clone(expr[:min(len(expr), shown)]))
		}
		return true
	}
	if strings.HasPrefix(said, "can't PGO devirtualize") {
		if s := w.site(pos); s != nil {
			s.goDefer++
		}
		return true
	}
	if strings.HasPrefix(said, "PGO devirtualizing ") {
		if w.lastPos == pos {
			w.chosen[w.last] = line(pos)
		}
		return true
	}
	if rest, ok := strings.CutPrefix(said, "edge "); ok {
		from, rest, _ := strings.Cut(rest, " -> ")
		callee, why, ok := strings.Cut(rest, " (weight ")
		edge, fine := edgeOf(from, callee)
		if _, why, _ = strings.Cut(why, ")"); ok && fine {
			w.refuse(edge, why)
		}
		return ok
	}
	rest := strings.TrimPrefix(said, "call ")
	from, what, ok := cutLast(rest, ": ")
	if !ok {
		return false
	}
	if s := w.site(pos); s != nil {
		s.indirect++
	}
	if callee, found := strings.CutPrefix(what, "hottest callee "); found {
		callee, _, _ = strings.Cut(callee, " (weight ")
		w.last, _ = edgeOf(from, callee)
		w.lastPos = pos
		w.hottest[w.last] = true
		w.rivals[pgo.Edge{Caller: w.last.Caller, Offset: w.last.Offset}] = true
	}
	return true
}

// refuse notes what the compiler says of an edge that it looked at for an indirect call.
func (w *words) refuse(e pgo.Edge, why string) {
	switch {
	case strings.HasPrefix(why, " (missing IR)"):
		why = "the caller's package does not import the callee's, not even through others"
	case strings.HasPrefix(why, ": too cold"):
		why = hotterRival
	case strings.HasPrefix(why, ": hottest so far"):
		return
	default:
		why = strings.TrimPrefix(why, ": ")
	}
	if len(w.refused) < 1<<20 {
		w.refused[e] = strings.Clone(why)
	}
}

const hotterRival = "another callee of the same call is hotter, and only one is tried"

// rivalled reports whether another callee won at the call.
func (w *words) rivalled(e pgo.Edge) bool {
	return w.rivals[pgo.Edge{Caller: e.Caller, Offset: e.Offset}] && !w.hottest[e]
}

// edgeOf reads CALLER:OFFSET.
func edgeOf(from, callee string) (pgo.Edge, bool) {
	caller, digits, ok := cutLast(from, ":")
	offset, err := strconv.Atoi(digits)
	return pgo.Edge{Caller: strings.Clone(caller), Callee: strings.Clone(callee), Offset: offset}, ok && err == nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// site is what is kept of the line that a position names, nil if nobody wants it.
func (w *words) site(pos string) *siteWords {
	at := line(pos)
	file, digits, ok := cutLast(at, ":")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(w.dir, file)
	}
	return w.sites[site{file, n}]
}

// line is file:line of file:line:column.
func line(pos string) string {
	before, after, _ := cutLast(pos, ":")
	if _, err := strconv.Atoi(after); err != nil {
		return pos
	}
	if _, digits, _ := cutLast(before, ":"); digits != "" {
		if _, err := strconv.Atoi(digits); err == nil {
			return before
		}
	}
	return pos
}

// split takes a linker's name apart: the import path, and the name within its package. The linker escapes
// dots in the last element of a path (cmd/internal/objabi/path.go: PathToPrefix).
func split(name string) (pkg, local string) {
	head, _, _ := strings.Cut(name, "[")
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(head[slash:], '.')
	if dot < 0 {
		return "", name
	}
	pkg, local = name[:slash+dot], name[slash+dot+1:]
	if plain, err := url.PathUnescape(pkg); err == nil {
		pkg = plain
	}
	return pkg, local
}
