package profiles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile"
)

// profileSubject is the set of profiles that a page shows: one, several merged, or two compared. Pages share it, so
// that each file is read once.
type profileSubject struct {
	label string
	// items are merged. If base is not empty, it is merged too and compared with items.
	items, base []Item
	// words are the arguments that name items on a command line, and baseArg is the argument that names base. They are
	// empty if no command line can name these profiles.
	words   []string
	baseArg string
	loaded  *loadedProfiles // nil until the first page has read them
}

// loadedProfiles holds the profiles of a subject. They are never changed.
type loadedProfiles struct {
	profile, base *profile.Profile
	nodes         int // number of nodes in the labels of the samples
}

func (s *profileSubject) diff() bool { return len(s.base) > 0 }

// load reads the profiles of the subject.
func (s *profileSubject) load(ctx context.Context) (*loadedProfiles, error) {
	p, err := mergeItems(ctx, s.items)
	if err != nil {
		return nil, err
	}
	l := &loadedProfiles{profile: p}
	if s.diff() {
		if l.base, err = mergeItems(ctx, s.base); err != nil {
			return nil, err
		}
	}
	nodes := map[string]bool{}
	for _, set := range p.LabelSets {
		for _, label := range set {
			if label.Key == profile.NodeLabel {
				nodes[label.Str] = true
			}
		}
	}
	l.nodes = len(nodes)
	return l, nil
}

// maxReaders is the number of profiles that are read in parallel.
const maxReaders = 4

// loadItems reads profiles and returns them, or their errors, in the order of items.
func loadItems(ctx context.Context, items []Item) (all []*profile.Profile, errs []error) {
	all, errs = make([]*profile.Profile, len(items)), make([]error, len(items))
	next := make(chan int)
	var readers sync.WaitGroup
	for range min(maxReaders, len(items)) {
		readers.Go(func() {
			for i := range next {
				all[i], errs[i] = loadItem(ctx, &items[i])
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	readers.Wait()
	return all, errs
}

// mergeItems reads profiles, and merges them if there are several.
func mergeItems(ctx context.Context, items []Item) (*profile.Profile, error) {
	all, errs := loadItems(ctx, items)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	switch len(all) {
	case 0:
		return nil, errors.New("no profile")
	case 1:
		return all[0], nil
	}
	return profile.Merge(all, profile.MergeOptions{Nodes: true})
}

// loadItem reads one profile and sets its node to that of the item.
func loadItem(ctx context.Context, item *Item) (*profile.Profile, error) {
	if item.Err != "" {
		return nil, fmt.Errorf("%s: %s", item.title(), item.Err)
	}
	if item.Load == nil {
		return nil, fmt.Errorf("%s: no profile", item.title())
	}
	p, err := item.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", item.title(), err)
	}
	if item.Node != "" && p.Origin.Node != item.Node {
		own := *p
		own.Origin.Node, own.Origin.Role = item.Node, item.Role
		p = &own
	}
	return p, nil
}

// title returns the display name of a profile.
func (i *Item) title() string {
	switch {
	case i.Node != "":
		return i.Node
	case i.Name != "":
		return baseName(i.Name)
	}
	return "profile"
}

// baseName returns the last part of a path or URL.
func baseName(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if i := strings.LastIndexAny(trimmed, `/\`); i >= 0 {
		return trimmed[i+1:]
	}
	return trimmed
}

// newSubject returns the subject of pages about these profiles. base is nil unless profiles are compared.
func newSubject(items, base []Item) *profileSubject {
	s := &profileSubject{items: items, base: base, label: itemsLabel(items)}
	if s.diff() {
		s.label = itemsLabel(base) + " → " + s.label
	}
	s.words = wordsOf(items)
	if s.diff() && len(s.words) > 0 {
		// Flags apply to both sides, so both must have the same flags.
		if was := wordsOf(base); len(was) > 0 && slices.Equal(was[1:], flagsIn(s.words)) {
			s.baseArg = was[0]
		}
	}
	return s
}

// subjectOf names a subject, or the nodes that the filter keeps.
func subjectOf(s *profileSubject, f *profile.Filter) string {
	if len(f.Nodes) == 0 {
		return s.label
	}
	return words.Sanitize(strings.Join(f.Nodes, ", ")) + " of " + s.label
}

// wordsOf returns the arguments that name profiles on a command line: several locations with the same flags,
// or several profiles of one location, selected by flags. It returns nil if no command line can name them.
func wordsOf(items []Item) []string {
	var places, flags []string
	same := true
	for i := range items {
		w := items[i].Words
		if len(w) == 0 {
			return nil
		}
		if i > 0 && !slices.Equal(w[1:], items[0].Words[1:]) {
			same = false
		}
		if !slices.Contains(places, w[0]) {
			places = append(places, w[0])
		}
		flags = join(flags, w[1:])
	}
	if !same && len(places) > 1 {
		return nil
	}
	return append(places, flags...)
}

// join appends the flags of more, with their values, that flags does not contain.
func join(flags, more []string) []string {
	for len(more) > 0 {
		n := 1
		if len(more) > 1 && !strings.HasPrefix(more[1], "--") {
			n = 2
		}
		flag := more[:n]
		more = more[n:]
		there := false
		for i := 0; i+n <= len(flags); i++ {
			there = there || slices.Equal(flags[i:i+n], flag)
		}
		if !there {
			flags = append(flags, flag...)
		}
	}
	return flags
}

// flagsIn returns the flags after the locations in words.
func flagsIn(words []string) []string {
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })
	if i < 0 {
		return nil
	}
	return words[i:]
}

// command returns the start of a command line about the subject, e.g. with the verb flame, top or diff. ok is false
// if no command line names the same profiles.
func (s *profileSubject) command(verb string, before ...string) (c shellquote.Command, ok bool) {
	if len(s.words) == 0 || s.diff() && s.baseArg == "" {
		return c, false
	}
	return shellquote.Shell("profile", verb).Arg(before...).Word(s.words...), true
}

func itemsLabel(items []Item) string {
	switch {
	case len(items) == 0:
		return ""
	case len(items) == 1:
		return words.Sanitize(items[0].title())
	}
	role := items[0].Role
	for i := range items {
		if items[i].Role != role {
			role = ""
		}
	}
	switch {
	case role == "" && items[0].Node != "":
		return words.Number(len(items)) + " processes"
	case role == "":
		return words.Number(len(items)) + " profiles"
	}
	return words.Plural(len(items), words.Sanitize(role))
}
