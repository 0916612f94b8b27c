package databaseuser

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
)

// ensureBinding maintains the binding Secret and its password, which is stored nowhere else. An account has two users:
// the Secret names the one in use, and the other one gets the next password, so a crash loses nothing.
func (r *reconciliation) ensureBinding(ctx context.Context) (string, error) {
	a := r.account()
	if a.IAM {
		login := a.Logins()[0]
		r.obj.Status.Username = login
		return "sign in as " + login + " with a token of AWS", r.publish(ctx, login, "")
	}
	published, err := r.Secrets.Published(ctx, kind, r.obj)
	if err != nil {
		return "", err
	}
	login, password := published["username"], server.Password(published["password"])
	valid := slices.Contains(a.Logins(), login) && password.Made()
	if s := &r.obj.Status; valid && s.NextUsername == login { // published before, but not recorded
		r.noteRotation(login)
	}
	if next, why := r.nextLogin(a, login, valid); next != "" {
		return r.rotate(ctx, a, next, why)
	}
	if err := r.keep(ctx, a, login, password); err != nil {
		return "", err
	}
	return "sign in as " + login, r.rotationWait()
}

// nextLogin returns the user that must get a new password, and why; empty if none.
func (r *reconciliation) nextLogin(a server.Account, login string, valid bool) (next, why string) {
	s := &r.obj.Status
	switch {
	case s.NextUsername != "":
		return s.NextUsername, "it was decided on before"
	case !valid && s.Username == "":
		return a.Logins()[0], "the first one"
	case !valid:
		return a.Other(s.Username), "the Secret has none any more"
	case r.requested() && r.rotationWait() == nil:
		return a.Other(login), "the annotation " + v1alpha1.AnnotationRotatePassword + " asks for it"
	case r.due():
		return a.Other(login), fmt.Sprintf("it was %d days old", *r.obj.Spec.PasswordRotationDays)
	}
	return "", ""
}

// requested reports whether a new password is requested and not created yet.
func (r *reconciliation) requested() bool {
	asked := r.obj.Annotations[v1alpha1.AnnotationRotatePassword]
	return asked != "" && asked != r.obj.Status.PasswordRotation
}

// due reports whether the password has reached its maximum age.
func (r *reconciliation) due() bool {
	days, made := r.obj.Spec.PasswordRotationDays, r.obj.Status.PasswordTime
	return days != nil && made != nil && !r.Now().Before(made.AddDate(0, 0, int(*days)))
}

// rotationWait returns why a requested password is not created yet; nil if it is, or if none is requested.
func (r *reconciliation) rotationWait() error {
	s := &r.obj.Status
	if !r.requested() || s.PreviousValidUntil == nil || s.PasswordTime == nil {
		return nil
	}
	rest := s.PasswordTime.Add(r.Scaled(rotationPause)).Sub(r.Now())
	if rest <= 0 {
		return nil
	}
	return engine.Wait(v1alpha1.ReasonRotationWaits, rest, "the next password is created %s after the last one: it "+
		"takes the place of the one before, with which applications may still sign in", rotationPause)
}

// rotate gives the user that is not in use a new password and publishes it. The previous password stays valid for a
// while, and connections are kept.
func (r *reconciliation) rotate(ctx context.Context, a server.Account, login, why string) (string, error) {
	s := &r.obj.Status
	if s.NextUsername == "" {
		s.NextUsername = login
		s.PasswordRotation = r.obj.Annotations[v1alpha1.AnnotationRotatePassword]
		if err := r.pass.SaveStatus(ctx); err != nil {
			return "", err
		}
	}
	password, err := server.NewPassword()
	if err != nil {
		return "", err
	}
	if err := r.setPassword(ctx, a, login, password); err != nil {
		return "", err
	}
	if err := r.publish(ctx, login, password); err != nil {
		return "", err
	}
	first := r.obj.Status.Username == ""
	r.noteRotation(login)
	if !first {
		r.pass.Normal(v1alpha1.ReasonPasswordChanged, "RotatePassword", "a new password, and the user %s, because "+
			"%s; the one before is in force for %s", login, why, previousValid)
	}
	return "sign in as " + login, nil
}

// setPassword sets a user's password and tests it: a password that does not work is never published.
func (r *reconciliation) setPassword(ctx context.Context, a server.Account, login string,
	password server.Password,
) error {
	if err := r.server.SetPassword(ctx, a, login, password); err != nil {
		return err
	}
	err := r.Dialer.SignIn(ctx, r.as(login, password))
	if errors.Is(err, server.ErrSignIn) {
		return engine.Wait(v1alpha1.ReasonDatabaseRefused, engine.WatchFallback,
			"the database does not let %s in with the "+
				"password that it was given; does it have a rule that allows the user to sign in from there?", login)
	}
	return err
}

// as returns the database as a target with these credentials.
func (r *reconciliation) as(login string, password server.Password) server.Target {
	t := r.target
	t.Username, t.Password = login, password
	return t
}

// noteRotation records in the status which user is in use from now on.
func (r *reconciliation) noteRotation(login string) {
	s, now := &r.obj.Status, r.Now()
	if s.Username != "" && s.Username != login {
		s.PreviousValidUntil = &metav1.Time{Time: now.Add(r.Scaled(previousValid))}
	}
	s.Username, s.NextUsername, s.PasswordTime = login, "", &metav1.Time{Time: now}
}

// keep checks that the published password works, and sets it again if not: a restored database has another one, and
// people may have changed it. It ends the previous password when that is no longer valid.
func (r *reconciliation) keep(ctx context.Context, a server.Account, login string, password server.Password) error {
	err := r.Dialer.SignIn(ctx, r.as(login, password))
	if errors.Is(err, server.ErrSignIn) {
		if err = r.setPassword(ctx, a, login, password); err == nil {
			r.pass.Repaired(v1alpha1.ReasonRepaired, "SetPassword", "the database did not know the password of %s "+
				"any more; it is in force again", login)
		}
	}
	if err != nil {
		return err
	}
	s := &r.obj.Status
	s.Username = login
	if s.PasswordTime == nil { // the object was restored without its status
		s.PasswordTime = &metav1.Time{Time: r.Now()}
	}
	if err := r.endPrevious(ctx, a, a.Other(login)); err != nil {
		return err
	}
	return r.publish(ctx, login, password)
}

// endPrevious makes sure that nobody can sign in as the unused user, except while its password is still valid. A lost
// status, a restored database or an earlier object may have left it open.
func (r *reconciliation) endPrevious(ctx context.Context, a server.Account, login string) error {
	s := &r.obj.Status
	if until := s.PreviousValidUntil; until != nil && r.Now().Before(until.Time) {
		return nil
	}
	open, err := r.server.CanSignIn(ctx, a, login)
	if err != nil {
		return err
	}
	if open {
		if err := r.server.EndPassword(ctx, a, login); err != nil {
			return err
		}
		r.pass.Normal(v1alpha1.ReasonPasswordEnded, "EndPassword", "the password of %s has ended; who is connected "+
			"stays so", login)
	}
	s.PreviousValidUntil = nil
	return nil
}

// publish writes the binding Secret: the connection details of the database, with the account's user and password.
func (r *reconciliation) publish(ctx context.Context, login string, password server.Password) error {
	details, db := maps.Clone(r.details), r.database
	delete(details, "secret-arn")
	details["host"], details["port"], details["username"], details["password"] = db.Status.Endpoint,
		strconv.Itoa(int(db.Status.Port)), login, string(password)
	user := url.UserPassword(login, string(password))
	if password == "" {
		user = url.User(login)
	}
	scheme, _, _ := strings.Cut(details["uri"], "://")
	uri := url.URL{Scheme: scheme, User: user, Host: net.JoinHostPort(details["host"], details["port"]), Path: "/" +
		r.target.Database}
	details["uri"] = uri.String()
	binding, err := r.Secrets.Publish(ctx, kind, r.obj, details)
	if err != nil {
		return err
	}
	r.obj.Status.Binding = binding
	return nil
}

// mostTold is the maximum number of changes in an event.
const mostTold = 3

// summary joins the first changes, and counts the rest.
func summary(done []string) string {
	text := strings.Join(done[:min(mostTold, len(done))], "; ")
	if more := len(done) - mostTold; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
