package check

// Branch is a finding in the tree of causes.
type Branch struct {
	*Finding
	// Depth is 0 for a finding that follows from none, and one more than its cause's else.
	Depth int
	// Effects is how many findings follow from it, directly or not: they are those behind it.
	Effects int
}

// Tree puts findings into the order of a tree: behind each, one deeper, those that follow
// from it. Order among siblings stays. A circle of causes is none.
func Tree(findings []*Finding) []Branch {
	byKey := make(map[string]*Finding, len(findings))
	for _, f := range findings {
		if byKey[f.Key()] == nil {
			byKey[f.Key()] = f
		}
	}
	effects := make(map[*Finding][]*Finding)
	var roots []*Finding
	for _, f := range findings {
		if cause := byKey[f.Cause]; f.Cause != "" && cause != nil && grounded(f, byKey) {
			effects[cause] = append(effects[cause], f)
		} else {
			roots = append(roots, f)
		}
	}
	tree := make([]Branch, 0, len(findings))
	var grow func(f *Finding, depth int)
	grow = func(f *Finding, depth int) {
		at := len(tree)
		tree = append(tree, Branch{Finding: f, Depth: depth})
		for _, e := range effects[f] {
			grow(e, depth+1)
		}
		tree[at].Effects = len(tree) - at - 1
	}
	for _, f := range roots {
		grow(f, 0)
	}
	return tree
}

// grounded reports whether the causes of a finding end with one that has none.
func grounded(f *Finding, byKey map[string]*Finding) bool {
	for range len(byKey) + 1 {
		next := byKey[f.Cause]
		if f.Cause == "" || next == nil {
			return true
		}
		f = next
	}
	return false
}
