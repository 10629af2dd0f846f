package meta

import (
	"slices"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
	"kitescope/internal/words"
)

// access assembles the users, roles, grants and privilege groups. Password hashes are removed before this point.
func (s *state) access() ([]*model.User, []*model.Role, []*model.Grant, []*model.PrivilegeGroup) {
	users := make(map[string]*model.User)
	roles := make(map[string]*model.Role)
	role := func(name string) *model.Role {
		if roles[name] == nil {
			roles[name] = &model.Role{Name: name, Unrecorded: true}
		}
		return roles[name]
	}
	s.each(kindUser, func(f *fact) { users[f.names[0]] = &model.User{Name: f.names[0]} })
	s.each(kindRole, func(f *fact) { role(f.names[0]).Unrecorded = false })
	s.each(kindUserRole, func(f *fact) {
		user, r := f.names[0], role(f.names[1])
		r.Users = append(r.Users, user)
		if users[user] == nil { // a mapping that outlived its user
			users[user] = &model.User{Name: user, Unrecorded: true}
		}
		users[user].Roles = append(users[user].Roles, f.names[1])
	})
	for _, u := range users {
		slices.Sort(u.Roles)
	}
	for _, r := range roles {
		slices.Sort(r.Users)
	}
	var groups []*model.PrivilegeGroup
	s.each(kindPrivilegeGroup, func(f *fact) {
		g := &model.PrivilegeGroup{Name: f.names[0]}
		for _, p := range f.value.(*milvuspb.PrivilegeGroupInfo).GetPrivileges() {
			g.Privileges = append(g.Privileges, p.GetName())
		}
		slices.Sort(g.Privileges)
		groups = append(groups, g)
	})
	return values(users), values(roles), s.grants(), groups
}

// grants joins two layouts of RootCoord: a grantee key maps a role and an object to an id, and the id's keys hold
// the privileges and their grantors.
func (s *state) grants() []*model.Grant {
	privileges := make(map[string][]*fact)
	s.each(kindGrant, func(f *fact) { privileges[f.names[0]] = append(privileges[f.names[0]], f) })
	var list []*model.Grant
	s.each(kindGrantee, func(f *fact) {
		of := decodeGrantee(f)
		for _, p := range privileges[f.value.(string)] {
			grant := of
			grant.Privilege, grant.Grantor = privilege(p), p.value.(string)
			list = append(list, &grant)
		}
	})
	return list
}

// decodeGrantee decodes the role and the object of a grantee key.
func decodeGrantee(f *fact) model.Grant {
	database, object, ok := strings.Cut(f.names[2], ".")
	if !ok { // before 2.2.9
		database, object = "default", f.names[2]
	}
	return model.Grant{Role: f.names[0], ObjectType: f.names[1], Database: database, Object: object}
}

func privilege(f *fact) string { return strings.TrimPrefix(f.names[1], "Privilege") }

// maxSetting limits the length of a setting's value, in bytes.
const maxSetting = 16 << 10

func (s *state) config() []*model.ConfigEntry {
	var list []*model.ConfigEntry
	s.each(kindConfig, func(f *fact) {
		safe := redact.Setting
		if s.want.UnknownSettings {
			safe = redact.Pair
		}
		value := words.Truncate(safe(f.names[0], f.value.(string)), maxSetting)
		// A bundle redacted its values when it was written, so the text is the only mark left.
		list = append(list, &model.ConfigEntry{
			Name: redact.Text(f.names[0]), Value: value, Redacted: strings.Contains(value, redact.Redacted),
			ModRevision: f.mod,
		})
	})
	return list
}
