package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestGrantOnAlias(t *testing.T) {
	at := func(version string, more ...model.Grant) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: rulestest.CollID}}
			w.Grants = []*model.Grant{
				{
					Role: "reader", ObjectType: "Collection", Database: "default", Object: "prod", Privilege: "Search",
					Grantor: "root",
				},
			}
			for i := range more {
				w.Grants = append(w.Grants, &more[i])
			}
			for _, s := range w.Sessions {
				if s.Role == "proxy" {
					s.Version = version
				}
			}
		}
	}
	on := func(object, privilege string) model.Grant {
		return model.Grant{
			Role: "reader", ObjectType: "Collection", Database: "default", Object: object, Privilege: privilege,
			Grantor: "ann",
		}
	}
	set := func(value string, next func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) {
			next(w)
			w.Config = append(w.Config, &model.ConfigEntry{Name: "proxy/resolveAliasForPrivilege", Value: value})
		}
	}
	found := []string{
		"warning roles/reader role reader has 1 privilege on alias prod, but proxies look for it on the collection",
	}
	rulestest.RunCases(t, rulestest.ByID("grant-on-alias"), []rulestest.Case{
		{Name: "2.6.22", Change: set("true", at("2.6.22")), Want: found},
		{Name: "3.0.1", Change: set("true", at("3.0.1")), Want: found},
		{Name: "2.6.11", Change: set("true", at("2.6.11")), Want: found},
		{Name: "2.6.10", Change: at("2.6.10")},
		{Name: "2.6 of an unknown patch", Change: at("2.6")},
		{Name: "2.5.16", Change: at("2.5.16")},
		{Name: "turned off", Change: set("false", at("2.6.22"))},
		{Name: "on the collection too", Change: set("true", at("2.6.22", on("docs", "Search")))},
		{Name: "another on the collection", Change: set("true", at("2.6.22", on("docs", "Query"))), Want: found},
		{Name: "on all", Change: set("true", at("2.6.22", on("*", "All")))},
		{
			Name: "of another role",
			Change: set("true",
				at("2.6.22", model.Grant{
					Role: "x", ObjectType: "Collection", Database: "default", Object: "docs", Privilege: "Search",
				})),
			Want: found,
		},
		{
			Name:   "an alias of nothing",
			Change: set("true", func(w *rulestest.World) { at("2.6.22")(w); w.Aliases[0].Collection = 900 }),
		},
	})
}
