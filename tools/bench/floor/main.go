// Command floor reads the keys that a listing of segments needs and discards them: one Range per collection
// and kind of key, at one revision, with the plain etcd client. Nothing can be faster without reading less,
// so its wall time is the baseline for other readers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// perCollection lists the kinds of keys that are read for each collection, wholePrefixes those that are read at once.
var (
	perCollection = []string{
		"datacoord-meta/s/", "datacoord-meta/binlog/", "datacoord-meta/deltalog/", "datacoord-meta/statslog/",
		"segment-index/", "field-index/", "root-coord/fields/", "root-coord/partitions/",
	}
	wholePrefixes = []string{
		"root-coord/database/", "channelwatch/", "datacoord-meta/channel-cp/",
		"querycoord-collection-loadinfo/", "querycoord-partition-loadinfo/", "querycoord-replica/",
		"queryCoord-ResourceGroup/", "session/",
	}
)

const catalog = "root-coord/database/collection-info/"

func main() {
	endpoint := flag.String("endpoint", "127.0.0.1:2379", "host:port of the etcd")
	root := flag.String("root", "by-dev/meta/", "prefix of the metadata keys")
	flag.Parse()
	if err := run(*endpoint, *root); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(endpoint, root string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	started := time.Now()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 5 * time.Second})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	defer client.Close()
	collections, err := client.Get(ctx, root+catalog, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	var keys, bytes int
	read := func(prefix string) error {
		answer, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithRev(collections.Header.Revision))
		if err != nil {
			return fmt.Errorf("read %s: %w", prefix, err)
		}
		for _, kv := range answer.Kvs {
			keys++
			bytes += len(kv.Key) + len(kv.Value)
		}
		return nil
	}
	for _, kind := range perCollection {
		for _, kv := range collections.Kvs {
			id := kv.Key[strings.LastIndexByte(string(kv.Key), '/')+1:]
			if err := read(root + kind + string(id) + "/"); err != nil {
				return err
			}
		}
	}
	for _, kind := range wholePrefixes {
		if err := read(root + kind); err != nil {
			return err
		}
	}
	fmt.Printf("%d keys, %d bytes at revision %d in %.3f s\n", keys, bytes, collections.Header.Revision,
		time.Since(started).Seconds())
	return nil
}
