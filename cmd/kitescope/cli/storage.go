package cli

import (
	"kitescope/engine/object"
)

// StorageKeys are credentials of a bucket, which only the environment has.
func (a *App) StorageKeys() object.Keys {
	if access := a.Getenv("KITESCOPE_STORAGE_ACCESS_KEY"); access != "" {
		return object.Keys{
			Access: access, Secret: object.Secret(a.Getenv("KITESCOPE_STORAGE_SECRET_KEY")),
			Session: object.Secret(a.Getenv("KITESCOPE_STORAGE_SESSION_TOKEN")),
		}
	}
	return object.Keys{
		Access: a.Getenv("AWS_ACCESS_KEY_ID"), Secret: object.Secret(a.Getenv("AWS_SECRET_ACCESS_KEY")),
		Session: object.Secret(a.Getenv("AWS_SESSION_TOKEN")),
	}
}
