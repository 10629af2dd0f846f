package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// recordedProfiles are the profiles that a bundle has, as their processes served them: by the address of
// the HTTP server and by the last part of the path. The bytes are those that were recorded.
func recordedProfiles(ctx context.Context, src source.Source) (map[string]map[string][]byte, error) {
	record, err := session.KeptProfiles(ctx, src.(*source.Bundle))
	if err != nil || record == nil {
		return nil, err
	}
	served := map[string]map[string][]byte{}
	for _, item := range record.Items {
		if item.Address == "" {
			continue
		}
		content, err := readItem(item)
		if err != nil {
			return nil, err
		}
		if served[item.Address] == nil {
			served[item.Address] = map[string][]byte{}
		}
		served[item.Address][endpointOf(item.Kind)] = content
	}
	return served, nil
}

// proxyPort is the port of the proxy's HTTP server; "" if no profile of it was recorded.
func (d *demoEtcd) proxyPort() string {
	for i := range d.answers {
		host, _, err := net.SplitHostPort(d.answers[i].Address)
		if err != nil || d.answers[i].Role != "proxy" {
			continue
		}
		// The lab's proxy has it there (cluster.sh: METRICS_PORT).
		if at, ok := d.servers.Address(net.JoinHostPort(host, labProxyPort)); ok {
			_, port, _ := net.SplitHostPort(at)
			return port
		}
	}
	return ""
}

// labProxyPort is where the proxy of the captured cluster had its HTTP server.
const labProxyPort = "20131"

func readItem(item pull.Item) ([]byte, error) {
	in, err := item.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", item.Name, err)
	}
	return content, nil
}

// endpointOf is the last part of the path of a kind: all are called as net/http/pprof calls them, but one.
func endpointOf(k pull.Kind) string {
	if k == pull.CPU {
		return "profile"
	}
	return string(k)
}
