// Package redacttest has made-up secrets in the forms that people and programs write them.
package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
)

// Plant is a text with a secret in it.
type Plant struct {
	Kind, Text string
	Secret     string // the part of the text that must not be shown
}

const (
	digits = "0123456789"
	hex    = digits + "abcdef"
	lower  = digits + "abcdefghijklmnopqrstuvwxyz"
	upper  = digits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mixed  = upper + "abcdefghijklmnopqrstuvwxyz"
	url    = mixed + "_-"
)

// named are kinds of secrets that a name before them gives away, and those of addresses, with the format of their text.
var named = [][2]string{
	{"yaml", "password: %s"},
	{"yaml, quoted", `password: "%s"`},
	{"yaml, block", "password: |\n  %s"},
	{"yaml, next line", "minio:\n  secretAccessKey:\n    %s"},
	{"properties", "db.password=%s"},
	{"ini", "secret_key = %s"},
	{"toml", `api_token = "%s"`},
	{"json", `{"user":"a","password":"%s"}`},
	{"json in json", `{"spec":"{\"password\":\"%s\"}"}`},
	{"json, cut off", `{"user":"a","password":"%s`},
	{"xml", "<password>%s</password>"},
	{"shell", "export MINIO_SECRET_KEY=%s"},
	{"flag", "run --password %s --port 1"},
	{"flag with =", "run --api-key=%s --port 1"},
	{"php", `'password' => '%s'`},
	{"libpq", "host=h user=u password=%s dbname=d"},
	{"odbc", "Driver={SQL};Server=h;Uid=u;Pwd={%s};"},
	{"quoted credential", "credential='%s a b'"},
	{"jaas", `PlainLoginModule required username="u" password="%s";`},
	{"bearer header", "Authorization: Bearer %s"},
	{"token header", "X-Vault-Token: %s"},
	{"api key header", "X-Api-Key: %s"},
	{"cookie", "cookie: theme=dark; session=%s"},
	{"set-cookie", "Set-Cookie: sid=%s; HttpOnly"},
	{"session id", "GET /x;jsessionid=%s"},
	{"passphrase", "passphrase: %s"},
	{"passcode", "passcode=%s"},
	{"psk", "psk=%s"},
	{"wireguard", "PresharedKey = %s="},
	{"license", "license: %s"},
	{"encryption key", "encryption.key: %s"},
	{"private key by name", "the private key: %s"},
	{"npmrc", "//registry.example.com/:_authToken=%s"},
	{"docker config", `{"auths":{"h":{"auth":"%s"}}}`},
	{"kubeconfig", "client-key-data: %s"},
	{"azure storage", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s==;EndpointSuffix=core"},
	{"azure signature", "https://a.blob.core.windows.net/c/f?sv=1&sig=%s%%3D&se=2"},
	{"presigned url", "https://b.s3.amazonaws.com/k?X-Amz-Signature=%s&X-Amz-Date=1"},
	{"otpauth", "otpauth://totp/a?secret=%s&issuer=b"},
	{"api key in a query", "https://h/maps?key=%s&q=1"},
	{"sql", "CREATE USER 'a' IDENTIFIED BY '%s'"},
	{"netrc", "machine h login u password %s"},
	{"curl", "curl -u admin:%s http://h"},
	{"aws signature", "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=host, Signature=%s"},
	{"ldap", "ldap://h/dc=x????bindname=cn=a,X-BINDPW=%s"},
	{"xml attribute", `<add key="ApiSecret" value="%s"/>`},
	{"yaml list", "passwords:\n  - a\n  - %s"},
	{"yaml list, flat", "passwords:\n- %s"},
	{"sentence", "the password is %s0"},
	{"mysql", "mysql -uroot -p%s"},
	{"snmp", "rocommunity %s"},
	{"pgpass", "db.example.com:5432:mydb:admin:%s"},
	// In addresses.
	{"jdbc", "jdbc:oracle:thin:scott/%s@//h:1521/x"},
	{"url", "http://user:%s@host:9000/a"},
	{"url without a name", "redis://:%s@host:6379/0"},
	{"url of several hosts", "mongodb://u:%s@h1:27017,h2:27017/db"},
	{"url with a slash in it", "s3://a:x/%s@bucket/p"},
	{"url with a token", "https://%s@github.com/a/b"},
	{"go mysql dsn", "root:%s@tcp(1.2.3.4:3306)/db"},
	{"brokers", "u:%s@h1:9092,h2:9092"},
}

// Plants returns a text for each kind of secret. The secrets are new ones in each call with another seed.
func Plants(seed uint64) []Plant {
	random := rand.New(rand.NewPCG(seed, 22))
	text := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(b)
	}
	var plants []Plant
	add := func(kind, format, secret string) {
		plants = append(plants, Plant{kind, fmt.Sprintf(format, secret), secret})
	}
	word := func() string { return "Hush" + text(mixed, 14) }
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

	for _, x := range named {
		add(x[0], x[1], word())
	}
	// By their form.
	key := "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n"
	add("pem", key, text(mixed, 64)+"\n"+text(mixed, 64))
	add("pem, cut off", "-----BEGIN OPENSSH PRIVATE KEY-----\n%s", text(mixed, 64))
	add("pem in a line", `-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----`, text(mixed, 64))
	add("jwt", "see %s here", "eyJ"+text(mixed, 30)+".eyJ"+text(mixed, 40)+"."+text(mixed, 43))
	add("basic", "sent Basic %s", encoded("user:"+word()))
	add("bearer", "sent bearer %s", word())
	add("github", "with ghp_%s", text(mixed, 36))
	add("github, fine", "with github_pat_%s", text(mixed, 22)+"_"+text(mixed, 59))
	add("gitlab", "with glpat-%s", text(url, 20))
	add("slack", "with xoxb-%s", text(digits, 12)+"-"+text(digits, 12)+"-"+text(mixed, 24))
	add("slack webhook", "https://hooks.slack.com/services/%s", "T"+text(upper, 8)+"/B"+text(upper, 8)+"/"+text(mixed, 24))
	add("discord webhook", "https://discord.com/api/webhooks/%s", text(digits, 18)+"/"+text(mixed, 68))
	add("aws", "AKIA%s", text(upper, 16))
	add("aws pair", "AKIAIOSFODNN7EXAMPLE:%s", text(mixed, 40))
	add("google", "with AIza%s", text(url, 35))
	add("stripe", "with sk_live_%s", text(mixed, 24))
	add("openai", "with sk-proj-%s", text(mixed, 48))
	add("hugging face", "with hf_%s", text(mixed, 34))
	add("npm", "with npm_%s", text(lower, 36))
	add("pypi", "with pypi-AgEIcHlwaS5vcmc%s", text(url, 70))
	add("sendgrid", "with SG.%s", text(url, 22)+"."+text(url, 43))
	add("vault", "with hvs.%s", text(url, 90))
	add("telegram", "bot %s", text("123456789", 9)+":AA"+text(url, 33))
	add("digitalocean", "with dop_v1_%s", text(hex, 64))
	add("databricks", "with dapi%s", text(hex, 32))
	add("age", "AGE-SECRET-KEY-1%s", text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))
	add("stripe webhook", "with whsec_%s", text(mixed, 32))
	add("google oauth", "with GOCSPX-%s", text(url, 28))
	add("groq", "with gsk_%s", text(mixed, 52))
	add("nvidia", "with nvapi-%s", text(url, 64))
	add("pinecone", "with pcsk_%s", text(mixed, 6)+"_"+text(mixed, 63))
	add("replicate", "with r8_%s", text(mixed, 37))
	add("docker", "with dckr_pat_%s", text(mixed, 27))
	add("figma", "with figd_%s", text(url, 40))
	add("notion", "with ntn_%s", text(digits, 11)+text(mixed, 35))
	add("supabase", "with sbp_%s", text(hex, 40))
	add("mailgun", "with key-%s", text(hex, 32))
	add("terraform", "with %s", text(mixed, 14)+".atlasv1."+text(mixed, 67))
	add("bcrypt", "hash %s", "$2a$10$"+text(mixed, 53))
	return plants
}
