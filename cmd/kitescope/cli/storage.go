package cli

import (
	"kitescope/engine/object"
)

// StorageKeys returns the credentials of a bucket, which are only read from the environment.
func (s *Streams) StorageKeys() object.Keys {
	if access := s.Getenv("KITESCOPE_STORAGE_ACCESS_KEY"); access != "" {
		return object.Keys{
			Access: access, Secret: object.Secret(s.Getenv("KITESCOPE_STORAGE_SECRET_KEY")),
			Session: object.Secret(s.Getenv("KITESCOPE_STORAGE_SESSION_TOKEN")),
		}
	}
	return object.Keys{
		Access: s.Getenv("AWS_ACCESS_KEY_ID"), Secret: object.Secret(s.Getenv("AWS_SECRET_ACCESS_KEY")),
		Session: object.Secret(s.Getenv("AWS_SESSION_TOKEN")),
	}
}
