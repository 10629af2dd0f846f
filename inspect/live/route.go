package live

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// routes is an address map: from hosts, with or without a port, to addresses that are reachable from here.
type routes map[string]route

// route is the target in an address map; port "" keeps the port.
type route struct{ host, port string }

// parseRoutes parses an address map.
func parseRoutes(from map[string]string) (routes, error) {
	r := make(routes, len(from))
	for key, value := range from {
		key, value = redact.Address(key), redact.Address(value) // errors repeat them, and hosts have no user
		host, port, err := splitAddress(key)
		if err != nil {
			return nil, fmt.Errorf("read the address map: %q: %w", key, err)
		}
		target := route{}
		if target.host, target.port, err = splitAddress(value); err != nil {
			return nil, fmt.Errorf("read the address map: %q: %w", value, err)
		}
		r[routeKey(host, port)] = target
	}
	return r, nil
}

func routeKey(host, port string) string {
	if port == "" {
		return strings.ToLower(host)
	}
	return net.JoinHostPort(strings.ToLower(host), port)
}

// splitAddress splits text into host and port; port is "" if there is none. IPv6 addresses may be bare or in
// brackets.
func splitAddress(text string) (host, port string, err error) {
	text = strings.TrimSpace(text)
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	if _, err := netip.ParseAddr(bare); err == nil {
		return bare, "", nil
	}
	if strings.Contains(text, ":") {
		return fullAddress(text)
	}
	return text, "", checkHost(text)
}

// fullAddress splits an address into host and port, which it must have.
func fullAddress(text string) (host, port string, err error) {
	if host, port, err = net.SplitHostPort(text); err != nil {
		if strings.Count(text, ":") > 1 && !strings.Contains(text, "[") {
			return "", "", errors.New("an IPv6 address with a port has brackets: [address]:port")
		}
		return "", "", errors.New("expected host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("port %q: expected 1 to 65535", port)
	}
	return host, port, checkHost(host)
}

// checkHost refuses invalid hosts, which could be taken for part of a protocol or for this machine, because
// sessions are untrusted.
func checkHost(host string) error {
	if host == "" {
		return errors.New("no host")
	}
	for _, c := range host {
		if c <= ' ' || c == 0x7f || strings.ContainsRune(`/\@?#"<>`, c) {
			return fmt.Errorf("%q in a host name", c)
		}
	}
	return nil
}

// target returns the address at which an address of the cluster is reachable from here. A host that is mapped
// to one port receives all gRPC calls there. The addresses of
// its other ports are unknown, so target returns an error for them. fixed is true for gRPC and brokers.
func (r routes) target(address string, fixed bool) (string, error) {
	host, port, err := fullAddress(address)
	if err != nil {
		return "", newFailure(model.Unreachable, "%q is not an address: %v", redact.Address(address), err)
	}
	to, ok := r[routeKey(host, port)]
	if !ok {
		to, ok = r[routeKey(host, "")]
		if ok && to.port != "" && !fixed {
			return "",
				newFailure(model.NotAsked, "the address map leads %s to one port only: map %s as well", host, address)
		}
	}
	if !ok {
		return address, nil
	}
	if to.port != "" {
		port = to.port
	}
	return net.JoinHostPort(to.host, port), nil
}
