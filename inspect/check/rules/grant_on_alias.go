package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// resolveAlias is the setting that makes a proxy resolve an alias before it looks for a grant
// (pkg/util/paramtable/component_param.go at 2.6.22 and 3.0.1: ResolveAliasForPrivilege, true unless it is
// set).
const resolveAlias = "proxy.resolveAliasForPrivilege"

// grantOnAlias reports privileges on aliases that proxies never check.
var grantOnAlias = &check.Check{
	ID:       "grant-on-alias",
	Title:    "A role has privileges on an alias, and not on its collection",
	Severity: check.Warning,
	Symptoms: []string{check.AfterUpgrade},
	Starts:   "privilege_granted alias_created node_joined:proxy | alias_altered",
	Parts:    model.PartObjects | model.PartUsers | model.PartSessions,
	Doc: `After an upgrade a role is denied access through an alias. The check looks for privileges on collections
(object type ` + "`Collection`" + `) whose object is an alias. Since 2.6.11 a proxy replaces an alias in a request with
its collection before it looks for a grant (` + "`" + resolveAlias + "`" + `, true unless set; Milvus issue 47850, pull
request 48052), and does not find a privilege on the alias. Warning for each role without the same privilege on the
collection, or on all of them.

Not reported: a role with a group of privileges on the collection; clusters without authorization
(` + "`common.security.authorizationEnabled`" + `); proxies of older releases, or with that setting at false: they
compare the name in the request with that of the grant. Before an upgrade use ` + "`kitescope preflight`" + `. In 2.6.11
itself only searches were seen to be checked against the collection (Milvus issue 48061), so other requests by the alias
may still work. Read from sources and issues, not seen on a server.`,
	Remedy: `Grant the same on the collection, then revoke it on the alias:
` + "`MilvusClient.grant_privilege_v2(role, privilege, collection_name, db_name)`" + `.`,
	Run:   runGrantOnAlias,
	Whole: true,
}

func runGrantOnAlias(p *check.Pass) {
	if !resolvesAliases(p) {
		return
	}
	behind := make(map[granted]*model.Collection)
	for _, a := range p.Aliases {
		if x := p.Collection(a.Collection); x != nil && !x.Dropped() && !a.State.Dropped() {
			behind[granted{p.DatabaseName(a.Database), a.Name}] = x
			behind[granted{"*", a.Name}] = x
		}
	}
	has := make(map[model.Grant]bool, len(p.Grants))
	for _, g := range p.Grants {
		plain := *g
		plain.Grantor = ""
		has[plain] = true
	}
	lost := make(map[string][]*model.Grant) // by role
	var roles []string
	for _, g := range p.Grants {
		x := behind[granted{g.Database, g.Object}]
		if g.ObjectType != "Collection" || x == nil || grantedOtherwise(has, g, x.Name) ||
			grantedByGroup(p, g, x.Name) {
			continue
		}
		if lost[g.Role] == nil {
			roles = append(roles, g.Role)
		}
		lost[g.Role] = append(lost[g.Role], g)
	}
	for _, role := range roles {
		reportOnAlias(p, role, lost[role], behind)
	}
}

// resolvesAliases reports whether proxies look for grants on the collection behind an alias.
func resolvesAliases(p *check.Pass) bool {
	// Clusters with grants use authorization. If the setting is unknown, it counts as on.
	if s, ok := p.Cluster.Setting("common.security.authorizationEnabled", "proxy"); ok &&
		strings.EqualFold(s.Value, "false") {
		return false
	}
	first := facts.Release{Major: 2, Minor: 6}
	able := slices.ContainsFunc(p.Sessions, func(s *model.Session) bool {
		release := facts.ParseRelease(s.Version)
		return s.Role == "proxy" && (first.Before(release) || release == first && facts.ParsePatch(s.Version) >= 11)
	})
	if !able || !slices.ContainsFunc(p.Grants, func(g *model.Grant) bool { return g.ObjectType == "Collection" }) {
		return false
	}
	s, ok := p.Setting(resolveAlias, "proxy")
	return !ok || !strings.EqualFold(s.Value, "false")
}

// grantedOtherwise reports whether a role has a privilege on a collection by another grant. The grant may be on the
// collection or on all of them, in its database or in all, and for that privilege or for all.
func grantedOtherwise(has map[model.Grant]bool, g *model.Grant, collection string) bool {
	for _, database := range []string{g.Database, "*"} {
		for _, object := range []string{collection, "*"} {
			for _, privilege := range []string{g.Privilege, "All", "*"} {
				if has[model.Grant{
					Role: g.Role, ObjectType: g.ObjectType, Database: database, Object: object, Privilege: privilege,
				}] {
					return true
				}
			}
		}
	}
	return false
}

// grantedByGroup reports whether a role may have a privilege by a privilege group on the collection or on all
// collections. Privilege groups of Milvus and of users are granted as objects of type Global
// (pkg/util/constant.go, BuiltinPrivilegeGroups).
func grantedByGroup(p *check.Pass, g *model.Grant, collection string) bool {
	return slices.ContainsFunc(p.Grants, func(x *model.Grant) bool {
		if x.Role != g.Role || x.Database != g.Database && x.Database != "*" ||
			x.Object != collection && x.Object != "*" {
			return false
		}
		i := slices.IndexFunc(p.PrivilegeGroups, func(group *model.PrivilegeGroup) bool {
			return group.Name == x.Privilege
		})
		if i >= 0 {
			return slices.Contains(p.PrivilegeGroups[i].Privileges, g.Privilege)
		}
		return slices.ContainsFunc([]string{"Collection", "Database", "Cluster"}, func(scope string) bool {
			rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(x.Privilege, "Privilege"), "Group"),
				scope)
			return ok && slices.Contains([]string{"ReadOnly", "ReadWrite", "Admin"}, strings.TrimPrefix(rest, "_"))
		})
	})
}

func reportOnAlias(p *check.Pass, role string, list []*model.Grant, targets map[granted]*model.Collection) {
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "roles", ID: role, Name: role},
		Impact: "Requests that use the alias are denied to users of the role, unless another role allows them.",
	}
	var names []string
	var grants check.Hint
	for i, g := range list {
		x := targets[granted{g.Database, g.Object}]
		name := facts.CollectionLabel(p.Cluster, x.ID)
		if !slices.Contains(names, g.Object) {
			names = append(names, g.Object)
		}
		if i < facts.MaxObjects {
			f.Evidence = append(f.Evidence, check.Fact(g.Privilege+" on "+g.Object, "alias of "+name, "etcd"))
			f.Objects = append(f.Objects, model.Ref{Resource: "grants", ID: g.Path(), Name: g.Role + " " + g.Privilege})
		}
		if i < mostRevoked {
			grants += check.Python("\nrole.grant(\"Collection\", %s, %s, db_name=%s)", x.Name, g.Privilege, g.Database)
		}
	}
	f.Message = fmt.Sprintf("role %s has %s on %s %s, but proxies look for %s on the collection", role,
		words.Plural(len(list), "privilege"), words.Agree(len(names), "alias", "aliases"), words.Summarize(names),
		words.Agree(len(list), "it", "them"))
	grant := check.PymilvusIn(p.Cluster, "", "role = Role(%s)%s", role, grants).
		Does("grants the same privileges on the collections").
		Interrupting(time.Minute, "nothing")
	if len(list) > mostRevoked {
		grant = grant.Does("grants the first %d of %d on the collections", mostRevoked, len(list)).
			Interrupting(0, "nothing")
	}
	f.Fix = check.Fix(grant, check.Shell(check.Kitescope("get grants").Arg("role="+role)).
		Does("lists the privileges of the role: those on the alias can then be revoked"))
	p.Report(f)
}
