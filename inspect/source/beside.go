package source

// Beside are the keys outside of the root that belong to a Milvus all the same: Woodpecker, the message queue of 2.6 and later,
// keeps its metadata under a prefix that no setting moves (zilliztech/woodpecker meta/constant.go; woodpecker.meta.prefix is read
// by nothing). Several Milvus in one etcd share them: a log has its pchannel's name. They are read where they
// can be, and an account that may not read them has no gap for that: most clusters have none. They are not watched.
func Beside() []Range { return []Range{Prefix("woodpecker/")} }

// withBeside is all that belongs to a root, in order.
func withBeside(root string) []Range { return mergeRanges(append(Beside(), Prefix(root+"/"))) }
