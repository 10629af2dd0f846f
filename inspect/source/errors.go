package source

import "errors"

// ErrCompacted says that the wanted revision is gone from etcd: the store was
// compacted past it. Pin again to go on from the present.
var ErrCompacted = errors.New("revision was compacted away")
