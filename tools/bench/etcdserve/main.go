// Command etcdserve runs the etcd server that tests embed, with etcd's own flags, in a process of its own. It
// is for machines without etcd on PATH.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
