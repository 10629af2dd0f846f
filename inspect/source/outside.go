package source

// OutsideRoot returns the ranges of keys that are outside the root but belong to a Milvus cluster. Woodpecker, the
// message queue of 2.6 and later, keeps its metadata under a fixed prefix (zilliztech/woodpecker
// meta/constant.go; no code reads woodpecker.meta.prefix). Several clusters in an etcd share the prefix,
// where a log is named after its pchannel. These keys are read if possible. If the account may not read them,
// no gap is reported, because most clusters have no such keys. They are not watched.
func OutsideRoot() []Range { return []Range{Prefix("woodpecker/")} }

// withOutsideRoot returns all ranges that belong to root, in order.
func withOutsideRoot(root string) []Range {
	return mergeRanges(append(OutsideRoot(), Prefix(root+"/")))
}
