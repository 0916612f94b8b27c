//go:build integration && idp

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/chromium"
)

// These are the selectors of Dex's and Keycloak's sign-in pages.
const (
	loginField    = "#login, #username"
	passwordField = "#password"
	loginButton   = "#submit-login, #kc-login"
)

// tab is a tab of Chromium with its own cookies.
type tab struct {
	site *site
	ctx  context.Context
}

func (s *site) tab(browser context.Context) *tab {
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	s.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // a tab ends with the context that opened it
		s.t.Fatal(err)
	}
	return &tab{site: s, ctx: ctx}
}

func (x *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	x.site.t.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		x.site.t.Fatalf("%v: %s", err, x.shows())
	}
}

func (x *tab) click(selector string) {
	x.site.t.Helper()
	x.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// shows returns the address and the text of the page, or the error if there is no page, as between two pages.
func (x *tab) shows() string {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// arrives waits for a page whose address begins with address and whose text contains words.
func (x *tab) arrives(address, words string) {
	x.site.t.Helper()
	await(x.site.t, fmt.Sprintf("%q at %s", words, address), func() (bool, string) {
		said := x.shows()
		return strings.HasPrefix(said, address) && strings.Contains(said, words), said
	})
}

// signIn signs a sample user in, through the forms, from a page of the portal.
func (x *tab) signIn(user, path string) {
	x.site.t.Helper()
	x.do(chromedp.Navigate(x.site.url + path))
	x.click("main a.btn.first")
	name := user
	if !x.site.idp.comesBack() { // Dex's sample users sign in by e-mail address
		name += "@portico.test"
	}
	x.do(chromedp.WaitVisible(chromedp.CSS(loginField)), chromedp.SendKeys(chromedp.CSS(loginField), name),
		chromedp.SendKeys(chromedp.CSS(passwordField), stack.Password))
	x.click(loginButton)
	x.arrives(x.site.url+path, titleOf(user))
}

// titleOf returns a sample user's title, which pages show.
func titleOf(user string) string {
	return stack.Users[slices.IndexFunc(stack.Users, func(u stack.User) bool { return u.Name == user })].Title
}

// browses signs in, stays signed in and signs out as people do, with two users in two browsers.
func (s *site) browses() {
	browser, stop, err := chromium.Start(chromium.Shell)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(stop)
	one, other := s.tab(browser), s.tab(browser)
	one.signIn("payments-dev", "/teams/payments")
	other.signIn("search-dev", "/teams/search")
	s.later() // the portal asks the provider again
	one.do(chromedp.Navigate(s.url + "/teams/payments?q=later"))
	one.arrives(s.url+"/teams/payments?q=later", titleOf("payments-dev"))

	one.click(`form[action="/auth/logout"] button`)
	one.arrives(s.url+"/auth/signed-out", "Sign out there too")
	one.click(`a[href^="` + s.idp.issuer() + `"]`)
	if s.idp.comesBack() { // the provider knows that the session has ended, and does not ask
		one.arrives(s.url+"/auth/sign-in", "Sign in")
	} else {
		one.click("form button[type=submit]")
		one.arrives(s.idp.issuer(), "Logged Out")
	}
	one.do(chromedp.Navigate(s.url + "/auth/login"))
	one.arrives(s.idp.issuer(), "assword") // it no longer knows the user
	other.do(chromedp.Navigate(s.url + "/teams/search"))
	other.arrives(s.url+"/teams/search", titleOf("search-dev"))
}
