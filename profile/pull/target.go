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

// Target is a process to profile, or a single profile of a process.
type Target struct {
	// Node is the name of the process, e.g. "querynode-10", or host and port.
	Node string
	// Roles and NodeIDs come from the sessions of the process. Version is the Milvus version. They are empty if
	// unknown.
	Roles   []string
	NodeIDs []string
	Version string
	// URL is the folder of the process's profiles, e.g. "http://10.0.0.7:9091/debug/pprof". If Only is set, it
	// is the URL of a single profile. It holds no credentials.
	URL *url.URL
	// Only is the kind that URL serves; "" means that URL is a folder of kinds.
	Only Kind
	// Unknown is the reason why the URL is unknown; "" if URL is set.
	Unknown string

	// authorization is the value of the Authorization header.
	authorization string
	secrets       []string
}

// pprofPath is the path of the handlers of net/http/pprof.
const pprofPath = "/debug/pprof"

// Process returns the Target of a process with its HTTP server at address.
func Process(node, address string) Target {
	return Target{Node: node, URL: &url.URL{Scheme: "http", Host: address, Path: pprofPath}}
}

// namedWord matches a word such as "indexer=http://10.0.0.7:6060".
var namedWord = profile.NewPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$`)

var errNoHost = errors.New("no host in it")

// ErrNoPort means that a word could be a host, but also a file or a folder.
var ErrNoPort = errors.New("no port in it, and no http://")

// ParseTarget parses an argument: host:port, or a URL of a folder of profiles or of one profile, optionally
// preceded by NAME=. password is used if the URL has a user without a password. A word without a scheme and a
// port is rejected with ErrNoPort, because it may as well be the name of a folder.
//
// A path that is empty or ends in a slash or in "pprof" is a folder. Any other path is one profile, whose kind
// is the last element.
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
		// The error of Parse repeats the address, including credentials.
		return t, fmt.Errorf("read the address %s: expected http://host:port/path", withoutUser(word))
	}
	if !scheme && rest != "http://" && u.Port() == "" {
		return t, fmt.Errorf("read the address %s: %w", withoutUser(word), ErrNoPort)
	}
	if err := checkURL(u); err != nil {
		return t, fmt.Errorf("read the address %s: %w", withoutUser(word), err)
	}
	if strings.Contains(u.EscapedPath(), "@") { // otherwise a part of a password could be taken for a path and be shown
		return t, fmt.Errorf("read the address %s: an @ after a slash: write / in a password as %%2F, and @ in a "+
			"path as %%40", withoutUser(word))
	}
	t.authorize(u, password)
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	t.URL = u
	t.addQuerySecrets()
	if err := t.resolvePath(); err != nil {
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
		return errors.New("expected http or https")
	case u.Hostname() == "":
		return errNoHost
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("the host has invalid characters")
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

// WantsPassword reports whether word has a user without a password.
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

// addQuerySecrets adds the values of the query to the secrets. It omits parameters of pprof and values too short to
// search for.
func (t *Target) addQuerySecrets() {
	const shortest = 4
	for key, values := range t.URL.Query() {
		for _, v := range values {
			if v == "" { // "?TOKEN"
				v = key
			}
			if !isPprofParam(key) && len(v) >= shortest {
				t.secrets = append(t.secrets, v, url.QueryEscape(v))
			}
		}
	}
}

// isPprofParam reports whether key is a parameter of net/http/pprof.
func isPprofParam(key string) bool { return slices.Contains([]string{"seconds", "gc", "debug"}, key) }

// resolvePath determines whether the path is a folder of profiles or one profile.
func (t *Target) resolvePath() error {
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
			return errors.New("debug= requests text instead of a profile: remove it")
		}
		// net/http/pprof falls back to 30 seconds if it cannot parse the number.
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

// address returns the host and the port of u. The port defaults to that of the scheme.
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

// urlOf returns the URL of a kind for the given seconds, and the window of the response in seconds. Seconds in
// the URL given by the user take precedence. The window of an instantaneous profile is 0.
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

// redactURL returns u without possible secrets. It keeps only the values of parameters of pprof.
func redactURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	query := shown.Query()
	for key, values := range query {
		switch {
		case isPprofParam(key):
		case slices.Contains(values, ""): // a key without a value may be the secret itself
			query.Del(key)
			query.Set("redacted", "redacted")
		default:
			query.Set(key, "redacted")
		}
	}
	shown.RawQuery = query.Encode()
	return shown.String()
}

// schemeWord matches the text before "://": a scheme, optionally preceded by a name.
var schemeWord = profile.NewPattern(`^([A-Za-z0-9][A-Za-z0-9._-]*=)?[A-Za-z][A-Za-z0-9+.-]*$`)

// withoutUser removes credentials, query and fragment from a word, which may not be a URL. It removes too much
// rather than too little, because a password may contain characters that end a host.
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

// RedactWord returns a word of a command line without the credentials of a URL in it.
func RedactWord(word string) string {
	if !strings.ContainsAny(word, "@?#") {
		return word
	}
	return withoutUser(word)
}

// SameAddress reports whether two targets have the same host and port.
func (t *Target) SameAddress(other *Target) bool {
	return t.URL != nil && other.URL != nil && strings.EqualFold(address(t.URL), address(other.URL))
}

// WithProcess returns t with the sessions and the version of process, a target of the same process. It also takes the
// name of process, unless the user named t.
func (t *Target) WithProcess(process *Target) Target {
	c := *t
	c.Roles, c.NodeIDs, c.Version = process.Roles, process.NodeIDs, process.Version
	if c.URL == nil || c.Node == c.URL.Host {
		c.Node = process.Node
	}
	return c
}
