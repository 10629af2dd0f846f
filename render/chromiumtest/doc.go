// Package chromiumtest opens pages in a headless Chromium, to test them in a browser.
package chromiumtest
