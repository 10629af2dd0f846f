// Command etcdserve is an etcd, for machines that have none on PATH: the server
// that tests embed, with etcd's own flags, in a process of its own.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
