// Package redacttest generates made-up secrets in the formats that people and programs use.
package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// Plant is a text that contains a secret.
type Plant struct {
	Kind, Text string
	Secret     string // the part of the text that must not be shown
}

// alphabets holds the alphabets that the patterns of formed refer to.
var alphabets = map[byte]string{
	'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	'd': "0123456789",
	'n': "123456789",
	'h': "0123456789abcdef",
	'l': "0123456789abcdefghijklmnopqrstuvwxyz",
	'u': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	'm': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	'r': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
	'b': "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}

// namedKinds holds the kinds of secrets that are recognized by the name before them, and secrets in addresses. Each has
// the format of its text.
var namedKinds = [][2]string{
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

// formattedKinds holds the kinds of secrets that are recognized by their format: the kind, the format of the text, and
// a pattern of the secret, in which {m36} is replaced by 36 letters of alphabet m.
var formattedKinds = [][3]string{
	{"pem", "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n", "{m64}\n{m64}"},
	{"pem, cut off", "-----BEGIN OPENSSH PRIVATE KEY-----\n%s", "{m64}"},
	{"pem in a line", `-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----`, "{m64}"},
	{"jwt", "see %s here", "eyJ{m30}.eyJ{m40}.{m43}"},
	{"github", "with ghp_%s", "{m36}"},
	{"github, fine", "with github_pat_%s", "{m22}_{m59}"},
	{"gitlab", "with glpat-%s", "{r20}"},
	{"slack", "with xoxb-%s", "{d12}-{d12}-{m24}"},
	{"slack webhook", "https://hooks.slack.com/services/%s", "T{u8}/B{u8}/{m24}"},
	{"discord webhook", "https://discord.com/api/webhooks/%s", "{d18}/{m68}"},
	{"aws", "AKIA%s", "{a16}"},
	{"aws pair", "AKIAIOSFODNN7EXAMPLE:%s", "{m40}"},
	{"google", "with AIza%s", "{r35}"},
	{"stripe", "with sk_live_%s", "{m24}"},
	{"openai", "with sk-proj-%s", "{m48}"},
	{"hugging face", "with hf_%s", "{m34}"},
	{"npm", "with npm_%s", "{l36}"},
	{"pypi", "with pypi-AgEIcHlwaS5vcmc%s", "{r70}"},
	{"sendgrid", "with SG.%s", "{r22}.{r43}"},
	{"vault", "with hvs.%s", "{r90}"},
	{"telegram", "bot %s", "{n9}:AA{r33}"},
	{"digitalocean", "with dop_v1_%s", "{h64}"},
	{"databricks", "with dapi%s", "{h32}"},
	{"age", "AGE-SECRET-KEY-1%s", "{b58}"},
	{"stripe webhook", "with whsec_%s", "{m32}"},
	{"google oauth", "with GOCSPX-%s", "{r28}"},
	{"groq", "with gsk_%s", "{m52}"},
	{"nvidia", "with nvapi-%s", "{r64}"},
	{"pinecone", "with pcsk_%s", "{m6}_{m63}"},
	{"replicate", "with r8_%s", "{m37}"},
	{"docker", "with dckr_pat_%s", "{m27}"},
	{"figma", "with figd_%s", "{r40}"},
	{"notion", "with ntn_%s", "{d11}{m35}"},
	{"supabase", "with sbp_%s", "{h40}"},
	{"mailgun", "with key-%s", "{h32}"},
	{"terraform", "with %s", "{m14}.atlasv1.{m67}"},
	{"bcrypt", "hash %s", "$2a$10${m53}"},
}

// placeholder matches a placeholder for letters of an alphabet, e.g. {m36}.
var placeholder = regexp.MustCompile(`\{[a-z]\d+\}`)

// Plants returns a text for each kind of secret. Different seeds generate different secrets.
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
	word := func() string { return "Hush" + text(alphabets['m'], 14) }
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

	for _, x := range namedKinds {
		add(x[0], x[1], word())
	}
	add("basic", "sent Basic %s", encoded("user:"+word()))
	add("bearer", "sent bearer %s", word())
	for _, x := range formattedKinds {
		add(x[0], x[1], placeholder.ReplaceAllStringFunc(x[2], func(r string) string {
			n, _ := strconv.Atoi(r[2 : len(r)-1])
			return text(alphabets[r[1]], n)
		}))
	}
	return plants
}
