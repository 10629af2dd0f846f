// Package chromiumtest opens pages in a headless Chromium, for tests of what a browser makes of them.
package chromiumtest
