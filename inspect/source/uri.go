package source

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"kitescope/internal/hints"
)

// etcdAddress is a parsed etcd:// or etcds:// address.
type etcdAddress struct {
	tls bool
	// hosts are host:port pairs.
	hosts []string
	// user may precede the hosts; a password may not.
	user string
	// root is the path: "by-dev", "by-dev/meta" or "".
	root string
}

// defaultEtcdPort is the registered client port of etcd.
const defaultEtcdPort = "2379"

// parseEtcd parses etcd[s]://[user@]host[:port][,host[:port]...][/root[/sub]].
func parseEtcd(from string) (etcdAddress, error) {
	scheme, rest, _ := strings.Cut(from, "://")
	a := etcdAddress{tls: scheme == "etcds"}
	user, authority, path := cutAuthority(rest)
	if user != "" {
		if strings.Contains(user, ":") {
			return a,
				hints.Errorf("write "+scheme+"://USER@"+authority+
					"/... and give the password in KITESCOPE_ETCD_PASSWORD, "+
					"with --password-file, or at the prompt",
					"a password does not belong in the address: it would stay in the shell's history")
		}
		name, err := url.PathUnescape(user)
		if err != nil {
			return a,
				hints.Errorf("write a user name with special characters percent-encoded", "read %s: bad user name",
					scheme+"://...@"+authority)
		}
		a.user = name
	}
	if strings.ContainsAny(path, "?#") {
		return a,
			hints.Errorf("TLS files, user and timeouts are flags", "read %s://%s: an etcd address has no ? or # part",
				scheme, authority)
	}
	root, err := url.PathUnescape(path)
	if err != nil {
		return a,
			hints.Errorf("write special characters of the root percent-encoded", "read %s://%s: bad root %q", scheme,
				authority, path)
	}
	a.root = strings.TrimRight(root, "/")
	for host := range strings.SplitSeq(authority, ",") {
		hostPort, err := withPort(host)
		if err != nil {
			return a,
				hints.Errorf("write "+scheme+"://HOST:PORT[,HOST:PORT]/ROOT", "read %s: %w", scheme+"://"+authority,
					err)
		}
		a.hosts = append(a.hosts, hostPort)
	}
	return a, nil
}

// cutAuthority splits the part of an address after the scheme. A password may contain slashes. It must not be
// parsed as a host, because hosts are displayed. Therefore the user info of "user:pass/word@host" extends to
// its last "@".
func cutAuthority(rest string) (user, authority, path string) {
	authority, path, _ = strings.Cut(rest, "/")
	if strings.Contains(authority, ":") && !strings.Contains(authority, "@") {
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			user, rest = rest[:i], rest[i+1:]
			authority, path, _ = strings.Cut(rest, "/")
			return user, authority, path
		}
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = authority[:i], authority[i+1:]
	}
	return user, authority, path
}

// withPort validates host[:port] and adds the default port.
func withPort(host string) (string, error) {
	if host == "" {
		return "", &net.AddrError{Err: "missing host", Addr: host}
	}
	bare := strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[")
	if bare || !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
		host = net.JoinHostPort(strings.Trim(host, "[]"), defaultEtcdPort)
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", &net.AddrError{Err: "port must be 1 to 65535", Addr: host}
	}
	if name == "" || strings.ContainsAny(name, " \t\\\"'<>") {
		return "", &net.AddrError{Err: "bad host name", Addr: host}
	}
	return net.JoinHostPort(name, port), nil
}

// endpoints returns the hosts in the form that clientv3 requires.
func (a etcdAddress) endpoints() []string {
	scheme := "http://"
	if a.tls {
		scheme = "https://"
	}
	out := make([]string, len(a.hosts))
	for i, h := range a.hosts {
		out[i] = scheme + h
	}
	return out
}

// location returns the address as the user would write it, without the user name.
func (a etcdAddress) location() string {
	scheme := "etcd://"
	if a.tls {
		scheme = "etcds://"
	}
	location := scheme + strings.Join(a.hosts, ",")
	if a.root != "" {
		location += "/" + a.root
	}
	return location
}

// looksLikeAddress reports whether an argument that does not name a file was probably meant as host:port.
func looksLikeAddress(word string) bool {
	first, _, _ := strings.Cut(word, ",")
	first, _, _ = strings.Cut(first, "/")
	host, port, err := net.SplitHostPort(first)
	if err != nil {
		return false
	}
	_, err = strconv.Atoi(port)
	return err == nil && !strings.ContainsAny(host, `\ `) && len(host) != 1
}
