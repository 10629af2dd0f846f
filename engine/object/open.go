package object

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// Open opens a store. place is a folder, a tar archive, compressed or not, or
//
//	s3://BUCKET/PREFIX?endpoint=HOST:PORT&tls=false&region=REGION
//
// Everything except the bucket is optional: the default endpoint is that of AWS, and https is used unless
// tls=false. Keys are used for buckets only, and are never part of a place.
func Open(ctx context.Context, place string, keys Keys) (Store, error) {
	if strings.HasPrefix(place, "s3://") {
		c, err := ParseS3(place)
		if err != nil {
			return nil, err
		}
		c.Keys = keys
		return OpenS3(ctx, c)
	}
	info, err := os.Stat(place)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return OpenFolder(place)
	}
	return OpenTar(ctx, place)
}

// ParseS3 parses an s3:// URL of the form that Open accepts. Errors do not repeat the user part of the URL.
func ParseS3(place string) (S3, error) {
	u, err := url.Parse(place)
	if err != nil {
		return S3{}, errors.New("not a valid URL: expected s3://BUCKET/PREFIX?endpoint=HOST:PORT")
	}
	if u.User != nil {
		return S3{}, fmt.Errorf("s3://%s%s: credentials do not belong in the URL", u.Host, u.Path)
	}
	if u.Scheme != "s3" || u.Host == "" || u.Fragment != "" {
		return S3{}, fmt.Errorf("s3://%s%s: expected s3://BUCKET/PREFIX?endpoint=HOST:PORT", u.Host, u.Path)
	}
	c := S3{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	for key, values := range u.Query() {
		value := values[len(values)-1]
		switch key {
		case "endpoint":
			c.Endpoint = value
		case "region":
			c.Region = value
		case "tls":
			if value != "true" && value != "false" {
				return S3{}, fmt.Errorf("s3://%s%s: tls=%s: expected true or false", u.Host, u.Path, value)
			}
			c.Insecure = value == "false"
		default:
			return S3{},
				fmt.Errorf("s3://%s%s: unknown parameter %s: expected endpoint, region or tls", u.Host, u.Path, key)
		}
	}
	return c, nil
}
