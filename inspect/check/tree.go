package check

// Branch is a finding in the tree of causes.
type Branch struct {
	*Finding
	// Depth is 0 for a finding without a cause, otherwise one more than that of its cause.
	Depth int
	// Effects is the number of findings that follow from it, directly or indirectly. They are placed directly
	// after it.
	Effects int
}

// Tree returns findings in the order of a tree: after each, one level deeper, the findings that follow from
// it. The order of siblings is kept. Findings in a cycle of causes are roots.
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
		if cause := byKey[f.Cause]; f.Cause != "" && cause != nil && hasRoot(f, byKey) {
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

// hasRoot reports whether the chain of causes ends at a finding without a cause, i.e. has no cycle.
func hasRoot(f *Finding, byKey map[string]*Finding) bool {
	for range len(byKey) + 1 {
		next := byKey[f.Cause]
		if f.Cause == "" || next == nil {
			return true
		}
		f = next
	}
	return false
}
