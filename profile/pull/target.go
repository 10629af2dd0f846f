package pull

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/profile"
)

// Target is a process to take profiles of, or one of its profiles.
type Target struct {
	// Node is what the process is called: "querynode-10", or host and port.
	Node string
	// Roles and NodeIDs are those of its sessions, Version is Milvus's; empty if unknown.
	Roles   []string
	NodeIDs []string
	Version string
	// URL is where its profiles are, "http://10.0.0.7:9091/debug/pprof", or, with Only, the one
	// profile that is wanted. It holds no credentials.
	URL *url.URL
	// Only is the kind that URL serves; "": URL is a folder of kinds.
	Only Kind
	// Unknown is why the process cannot be asked; "" where URL is set.
	Unknown string

	// authorization is what is sent along in the header of that name.
	authorization string
	secrets       []string
}

// pprofPath is where net/http/pprof puts its handlers.
const pprofPath = "/debug/pprof"

// Process is the Target of a process whose HTTP server is at an address.
func Process(node, address string) Target {
	return Target{Node: node, URL: &url.URL{Scheme: "http", Host: address, Path: pprofPath}}
}

// named is a word such as "indexer=http://10.0.0.7:6060".
var namedWord = profile.NewPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$`)

var errNoHost = errors.New("no host in it")

// ErrNoPort says that a word could be a host, and as well a file or a folder.
var ErrNoPort = errors.New("no port in it, and no http://")

// ParseTarget reads what a person names: host:port, a URL of a folder of profiles or of one profile,
// with NAME= in front or not. password is for a user in the URL without one. A word without a scheme and a port is refused, with ErrNoPort: as
// often as a host it is the name of a folder.
//
// A path that ends in a slash or in "pprof" is a folder, and so is none at all; any other path is one
// profile, of the kind that its last part tells.
func ParseTarget(word, password string) (Target, error) {
	var t Target
	rest := word
	if m := namedWord().FindStringSubmatch(word); m != nil {
		t.Node, rest = m[1], m[2]
	}
	scheme := strings.Contains(rest, "://")
	if !scheme {
		rest = "http://" + rest
	}
	u, err := url.Parse(rest)
	if err != nil {
		// What Parse says repeats the address, credentials included.
		return t, fmt.Errorf("read the address %s: want http://host:port/path", withoutUser(word))
	}
	if !scheme && rest != "http://" && u.Port() == "" {
		return t, fmt.Errorf("read the address %s: %w", withoutUser(word), ErrNoPort)
	}
	if err := checkURL(u); err != nil {
		return t, fmt.Errorf("read the address %s: %w", withoutUser(word), err)
	}
	if strings.Contains(u.EscapedPath(), "@") { // or half of a password would be taken for a path, and be shown
		return t, fmt.Errorf("read the address %s: an @ stands behind a slash: write / in a password as %%2F, and @ in a path as %%40", withoutUser(word))
	}
	t.authorize(u, password)
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	t.URL = u
	t.concealQuery()
	if err := t.settlePath(); err != nil {
		return t, fmt.Errorf("read the address %s: %w", withoutUser(word), err)
	}
	if t.Node == "" {
		t.Node = u.Host
	}
	return t, nil
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("want http or https")
	case u.Hostname() == "":
		return errNoHost
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("no host has such characters")
	}
	return nil
}

func (t *Target) authorize(u *url.URL, password string) {
	if u.User == nil {
		return
	}
	own, ok := u.User.Password()
	if ok {
		password = own
	}
	plain := u.User.Username() + ":" + password
	packed := base64.StdEncoding.EncodeToString([]byte(plain))
	t.authorization = "Basic " + packed
	t.secrets = append(t.secrets, password, packed, url.QueryEscape(password), url.PathEscape(password))
}

// WantsPassword reports whether a word names a user and no password.
func WantsPassword(word string) bool {
	_, rest, ok := strings.Cut(word, "://")
	if !ok {
		rest = word
	}
	u, err := url.Parse("http://" + rest)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return !has
}

// concealQuery counts what is in a query as secret, but for pprof's own parameters and what is too short to be looked for.
func (t *Target) concealQuery() {
	const shortest = 4
	for key, values := range t.URL.Query() {
		for _, v := range values {
			if v == "" { // "?TOKEN"
				v = key
			}
			if !isPlain(key) && len(v) >= shortest {
				t.secrets = append(t.secrets, v, url.QueryEscape(v))
			}
		}
	}
}

// isPlain reports whether a parameter is one of net/http/pprof's.
func isPlain(key string) bool { return slices.Contains([]string{"seconds", "gc", "debug"}, key) }

// settlePath tells a folder of profiles from one profile.
func (t *Target) settlePath() error {
	u := t.URL
	last := path.Base("/" + strings.TrimSuffix(u.Path, "/"))
	switch {
	case u.Path == "" || u.Path == "/":
		u.Path = pprofPath
	case strings.HasSuffix(u.Path, "/"), last == "pprof":
		u.Path = strings.TrimSuffix(u.Path, "/")
	default:
		q := u.Query()
		if q.Get("debug") != "" && q.Get("debug") != "0" {
			return errors.New("debug= asks for text instead of a profile: remove it")
		}
		// net/http/pprof takes its own default of 30 where it cannot read the number.
		if n, err := strconv.Atoi(cmp.Or(q.Get("seconds"), "1")); err != nil || n < 1 || n > maxSeconds {
			return fmt.Errorf("seconds= is a whole number from 1 to %d", maxSeconds)
		}
		t.Only = kindOfEndpoint(last)
		if t.Only == "" {
			t.Only = Kind(fileWord(last))
		}
		if s, known := specOf(t.Only + delta); known && s.windowed && q.Get("seconds") != "" {
			t.Only += delta
		}
		return nil
	}
	if u.RawQuery != "" {
		return errors.New("a folder of profiles takes no query: name the profile, or use --seconds")
	}
	return nil
}

// address is the host and the port.
func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// urlOf is where a kind is, for some seconds, and how many of them the answer takes: those that a person
// wrote into the URL come first, and what is taken at once takes none.
func (t *Target) urlOf(k Kind, seconds int) (u *url.URL, window int) {
	copied := *t.URL
	u = &copied
	s, known := specOf(k)
	query := u.Query()
	if t.Only == "" {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + s.endpoint
		u.RawPath = ""
	} else if own, err := strconv.Atoi(query.Get("seconds")); err == nil {
		return u, own
	}
	if known && !s.windowed {
		return u, 0
	}
	query.Set("seconds", strconv.Itoa(seconds))
	u.RawQuery = query.Encode()
	return u, seconds
}

// shownURL is a URL without what may be secret in it: only the values of pprof's own parameters are kept.
func shownURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	query := shown.Query()
	for key, values := range query {
		switch {
		case isPlain(key):
		case slices.Contains(values, ""): // a word alone may be the secret itself
			query.Del(key)
			query.Set("redacted", "redacted")
		default:
			query.Set(key, "redacted")
		}
	}
	shown.RawQuery = query.Encode()
	return shown.String()
}

// schemeWord is what may stand before "://", with a name in front or not.
var schemeWord = profile.NewPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*=)?[A-Za-z][A-Za-z0-9+.-]*$`)

// withoutUser takes credentials, query and fragment out of a word that may be no URL at all. Where a password may
// hold what ends a host, and so nobody can tell them apart, rather too much is taken out.
func withoutUser(word string) string {
	head, rest, ok := strings.Cut(word, "://")
	switch {
	case !ok:
		head, rest = "", word
	case schemeWord().MatchString(head):
		head += "://"
	default:
		head, rest = "", word
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		if strings.Contains(rest[i:], "@") {
			return head + "<redacted>"
		}
		rest = rest[:i]
	}
	return head + rest[strings.LastIndexByte(rest, '@')+1:]
}

// RedactWord is a word of a command line without the credentials that a URL in it may hold.
func RedactWord(word string) string {
	if !strings.ContainsAny(word, "@?#") {
		return word
	}
	return withoutUser(word)
}

// At reports whether two targets are at the same host and port.
func (t *Target) At(other *Target) bool {
	return t.URL != nil && other.URL != nil && strings.EqualFold(address(t.URL), address(other.URL))
}

// As is the target with the name, the sessions and the version of another one, which is the same process; a name that a person gave stays.
func (t *Target) As(process *Target) Target {
	c := *t
	c.Roles, c.NodeIDs, c.Version = process.Roles, process.NodeIDs, process.Version
	if c.URL == nil || c.Node == c.URL.Host {
		c.Node = process.Node
	}
	return c
}
