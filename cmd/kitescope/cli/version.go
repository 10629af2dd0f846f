package cli

// Version is the version of kitescope. It equals the newest section of CHANGELOG.md.
const Version = "0.13.0"
