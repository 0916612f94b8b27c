package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

// load reads the kinds of the portal, once in a run. What was stored by an earlier run is used as long as the portal
// says that it holds.
func (a *app) load(ctx context.Context) error {
	if a.kinds != nil {
		return nil
	}
	api, stored, err := a.kindStore()
	if err != nil {
		return err
	}
	var known client.Definitions
	ask := client.ListKindsOptions{}
	if stored.read("all", &known) == nil && known.Revision != "" {
		ask.IfNoneMatch = `"` + known.Revision + `"`
	}
	all, err := api.ListKinds(ctx, ask)
	if client.StatusOf(err) == http.StatusNotModified {
		if a.publish(known.Items) == nil {
			return nil
		}
		all, err = api.ListKinds(ctx, client.ListKindsOptions{}) // what was stored is of no use
	}
	switch {
	case err == nil:
		known = *all
		stored.write("all", known)
	case client.StatusOf(err) == http.StatusNotFound:
		return fmt.Errorf("%s is older than this portico and does not say which kinds it has: use the portico of its "+
			"version", stored.server)
	default:
		return err
	}
	return a.publish(known.Items)
}

// publish fills the kinds.
func (a *app) publish(all []client.KindDefinition) error {
	kinds, err := kindsOf(all)
	if err == nil {
		a.kinds, a.published = kinds, all
	}
	return err
}

// offline fills the kinds with those that an earlier run has stored, for completions without a portal.
func (a *app) offline() {
	if _, stored, err := a.kindStore(); err == nil {
		var known client.Definitions
		if stored.read("all", &known) == nil {
			_ = a.publish(known.Items) // then there are none
		}
	}
}

// whole returns the kind with its fields, which the list of kinds leaves out.
func (a *app) whole(ctx context.Context, k catalog.Kind) (catalog.Kind, error) {
	api, stored, err := a.kindStore()
	if err != nil {
		return k, err
	}
	i := slices.IndexFunc(a.published, func(p client.KindDefinition) bool { return p.Resource == k.Plural })
	switch {
	case i < 0:
		return k, fmt.Errorf("%s says nothing of the kind %s", stored.server, k.Plural)
	case a.filled[k.Plural]:
		return k, nil
	}
	use := func(one client.KindDefinition) error {
		all := slices.Clone(a.published)
		all[i] = one
		return a.publish(all)
	}
	var one client.KindDefinition
	if stored.read(k.Plural, &one) != nil || one.Revision != a.published[i].Revision || use(one) != nil {
		got, err := api.GetKind(ctx, k.Plural)
		if err == nil {
			err = use(*got)
		}
		if err != nil {
			return k, err
		}
		stored.write(k.Plural, *got)
	}
	if a.filled == nil {
		a.filled = map[string]bool{}
	}
	a.filled[k.Plural] = true
	made, _ := a.kinds.ByPlural(k.Plural)
	return made, nil
}

// kindsOf returns the catalog of what the portal publishes.
func kindsOf(published []client.KindDefinition) (catalog.Catalog, error) {
	crds := make([]apiext.CustomResourceDefinition, len(published))
	entries := make([]v1alpha1.CatalogEntry, len(published))
	for i, one := range published {
		read := runtime.DefaultUnstructuredConverter.FromUnstructured
		if err := errors.Join(read(one.Definition, &crds[i]), read(one.Entry, &entries[i])); err != nil {
			return nil, fmt.Errorf("reading the kind %s: %w", one.Resource, err)
		}
	}
	return catalog.New(crds, entries)
}

// kindStore keeps what a portal publishes in files, so that it is sent only once. Without a folder it keeps nothing:
// the working directory may be anybody's.
type kindStore struct{ server, dir string }

// portable replaces what the name of a file cannot have on Windows.
var portable = strings.NewReplacer(":", "_", "*", "_")

func (a *app) kindStore() (*client.Client, kindStore, error) {
	server, err := a.address()
	if err != nil {
		return nil, kindStore{}, err
	}
	api, err := a.api()
	stored := kindStore{server: server}
	if a.dir != "" {
		stored.dir = filepath.Join(a.dir, "kinds", portable.Replace(url.PathEscape(server)))
	}
	return api, stored, err
}

func (s kindStore) path(name string) string {
	return filepath.Join(s.dir, portable.Replace(url.PathEscape(name))+".json")
}

func (s kindStore) read(name string, into any) error {
	if s.dir == "" {
		return os.ErrNotExist
	}
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// write stores v. Failures do no harm: the next run asks again.
func (s kindStore) write(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil || s.dir == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(b)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.path(name))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
}
